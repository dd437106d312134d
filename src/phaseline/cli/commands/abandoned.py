"""``phaseline abandoned …``: what is left of deployments that were abandoned."""

from __future__ import annotations

import click

from phaseline.cli.commands.plans.stack import output_option, put
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option, watchable


@click.group(epilog="Example: phaseline abandoned show abandon-7 -o shop.json")
def abandoned() -> None:
    """Documents of deployments that were abandoned in the last 30 days."""


@abandoned.command("list", epilog="Example: phaseline abandoned list")
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk) -> None:
    """List what can still be had, and until when."""
    from phaseline.cli.render.stack import abandoned_list
    from phaseline.use_cases.prepare.stack_documents import list_abandoned

    with desk.open(lists=True) as place:
        found = list_abandoned(place)
    desk.answer({"abandoned": found}, lambda: abandoned_list(found))


@abandoned.command(epilog="Example: phaseline abandoned show abandon-7 -o shop.json")
@click.argument("id")
@output_option
@json_option
@click.pass_obj
def show(desk: Desk, id: str, output: str | None) -> None:
    """Print the document, by the id of the execution that abandoned the deployment."""
    from phaseline.use_cases.prepare.stack_documents import show_abandoned

    with desk.open() as place:
        found = show_abandoned(place, id)
    put(desk, found, output)
