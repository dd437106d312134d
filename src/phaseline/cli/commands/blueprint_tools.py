"""``phaseline blueprints explain|diff|schema``: tools for those who write blueprints."""

from __future__ import annotations

import click

from phaseline.cli.desk import Desk
from phaseline.cli.options import json_option, plugins_option


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
    from phaseline.cli.render.explained import explained_text
    from phaseline.use_cases.blueprint_tools import explain_node

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

    from phaseline.use_cases.blueprint_tools import blueprint_schema

    found = blueprint_schema(version)
    desk.answer(found, lambda: json.dumps(found, indent=2))
