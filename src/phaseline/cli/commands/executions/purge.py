"""``phaseline executions purge``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import deployment_option, json_option


def age(_ctx: click.Context, parameter: click.Parameter, text: str | None) -> int:
    """Milliseconds of an age such as ``30d``; 0 where none is given."""
    if text is None:
        return 0
    from phaseline.lang.durations import read_age_ms

    try:
        return read_age_ms(text)
    except ValueError as error:
        raise click.BadParameter(str(error), param=parameter) from error


@click.command(epilog="Example: phaseline executions purge --older 30d --dry-run")
@click.option(
    "--older", metavar="AGE", required=True, callback=age, help="Ended longer ago than that: 90m, 12h, 30d, 8w."
)
@deployment_option
@click.option("--dry-run", is_flag=True, help="Only say which would go.")
@json_option
@click.pass_obj
def purge(desk: Desk, older: int, deployment: str | None, dry_run: bool) -> None:
    """Remove executions that ended long ago, with their logs and events.

    Open ones stay, and of each deployment its last install and the last one that completed.
    """
    from phaseline.cli.render.maintenance import purge_text
    from phaseline.use_cases.commands.maintenance import purge as run

    with desk.open() as place:
        done = run(place, older, deployment=deployment, dry_run=dry_run)
    desk.answer(done, lambda: purge_text(done))
