"""``phaseline store …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import CliContext, command_for
from phaseline.cli.shell.options import json_option


@click.group(epilog="Example: phaseline store check")
def store() -> None:
    """The file in which everything is remembered. All of it works while engines run."""


@click.command(epilog="Example: phaseline store restore /srv/backup/phaseline.db")
@click.argument("file", required=False)
@click.option("--go-on", is_flag=True, help="Let executions go on that were open when the store was copied.")
@json_option
@click.pass_obj
def restore(cli: CliContext, file: str | None, *, go_on: bool) -> None:
    """Put the backup FILE in the place of the store, and keep that.

    What is made afterwards has client tokens of its own, so no cloud takes it for what was made since the backup. Executions that were
    open wait until --go-on. With the store's own file it is only taken as restored, such as after its disk was set back.
    """
    if go_on == (file is not None):
        raise click.UsageError("Give either FILE or --go-on.")
    with cli.open() as client:
        if file is None:
            released = client.store.go_on()
            cli.answer(released, lambda: cli.renderer("maintenance:released_text")(released))
        else:
            done = client.store.restore(file)
            cli.answer(done, lambda: cli.renderer("maintenance:restored_text")(done))


COMMANDS = (
    command_for(
        "store.check",
        render="maintenance:checked_text",
        code=lambda found: 1 if found.findings else 0,
        help="Read everything and compare; exit code 1 if something does not fit.",
        example="store check",
    ),
    command_for(
        "store.backup",
        click.argument("file"),
        render="maintenance:saved_text",
        help="Copy the store as it is at this moment into a new FILE, and check the copy.",
        example="store backup /srv/backup/phaseline.db",
    ),
    restore,
    command_for(
        "store.compact",
        render="maintenance:compacted_text",
        help="Give free space back to the operating system, such as after a purge.",
        example="store compact",
    ),
)
for _command in COMMANDS:
    store.add_command(_command)
