"""``phaseline blueprints explain|diff|schema``: tools for those who write blueprints."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option, open_types_option, plugins_option

DIFFERENT = 3
"""Exit code of two blueprints that say different things; 1 is for one that cannot be read."""


@click.command(epilog="Example: phaseline blueprints diff old/blueprint.yaml blueprint.yaml")
@click.argument("old")
@click.argument("new")
@plugins_option
@open_types_option
@json_option
@click.pass_obj
def diff(desk: Desk, old: str, new: str, plugin_folders: tuple[str, ...], open_types: bool) -> None:
    """Show what a blueprint says differently than another one: nodes, properties, operations, types, inputs, outputs.

    Both are merged with all they import and inherit, so that order, comments and anchors make no difference. What was
    probably renamed is hinted. Exit code 0: they say the same; 3: they differ; 1: one of them is wrong.
    """
    from phaseline.cli.render.authoring.diff import differences_text
    from phaseline.use_cases.tools.blueprint_tools import compare_blueprints

    with desk.open() as place:
        found = compare_blueprints(place, old, new, plugin_folders=plugin_folders, open_types=open_types)
    desk.answer(found, lambda: differences_text(found))
    click.get_current_context().exit(0 if found.is_same else DIFFERENT)


@click.command(epilog="Example: phaseline blueprints explain blueprint.yaml web --only properties")
@click.argument("file")
@click.argument("node")
@click.option(
    "--only", metavar="BEGINNING", default="", help="Only parts whose path begins so, such as properties.port."
)
@plugins_option
@json_option
@click.pass_obj
def explain(desk: Desk, file: str, node: str, only: str, plugin_folders: tuple[str, ...]) -> None:
    """Show where each part of a node came from: the template, a type, a parent of it, a data type, an import.

    For every merged property, operation, input and relationship: its value, file, line and column, and what it overrides.
    """
    from phaseline.cli.render.authoring.provenance import explained_text
    from phaseline.use_cases.tools.blueprint_tools import explain_node

    with desk.open() as place:
        found = explain_node(place, file, node, only=only, plugin_folders=plugin_folders)
    desk.answer(found, lambda: explained_text(found))


@click.command(epilog="Example: phaseline blueprints schema --version cloudify_dsl_1_4 > blueprint.schema.json")
@click.option(
    "--version", "version", metavar="VERSION", default="cloudify_dsl_1_5", show_default=True, help="Of the language."
)
@json_option
@click.pass_obj
def schema(desk: Desk, version: str) -> None:
    """Print a JSON Schema of blueprints, for editors that complete and check while you type.

    It is made from the tables that "validate" checks with. It knows forms, not names: only "validate" can tell whether
    a type or an input exists.
    """
    import json

    from phaseline.use_cases.tools.blueprint_tools import blueprint_schema

    found = blueprint_schema(version)
    desk.answer(found, lambda: json.dumps(found, indent=2))
