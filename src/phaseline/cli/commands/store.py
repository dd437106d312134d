"""``phaseline store …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import CliContext, command_for
from phaseline.cli.shell.options import json_option


@click.group(epilog="Example: phaseline store check")
def store() -> None:
    """Check, back up, restore and compact the store.

    All of this works while engines run.
    """


@click.command(epilog="Example: phaseline store restore /srv/backup/phaseline.db")
@click.argument("file", required=False)
@click.option("--go-on", is_flag=True, help="Continue the executions that were open when the store was copied.")
@json_option
@click.pass_obj
def restore(cli: CliContext, file: str | None, *, go_on: bool) -> None:
    """Replace the store by the backup FILE, and keep the old store.

    Later calls have new client tokens, so that no cloud takes them for calls made since the backup. Executions that were
    open wait until --go-on. With the store's own file, the store is only marked as restored, such as after its disk was
    reset.
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
        help="Check the whole store; exit code 1 if it has a fault.",
        example="store check",
    ),
    command_for(
        "store.backup",
        click.argument("file"),
        render="maintenance:saved_text",
        help="Copy the present store into a new FILE, and check the copy.",
        example="store backup /srv/backup/phaseline.db",
    ),
    restore,
    command_for(
        "store.compact",
        render="maintenance:compacted_text",
        help="Return free space to the operating system, such as after a purge.",
        example="store compact",
    ),
)
for _command in COMMANDS:
    store.add_command(_command)
