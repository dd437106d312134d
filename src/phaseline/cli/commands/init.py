"""``phaseline init``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.desk import Desk
from phaseline.cli.options import json_option

if TYPE_CHECKING:
    from phaseline.use_cases.starting import Kind


@click.command(
    options_metavar="[blueprint|plugin] [FOLDER]",
    epilog="Example: phaseline init hello, or: phaseline init plugin my-plugin",
)
@click.argument("words", nargs=-1, required=True, metavar="")
@json_option
@click.pass_obj
def init(desk: Desk, words: tuple[str, ...]) -> None:
    """Write something to begin with into a new folder.

    "blueprint", or nothing: a small blueprint with a plugin and scripts that can be installed at once. "plugin": a
    Python package with a bulk function, a test that passes and a blueprint that uses it. Without FOLDER: this one, if
    it is empty.
    """
    from phaseline.use_cases.starting import start

    kind, folder = _meant(words)
    made = start(folder, kind)
    lines = [f"Written into {made.folder}: {', '.join(made.files)}", "Next:", *(f"  {words}" for words in made.next)]
    desk.answer(made, lambda: "\n".join(lines))


def _meant(words: tuple[str, ...]) -> tuple[Kind, str]:
    """(kind, folder): the first word is a kind if it is one, else a folder for a blueprint."""
    kinds: dict[str, Kind] = {"blueprint": "blueprint", "plugin": "plugin"}
    kind = kinds.get(words[0])
    rest = words if kind is None else words[1:]
    if len(rest) > 1:
        raise click.UsageError(f"One folder, please: '{rest[1]}' is too much")
    return kind or "blueprint", rest[0] if rest else "."
