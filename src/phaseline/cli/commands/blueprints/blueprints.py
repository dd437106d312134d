"""``phaseline blueprints …``."""

from __future__ import annotations

import click

from phaseline.cli.commands.blueprints import stored, tools
from phaseline.cli.commands.graphs import of_blueprint
from phaseline.cli.shell.cli_context import command_for
from phaseline.cli.shell.options import open_types_option, plugins_option


@click.group(epilog="Example: phaseline blueprints validate blueprint.yaml")
def blueprints() -> None:
    """Validate, compare, draw, store and package blueprints."""


validate = command_for(
    "blueprints.validate",
    click.argument("file"),
    plugins_option,
    open_types_option,
    render="listings:validated_text",
    help="Report everything that is wrong with a blueprint.\n\nNone of its code is run, and nothing is stored.",
    example="blueprints validate blueprint.yaml",
)

for command in (validate, of_blueprint, *tools.COMMANDS, *stored.COMMANDS):
    blueprints.add_command(command)
