"""``phaseline abandoned …``: the documents that remain of abandoned deployments."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import CliContext, command_for, list_of
from phaseline.cli.shell.documents import output_option, put
from phaseline.cli.shell.options import json_option, watchable


@click.group(epilog="Example: phaseline abandoned show abandon-7 -o shop.json")
def abandoned() -> None:
    """List and print the documents of abandoned deployments.

    The documents are kept for 30 days.
    """


abandoned.add_command(
    command_for(
        "abandoned.list",
        watchable,
        render="stack:abandoned_list",
        answer=list_of("abandoned"),
        help="List abandoned deployments, and until when their documents are kept.",
        example="abandoned list",
    )
)


@abandoned.command(epilog="Example: phaseline abandoned show abandon-7 -o shop.json")
@click.argument("id")
@output_option
@json_option
@click.pass_obj
def show(cli: CliContext, id: str, output: str | None) -> None:
    """Print the document of an abandoned deployment.

    ID is that of the execution that abandoned the deployment.
    """
    with cli.open() as client:
        found = client.abandoned.show(id)
    put(cli, found, output)
