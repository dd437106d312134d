"""``phaseline executions purge``."""

from __future__ import annotations

import re

import click

from phaseline.cli.desk import Desk
from phaseline.cli.options import deployment_option, json_option

UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


def age(_ctx: click.Context, parameter: click.Parameter, text: str | None) -> int:
    """Milliseconds of an age such as ``30d``; 0 where none is given."""
    if text is None:
        return 0
    found = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if found is None:
        raise click.BadParameter(
            f"'{text}' is no age; write minutes, hours, days or weeks as 90m, 12h, 30d or 8w", param=parameter
        )
    return int(found[1]) * UNITS_MS[found[2]]


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
    from phaseline.cli.render.upkeep import purge_text
    from phaseline.use_cases.upkeep import purge as run

    with desk.open() as place:
        done = run(place, older, deployment=deployment, dry_run=dry_run)
    desk.answer(done, lambda: purge_text(done))
