"""``phaseline records …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option, pairs


@click.group(epilog="Example: phaseline records eval 'Cores / 2' -a Cores=8")
def records() -> None:
    """Records in files, and expressions over them."""


@records.command("format", epilog="Example: phaseline records format nodes.rec volumes.json")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option("--sort", "is_sorted", is_flag=True, help="Attributes by name, also within nested records.")
@json_option
@click.pass_obj
def format_(desk: Desk, files: tuple[str, ...], is_sorted: bool) -> None:
    """Print the records of files in their canonical text, or as JSON.

    A file is formal text, JSON if it ends in .json, a definition in the informal syntax if it ends in .cfg. Comments
    are not part of records and are left out.
    """
    from phaseline.use_cases.loading.record_files import format_files

    found = format_files(files, is_sorted=is_sorted)
    desk.answer(found, lambda: "\n".join(one.text for one in found if one.text).removesuffix("\n"), exactly=True)


@records.command("eval", epilog="Example: phaseline records eval 'FixedPublicIp isnt undefined' --record nodes.rec")
@click.argument("expression")
@click.option("--record", "files", metavar="FILE", multiple=True, help="Ask every record of this file; repeatable.")
@click.option(
    "-a",
    "--attribute",
    "attributes",
    metavar="NAME=VALUE",
    multiple=True,
    callback=pairs,
    help="Set an attribute first: a number, true, a list a, b or a text; NAME:=VALUE sets an expression; repeatable.",
)
@json_option
@click.pass_obj
def eval_(desk: Desk, expression: str, files: tuple[str, ...], attributes: dict[str, str]) -> None:
    """Show what an expression gives for records.

    Without --record it is asked of one record with the attributes given. Exit code 1 if a value is an error.
    """
    import time

    from phaseline.use_cases.loading.record_files import EvaluatedRecord, evaluate

    def line(one: EvaluatedRecord) -> str:
        shown = f"error: {one.reason}" if one.kind == "error" else one.text
        return f"{one.name}: {shown}" if files and one.name else shown

    found = evaluate(expression, files=files, attributes=attributes, now=time.time())
    desk.answer(found, lambda: "\n".join(line(one) for one in found))
    click.get_current_context().exit(1 if any(one.kind == "error" for one in found) else 0)
