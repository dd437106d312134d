"""``phaseline records …``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from phaseline.cli.shell.cli_context import Words, local_command_for
from phaseline.cli.shell.options import pairs

if TYPE_CHECKING:
    from phaseline.use_cases.loading.record_files import EvaluatedRecord, FormattedFile


@click.group(epilog="Example: phaseline records eval 'Cores / 2' -a Cores=8")
def records() -> None:
    """Format records, and evaluate expressions on them."""


def _texts(found: Sequence[FormattedFile]) -> str:
    return "\n".join(one.text for one in found if one.text).removesuffix("\n")


def _values(found: Sequence[EvaluatedRecord], *, is_named: bool) -> str:
    lines = []
    for one in found:
        shown = f"error: {one.reason}" if one.kind == "error" else one.text
        lines.append(f"{one.name}: {shown}" if is_named and one.name else shown)
    return "\n".join(lines)


def _by_name(words: Words) -> Words:
    return {"is_named": bool(words["records"])}


COMMANDS = (
    local_command_for(
        "records.format",
        click.argument("files", metavar="FILE…", nargs=-1, required=True),
        click.option("--sort", is_flag=True, help="Sort attributes by name, also in nested records."),
        render=_texts,
        exactly=True,
        help="""Print the records of files in their canonical text, or as JSON.

        A file is JSON if it ends in .json, a definition in the informal syntax if it ends in .cfg, otherwise formal
        text. Comments are not part of records and are left out.
        """,
        example="records format nodes.rec volumes.json",
    ),
    local_command_for(
        "records.eval",
        click.argument("expression"),
        click.option(
            "--record",
            "records",
            metavar="FILE",
            multiple=True,
            help="File with records to evaluate the expression on. [repeatable]",
        ),
        click.option(
            "-a",
            "--attribute",
            "attributes",
            metavar="NAME=VALUE",
            multiple=True,
            callback=pairs,
            help="Attribute to set first: a number, true, a list a, b or a text; NAME:=VALUE sets an expression. [repeatable]",
        ),
        render=_values,
        more=_by_name,
        code=lambda found: 1 if any(one.kind == "error" for one in found) else 0,
        help="""Evaluate an expression on records.

        Without --record: on one record with the given attributes. Exit code 1 if a value is an error.
        """,
        example="records eval 'FixedPublicIp isnt undefined' --record nodes.rec",
    ),
)
for _command in COMMANDS:
    records.add_command(_command)
