"""``phaseline blueprints explain|diff|schema``: tools for those who write blueprints."""

from __future__ import annotations

import click

from phaseline.cli.desk import Desk
from phaseline.cli.options import json_option


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
