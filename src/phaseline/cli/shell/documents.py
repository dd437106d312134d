"""Documents that a command prints or writes into a file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from phaseline.cli.streams.escaping import in_json
from phaseline.cli.streams.output import answer_json

if TYPE_CHECKING:
    from phaseline.cli.shell.cli_context import CliContext
    from phaseline.model.blueprint.blueprint import Value

output_option = click.option(
    "-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), help="File for the document. [default: stdout]"
)


def put(cli: CliContext, document: Mapping[str, Value], output: str | None) -> None:
    """Write a document to stdout, or into a file."""
    if output is None:
        answer_json(text_of(document))
    else:
        write_document(document, output)
        cli.notice(f"Written: {output}")


def write_document(document: Mapping[str, Any], output: str) -> None:
    """Write a document into a file that only its owner can read, because it contains addresses of all resources.

    Raises: PL-C091.
    """
    write_private(text_of(document) + "\n", output)


def write_private(text: str, output: str) -> None:
    """Write a text into a file that only its owner can read. Raises: PL-C091."""
    from phaseline.model.problems.problem import problem_error

    try:
        number = os.open(Path(output), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise problem_error(
            "PL-C091", f"the document cannot be written: {error}", "name another file with -o"
        ) from error


def text_of(document: Mapping[str, Any]) -> str:
    """Return the document as indented JSON."""
    return in_json(json.dumps(document, indent=1, ensure_ascii=False))
