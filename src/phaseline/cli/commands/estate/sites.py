"""``phaseline sites …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for, counted

name_argument = click.argument("name")
LOCATION = "Its place in degrees; north and east are positive."


@click.group(epilog="Example: phaseline sites create munich --location 48.14,11.58")
def sites() -> None:
    """Create, move and delete sites: places where deployments are."""


COMMANDS = (
    command_for(
        "sites.create",
        name_argument,
        click.option("--location", metavar="LAT,LONG", default="", help=LOCATION),
        render="estates:site_text",
        help="Make a site.",
        example="sites create munich --location 48.14,11.58",
    ),
    command_for(
        "sites.list",
        render="estates:site_list",
        answer=counted("sites"),
        help="List sites with their locations.",
        example="sites list",
    ),
    command_for(
        "sites.show",
        name_argument,
        render="estates:site_text",
        help="Show a site.",
        example="sites show munich",
    ),
    command_for(
        "sites.update",
        name_argument,
        click.option("--location", metavar="LAT,LONG", required=True, help=LOCATION),
        render="estates:site_text",
        help="Give a site another location.",
        example="sites update munich --location 48.2,11.6",
    ),
    command_for(
        "sites.delete",
        name_argument,
        render=lambda view: f"The site '{view.name}' is deleted.",
        help="Delete a site; its deployments have none then.",
        example="sites delete munich",
    ),
)
for _command in COMMANDS:
    sites.add_command(_command)
