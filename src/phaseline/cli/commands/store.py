"""``phaseline store …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option


@click.group(epilog="Example: phaseline store check")
def store() -> None:
    """The file in which everything is remembered. All of it works while engines run."""


@store.command(epilog="Example: phaseline store check")
@json_option
@click.pass_obj
def check(desk: Desk) -> None:
    """Read everything and compare; exit code 1 if something does not fit."""
    from phaseline.cli.render.maintenance import checked_text
    from phaseline.use_cases.commands.maintenance import check as run

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
    from phaseline.cli.render.maintenance import saved_text
    from phaseline.use_cases.commands.maintenance import backup as run

    with desk.open() as place:
        saved = run(place, file)
    desk.answer(saved, lambda: saved_text(saved))


@store.command(epilog="Example: phaseline store restore /srv/backup/phaseline.db")
@click.argument("file", required=False)
@click.option("--go-on", is_flag=True, help="Let executions go on that were open when the store was copied.")
@json_option
@click.pass_obj
def restore(desk: Desk, file: str | None, *, go_on: bool) -> None:
    """Put the backup FILE in the place of the store, and keep that.

    What is made afterwards has client tokens of its own, so no cloud takes it for what was made since the backup. Executions that were
    open wait until --go-on. With the store's own file it is only taken as restored, such as after its disk was set back.
    """
    from phaseline.cli.render.maintenance import released_text, restored_text
    from phaseline.use_cases.commands import maintenance as upkeep

    if go_on == (file is not None):
        raise click.UsageError("Give either FILE or --go-on.")
    with desk.open() as place:
        if file is None:
            released = upkeep.go_on(place)
            desk.answer(released, lambda: released_text(released))
        else:
            done = upkeep.restore(place, file)
            desk.answer(done, lambda: restored_text(done))


@store.command(epilog="Example: phaseline store compact")
@json_option
@click.pass_obj
def compact(desk: Desk) -> None:
    """Give free space back to the operating system, such as after a purge."""
    from phaseline.cli.render.maintenance import compacted_text
    from phaseline.use_cases.commands.maintenance import compact as run

    with desk.open() as place:
        done = run(place)
    desk.answer(done, lambda: compacted_text(done))
