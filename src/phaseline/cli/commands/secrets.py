"""``phaseline secrets …``."""

from __future__ import annotations

import sys

import click

from phaseline.cli.shell import shell_completion as completing
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option, watchable

name_argument = click.argument("name", shell_complete=completing.secrets)
value_option = click.option(
    "--value", metavar="TEXT", help="The secret. Others may see it in the list of processes, and your shell keeps it."
)
file_option = click.option("--file", metavar="FILE", help="A file with the secret, as it is; - for what is piped in.")


@click.group(epilog="Example: phaseline secrets create db_password")
def secrets() -> None:
    """Values that lie encrypted in the store, for get_secret. They are never shown unless you say so."""


@secrets.command(epilog="Example: phaseline secrets create db_password --file password.txt")
@click.argument("name")
@value_option
@file_option
@click.option("--update", is_flag=True, help="Give it a new value if it is there already.")
@json_option
@click.pass_obj
def create(desk: Desk, name: str, value: str | None, file: str | None, update: bool) -> None:
    """Keep a new secret. Without --value and --file you are asked for it, and nobody sees you type."""
    from phaseline.cli.render.secrets import kept_text
    from phaseline.use_cases.commands.secrets import create_secret

    text = _given(value, file)
    with desk.open(makes_store=True) as place:
        view = create_secret(place, name, text, update=update)
    desk.answer(view, lambda: kept_text(view))


@secrets.command("list", epilog="Example: phaseline secrets list --json")
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk) -> None:
    """List secrets without their values."""
    from phaseline.cli.render.secrets import secret_list
    from phaseline.use_cases.commands.secrets import list_secrets

    with desk.open(lists=True) as place:
        found = list_secrets(place)
    desk.answer({"secrets": found, "total": len(found)}, lambda: secret_list(found))


@secrets.command(epilog="Example: phaseline secrets show db_password --reveal")
@name_argument
@click.option("--reveal", is_flag=True, help="Print its value, and nothing else.")
@json_option
@click.pass_obj
def show(desk: Desk, name: str, reveal: bool) -> None:
    """Show who keeps a secret since when; with --reveal its value."""
    from phaseline.cli.render.secrets import secret_text
    from phaseline.use_cases.commands.secrets import show_secret

    with desk.open() as place:
        view = show_secret(place, name, reveal=reveal)
    desk.answer(view, lambda: secret_text(view), exactly=reveal)


@secrets.command(epilog="Example: phaseline secrets update db_password")
@name_argument
@value_option
@file_option
@json_option
@click.pass_obj
def update(desk: Desk, name: str, value: str | None, file: str | None) -> None:
    """Give a secret a new value: calls that begin from now on get it."""
    from phaseline.cli.render.secrets import kept_text
    from phaseline.use_cases.commands.secrets import update_secret

    text = _given(value, file)
    with desk.open() as place:
        view = update_secret(place, name, text)
    desk.answer(view, lambda: kept_text(view))


@secrets.command(epilog="Example: phaseline secrets delete db_password")
@name_argument
@json_option
@click.pass_obj
def delete(desk: Desk, name: str) -> None:
    """Forget a secret. Calls that ask for it fail from now on."""
    from phaseline.use_cases.commands.secrets import delete_secret

    with desk.open() as place:
        view = delete_secret(place, name)
    desk.answer(view, lambda: f"The secret '{view.name}' is forgotten.")


@secrets.command(epilog="Example: phaseline secrets rotate")
@json_option
@click.pass_obj
def rotate(desk: Desk) -> None:
    """Replace the master key that all secrets lie under. The secrets themselves stay as they are."""
    from phaseline.cli.render.secrets import rotated_text
    from phaseline.use_cases.commands.secrets import rotate as run

    with desk.open() as place:
        done = run(place)
    desk.answer(done, lambda: rotated_text(done))


def _given(value: str | None, file: str | None) -> str:
    """The secret from wherever it is given; what is typed or piped in without --file loses its last end of line."""
    if value is not None and file is not None:
        raise click.UsageError("--value and --file exclude each other")
    if value is not None:
        return value
    if file is not None:
        from phaseline.use_cases.commands.secrets import read_secret

        return read_secret(sys.stdin.buffer.read() if file == "-" else file)
    if sys.stdin.isatty():
        return str(click.prompt("The secret", hide_input=True, confirmation_prompt="Once more", err=True))
    return sys.stdin.read().removesuffix("\n")
