"""``phaseline store …``."""

from __future__ import annotations

import click

from phaseline.cli.desk import Desk
from phaseline.cli.options import json_option


@click.group(epilog="Example: phaseline store check")
def store() -> None:
    """The file in which everything is remembered. All of it works while engines run."""


@store.command(epilog="Example: phaseline store check")
@json_option
@click.pass_obj
def check(desk: Desk) -> None:
    """Read everything and compare; exit code 1 if something does not fit."""
    from phaseline.cli.render.upkeep import checked_text
    from phaseline.use_cases.upkeep import check as run

    with desk.open() as place:
        found = run(place)
    desk.answer(found, lambda: checked_text(found))
    click.get_current_context().exit(1 if found.findings else 0)


@store.command(epilog="Example: phaseline store backup /srv/backup/phaseline.db")
@click.argument("file")
@json_option
@click.pass_obj
def backup(desk: Desk, file: str) -> None:
    """Copy the store as it is at this moment into a new FILE, and check the copy."""
    from phaseline.cli.render.upkeep import saved_text
    from phaseline.use_cases.upkeep import backup as run

    with desk.open() as place:
        saved = run(place, file)
    desk.answer(saved, lambda: saved_text(saved))


@store.command(epilog="Example: phaseline store compact")
@json_option
@click.pass_obj
def compact(desk: Desk) -> None:
    """Give free space back to the operating system, such as after a purge."""
    from phaseline.cli.render.upkeep import compacted_text
    from phaseline.use_cases.upkeep import compact as run

    with desk.open() as place:
        done = run(place)
    desk.answer(done, lambda: compacted_text(done))
