"""``phaseline blueprints …``."""

from __future__ import annotations

import click

from phaseline.cli.commands.blueprints.plan import blueprint_plan
from phaseline.cli.commands.blueprints.stored import delete, list_, package, show, upload
from phaseline.cli.commands.blueprints.tools import diff, explain, schema
from phaseline.cli.commands.graphs import of_blueprint
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option, open_types_option, plugins_option


@click.group(epilog="Example: phaseline blueprints validate blueprint.yaml")
def blueprints() -> None:
    """Blueprints: files, and those that are kept in the store."""


@blueprints.command(epilog="Example: phaseline blueprints validate blueprint.yaml")
@click.argument("file")
@plugins_option
@open_types_option
@json_option
@click.pass_obj
def validate(desk: Desk, file: str, plugin_folders: tuple[str, ...], open_types: bool) -> None:
    """Say everything that is wrong with a blueprint. Runs none of its code, stores nothing."""
    from phaseline.cli.render.listings import validated_text
    from phaseline.use_cases.tools.validate_blueprint import validate as check

    with desk.open() as place:
        found = check(place, file, plugin_folders=plugin_folders, open_types=open_types)
    desk.answer(found, lambda: validated_text(found))


for command in (blueprint_plan, diff, explain, of_blueprint, schema, upload, list_, show, delete, package):
    blueprints.add_command(command)
