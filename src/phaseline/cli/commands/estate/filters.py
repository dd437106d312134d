"""``phaseline filters …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for, counted
from phaseline.cli.shell.options import rule_option

NOUNS = click.Choice(("deployments", "blueprints"))
name_argument = click.argument("name")
of_option = click.option(
    "--for", "noun", type=NOUNS, default="deployments", show_default=True, help="The list that the filter is for."
)


@click.group(epilog="Example: phaseline filters create prod --rule env=prod")
def filters() -> None:
    """Save filters of lists, to be used as --filter @NAME."""


COMMANDS = (
    command_for(
        "filters.create",
        name_argument,
        of_option,
        rule_option,
        render="estates:filter_text",
        help="Save rules under a name; all of them must hold.",
        example="filters create prod --rule env=prod --rule 'site_name is not empty'",
    ),
    command_for(
        "filters.list",
        click.option("--for", "noun", type=NOUNS, help="Only filters for this list."),
        render="estates:filter_list",
        answer=counted("filters"),
        help="List saved filters with their rules.",
        example="filters list",
    ),
    command_for(
        "filters.show",
        name_argument,
        of_option,
        render="estates:filter_text",
        help="Show the rules of a saved filter.",
        example="filters show prod",
    ),
    command_for(
        "filters.delete",
        name_argument,
        of_option,
        render=lambda view: f"The filter '{view.name}' is deleted.",
        help="Delete a saved filter.",
        example="filters delete prod",
    ),
)
for _command in COMMANDS:
    filters.add_command(_command)
