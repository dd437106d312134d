"""``phaseline executions purge``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for
from phaseline.cli.shell.options import deployment_option


def age(_ctx: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """Check an age such as ``30d`` and return it unchanged."""
    if text is None:
        return None
    from phaseline.lang.durations import read_age_ms

    try:
        read_age_ms(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from error
    return text


purge = command_for(
    "executions.purge",
    click.option(
        "--older", metavar="AGE", required=True, callback=age, help="Smallest time since the end: 90m, 12h, 30d, 8w."
    ),
    deployment_option,
    click.option("--dry-run", is_flag=True, help="Only list the executions that would be removed."),
    render="maintenance:purge_text",
    help="""Remove executions that ended long ago, with their logs and events.

    Open executions stay, and of each deployment the last install and the last completed execution.
    """,
    example="executions purge --older 30d --dry-run",
)
