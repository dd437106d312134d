"""``phaseline store …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import CliContext, command_for
from phaseline.cli.shell.options import json_option


@click.group(epilog="Example: phaseline store check")
def store() -> None:
    """Check, back up, restore, copy and compact the store.

    Checks, backups and compaction work while engines run.
    """


@click.command(epilog="Example: phaseline store restore /srv/backup/phaseline.db")
@click.argument("file", required=False)
@click.option("--go-on", is_flag=True, help="Continue the executions that were open when the store was copied.")
@json_option
@click.pass_obj
def restore(cli: CliContext, file: str | None, *, go_on: bool) -> None:
    """Replace the store by the backup FILE, and keep the old store.

    Later calls have new client tokens, so that no cloud takes them for calls made since the backup. Executions that were
    open wait until --go-on. With the store's own file or URL, the store is only marked as restored, such as after its
    disk was reset or its database was set back. The old store is kept in a file beside the store, or in another schema
    of its database.
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


@click.command(epilog="Example: phaseline store upgrade --check")
@click.option("--check", is_flag=True, help="Change nothing; exit code 1 if an upgrade is due or not finished.")
@click.option("--status", is_flag=True, help="Change nothing; show the version and what is left of an upgrade.")
@json_option
@click.pass_obj
def upgrade(cli: CliContext, *, check: bool, status: bool) -> None:
    """Bring the store's tables to the version that this program knows.

    Each command does this when it opens an older store; of a file, a copy is kept before. What lists read of a large store
    is filled in short steps afterwards, by this command or by an idle engine. Lists are right meanwhile, but slower. If
    the command is interrupted, the next one continues. With several machines on one store, upgrade Phaseline on all of
    them first: the version before can use the store as far as the store allows.
    """
    with cli.open() as client:
        found = client.store.upgrade(check=check, status=status)
        cli.answer(found, lambda: cli.renderer("maintenance:upgraded_text")(found))
    if check and not found.is_finished:
        raise SystemExit(1)


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
        "store.copy",
        click.argument("source", metavar="FROM"),
        click.argument("target", metavar="TO"),
        render="maintenance:copied_text",
        help="""Copy the store FROM to the new store TO, both named by URL.

        Use it to move a store from a file to a database, or back. All rows are compared. No engine may run meanwhile;
        the store FROM stays unchanged. The copy counts as restored: its later calls have new client tokens, and
        executions that were open wait until: phaseline store restore --go-on.""",
        example="store copy sqlite:///phaseline.db postgresql://db.example.org/phaseline",
    ),
    upgrade,
    command_for(
        "store.compact",
        render="maintenance:compacted_text",
        help="Return free space to the operating system, such as after a purge.",
        example="store compact",
    ),
)
for _command in COMMANDS:
    store.add_command(_command)
