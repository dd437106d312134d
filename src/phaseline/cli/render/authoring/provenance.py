"""The origins of the parts of a node as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.provenance import Explained, Piece, ValueOrigin

WIDTH = 100
"""The largest number of characters shown of a value."""


def explained_text(found: Explained) -> str:
    """Return the types of a node, then each part with its value and origin, then the chain of imports, as text."""
    lines = [f"{clean(found.node)}: {clean(found.type)}", f"  {found.place}", "", "types"]
    lines += [f"  {clean(each.name)}  {each.place}" for each in found.types]
    section = ""
    for piece in found.pieces:
        head = piece.path.partition(".")[0].partition("[")[0]
        if head != section:
            section = head
            lines += ["", section.replace("_", " ")]
        lines += map(clean, _piece(piece))
    if found.imports:
        lines += ["", "imports", *(f"  {clean(file)}  by {place}" for file, place in found.imports.items())]
    return "\n".join(lines)


def _piece(piece: Piece) -> Iterator[str]:
    yield f"  {piece.path} = {_shown(piece.value)}"
    yield f"      {_origin(piece.origin)}"
    for each in piece.over:
        yield f"      over {_origin(each)}"


def _origin(origin: ValueOrigin) -> str:
    who = origin.what if origin.what == "the template" else f"{origin.what} {origin.name}"
    return f"{who}  {origin.place}"


def _shown(value: Value) -> str:
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return f"{line[:WIDTH]}…" if len(line) > WIDTH else line
