"""``phaseline secrets …``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from phaseline.cli.shell.cli_context import command_for, counted
from phaseline.cli.shell.options import completing, watchable

name_argument = click.argument("name", shell_complete=completing("secrets"))


@click.group(epilog="Example: phaseline secrets create db_password")
def secrets() -> None:
    """Create, show, replace and delete the secrets of the store.

    Secrets are encrypted in the store, and blueprints use them with get_secret. Only --reveal shows a value.
    """


def value_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that give the value of a secret."""

    @wraps(function)
    def with_value(*args: object, value: str | None, file: str | None, **others: object) -> object:
        return function(*args, value=_given(value, file), **others)

    given = click.option(
        "--value",
        metavar="TEXT",
        help="Value of the secret; visible in the process list and in your shell's history.",
    )
    in_file = click.option("--file", metavar="FILE", help="File with exactly the value; - for standard input.")
    return given(in_file(with_value))


def _given(value: str | None, file: str | None) -> str:
    """Read a secret from its option, a file, a pipe or the keyboard. Except for a file, remove the last end of line."""
    if value is not None and file is not None:
        raise click.UsageError("--value and --file exclude each other")
    if value is not None:
        return value
    if file is not None:
        from phaseline.client.input_files import read_secret

        return read_secret(sys.stdin.buffer.read() if file == "-" else file)
    if sys.stdin.isatty():
        return str(click.prompt("The secret", hide_input=True, confirmation_prompt="Once more", err=True))
    return sys.stdin.read().removesuffix("\n")


COMMANDS = (
    command_for(
        "secrets.create",
        click.argument("name"),
        value_options,
        click.option("--update", is_flag=True, help="Replace the value if the secret exists."),
        render="secrets:kept_text",
        help="Store a new secret.\n\nWithout --value and --file, the command asks for the value and hides what you type.",
        example="secrets create db_password --file password.txt",
    ),
    command_for(
        "secrets.list",
        watchable,
        render="secrets:secret_list",
        answer=counted("secrets"),
        help="List secrets without their values.",
        example="secrets list --json",
    ),
    command_for(
        "secrets.show",
        name_argument,
        click.option("--reveal", is_flag=True, help="Print only the value."),
        render="secrets:secret_text",
        exactly="reveal",
        help="Show a secret's version, users and times; with --reveal its value.",
        example="secrets show db_password --reveal",
    ),
    command_for(
        "secrets.update",
        name_argument,
        value_options,
        render="secrets:kept_text",
        help="Replace the value of a secret; calls get it from now on.",
        example="secrets update db_password",
    ),
    command_for(
        "secrets.delete",
        name_argument,
        render=lambda view: f"The secret '{view.name}' is deleted.",
        help="Delete a secret; calls that ask for it fail from now on.",
        example="secrets delete db_password",
    ),
    command_for(
        "secrets.rotate",
        render="secrets:rotated_text",
        help="Replace the master key that encrypts all secrets.\n\nThe secrets themselves do not change.",
        example="secrets rotate",
    ),
)
for _command in COMMANDS:
    secrets.add_command(_command)
