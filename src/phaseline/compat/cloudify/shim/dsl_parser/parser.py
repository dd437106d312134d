"""Reads blueprints: what the ancestor's tools call, over our reader.

Mistakes are raised as the class that the ancestor has for the first of them; ``problems`` of the exception are all of them.
"""


def parse_from_path(dsl_file_path, resources_base_path=None, additional_resource_sources=(), resolver=None,
                    validate_version=True):
    """The plan of a file."""
    from phaseline.compat.cloudify.dsl_parser_bridge import read_plan
    return read_plan(dsl_file_path, validate_version=validate_version)


def parse(dsl_string, resources_base_path=None, dsl_location=None, resolver=None, validate_version=True,
          additional_resource_sources=()):
    """The plan of a text, which lies at ``dsl_location`` or in ``resources_base_path``."""
    from phaseline.compat.cloudify.dsl_parser_bridge import lying_in, read_plan
    return read_plan(lying_in(resources_base_path, dsl_location), dsl_string, validate_version=validate_version)
