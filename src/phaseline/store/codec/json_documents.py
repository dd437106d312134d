"""Runtime properties as JSON texts: changes are merged path by path, and only changed documents are written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from phaseline.model.blueprint.blueprint import Value
from phaseline.model.deployment.runtime_properties import PropertyPath
from phaseline.model.rows.rows import DocumentChange

EMPTY = "{}"
"""Document of an instance without runtime properties."""

to_text = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
"""Encode a value as JSON, in ASCII only, so that any text of a plugin can be stored."""

_parse = json.JSONDecoder().raw_decode
"""Decode JSON as (value, index of its end), four times as fast as ``json.loads``.

The latter also checks for white space and byte order marks.
"""

Key = tuple[int, int]
"""(deployment number, instance number)"""


def by_instance(changes: Iterable[DocumentChange]) -> dict[Key, list[DocumentChange]]:
    """Return {(deployment, instance): its changes, in their given order}."""
    grouped: dict[Key, list[DocumentChange]] = {}
    for change in changes:
        grouped.setdefault((change.deployment, change.instance), []).append(change)
    return grouped


def merged(stored: str, changes: Iterable[DocumentChange]) -> str:
    """Apply changes to a stored document and return the new JSON text.

    Within one change, removals come before writes, so that a path can be removed and a value written below it.
    """
    document: dict[str, Value] = {} if stored == EMPTY else _parse(stored)[0]
    for change in changes:
        for path in change.removed:
            _remove(document, path)
        for path, value in change.written.items():
            _write(document, path, value)
    return to_text(document)


def _write(document: dict[str, Value], path: PropertyPath, value: Value) -> None:
    if not path:
        document.clear()
        if isinstance(value, Mapping):
            document.update(value)
        return
    for name in path[:-1]:
        below = document.get(name)
        if not isinstance(below, dict):
            below = document[name] = {}
        document = below
    document[path[-1]] = value


def _remove(document: dict[str, Value], path: PropertyPath) -> None:
    if not path:
        document.clear()
        return
    for name in path[:-1]:
        below = document.get(name)
        if not isinstance(below, dict):
            return
        document = below
    document.pop(path[-1], None)


def require_known(stored: Mapping[str, object], known: int, what: str) -> None:
    """Raise ValueError if a stored value has a later format than ``known``, the latest that this version reads (UP4).

    A stored value without a number has format 1. A version writes the format that the version before it can read, too.
    """
    found = stored.get("format", 1)
    if not isinstance(found, int) or found > known:
        raise ValueError(f"{what} has format {found}, this version of Phaseline knows formats up to {known}")
