"""The differences of two blueprints as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean
from phaseline.cli.streams.escaping import painted

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.blueprint.diff import BlueprintChange, Differences

SIGNS = {"added": "+", "removed": "-", "changed": "~"}
COLORS = {"added": "green", "removed": "red", "changed": "yellow"}
WIDTH = 60
"""The largest number of characters shown of a value."""


def differences_text(found: Differences) -> str:
    """Return the differences as text: a line for each change, then probable renames, then the counts."""
    if found.is_same:
        return "There are no differences."
    lines = [painted(clean(_line(change)), COLORS[change.kind]) for change in found.changes]
    lines += [
        clean(f"? {each.what} {each.old} was perhaps renamed: {each.new} ({each.likeness:.0%} alike)")
        for each in found.renames
    ]
    kinds = [change.kind for change in found.changes]
    counts = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in SIGNS if kind in kinds)
    return "\n".join([*lines, "", counts])


def _line(change: BlueprintChange) -> str:
    head = f"{SIGNS[change.kind]} {change.what} {change.path}"
    if change.kind == "changed":
        return f"{head}: {_shown(change.old)} -> {_shown(change.new)}"
    value = change.new if change.kind == "added" else change.old
    return head if isinstance(value, dict) else f"{head}: {_shown(value)}"


def _shown(value: Value) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return f"{line[:WIDTH]}…" if len(line) > WIDTH else line or "''"
