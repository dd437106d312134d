"""``phaseline init``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import click

from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.options import json_option

Kind = Literal["blueprint", "plugin"]


@click.command(
    options_metavar="[blueprint|plugin] [FOLDER]",
    epilog="Example: phaseline init hello, or: phaseline init plugin my-plugin",
)
@click.argument("words", nargs=-1, metavar="")
@json_option
@click.pass_obj
def init(cli: CliContext, words: tuple[str, ...]) -> None:
    """Create a small blueprint or plugin package in a new folder.

    "blueprint" (the default): a blueprint with a plugin and scripts that can be installed at once. "plugin": a Python
    package with a bulk function, a test that passes and a blueprint that uses it. Without FOLDER: the current folder,
    if it is empty.
    """
    kind, folder = _meant(words)
    with cli.without_store() as client:
        made = client.init(folder, kind)
    lines = [f"Written into {made.folder}: {', '.join(made.files)}", "Next:", *(f"  {words}" for words in made.next)]
    cli.answer(made, lambda: "\n".join(lines))


def _meant(words: tuple[str, ...]) -> tuple[Kind, str]:
    """Return (kind, folder): the first word is the kind if it names one, otherwise the folder of a blueprint.

    A name that is nearly a kind is refused, because it is probably a typing error and not a folder's name.
    """
    if not words:
        raise click.UsageError("Name a folder: phaseline init hello. For a plugin: phaseline init plugin my-plugin")
    kinds: dict[str, Kind] = {"blueprint": "blueprint", "plugin": "plugin"}
    kind = kinds.get(words[0])
    rest = words if kind is None else words[1:]
    near = _near(words[0], kinds) if kind is None else ""
    if near:
        folder = f"; to create a folder of this name: phaseline init blueprint {words[0]}" if len(words) == 1 else ""
        raise click.UsageError(f"'{words[0]}' is neither 'blueprint' nor 'plugin'. Did you mean '{near}'?{folder}")
    if len(rest) > 1:
        known = "" if kind else f"; '{rest[0]}' is not one of {', '.join(kinds)}"
        raise click.UsageError(f"Give one folder: '{rest[1]}' is too much{known}")
    return kind or "blueprint", rest[0] if rest else "."


def _near(word: str, kinds: Iterable[str]) -> str:
    """Return the kind that was probably intended; names like ``my-plugin`` and ``blueprint-2`` are taken as folders."""
    from difflib import get_close_matches

    fitting = [kind for kind in kinds if abs(len(kind) - len(word)) <= 1]
    return next(iter(get_close_matches(word.lower(), fitting, n=1, cutoff=0.8)), "")
