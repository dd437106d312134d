"""From a blueprint to the plan of a deployment: what the ancestor's tools call, over our reader."""

from dsl_parser import parser


def parse_dsl(dsl_location, resources_base_path, resolver=None, validate_version=True, additional_resources=()):
    """The plan of a file."""
    return parser.parse_from_path(dsl_location, resources_base_path, additional_resources, resolver, validate_version)


def prepare_deployment_plan(plan, get_secret_method=None, inputs=None, runtime_only_evaluation=False,
                            auto_correct_types=False, values_getter=None, existing_ni_ids=None):
    """A plan that was parsed, with inputs, evaluated as far as it is known, with ``node_instances``."""
    from phaseline.compat.cloudify.dsl_parser_bridge import deployment_plan
    return deployment_plan(
        plan, inputs or {}, runtime_only=runtime_only_evaluation, auto_correct=auto_correct_types,
        get_secret=get_secret_method)
