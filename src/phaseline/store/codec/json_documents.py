"""Runtime properties as JSON texts: changes are merged path by path, and only what changed is written again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from phaseline.model.blueprint.blueprint import Value
from phaseline.model.deployment.runtime_properties import PropertyPath
from phaseline.model.rows.rows import DocumentChange

EMPTY = "{}"
"""The document of an instance that has nothing."""

to_text = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
"""A value as JSON; ASCII only, so that any text of a plugin can be stored."""

_parse = json.JSONDecoder().raw_decode
"""Four times as fast as ``json.loads``, which looks for white space and byte order marks that we never write."""

Key = tuple[int, int]
"""(deployment, instance number)"""


def by_instance(changes: Iterable[DocumentChange]) -> dict[Key, list[DocumentChange]]:
    """Changes of each instance in the order in which they came."""
    grouped: dict[Key, list[DocumentChange]] = {}
    for change in changes:
        grouped.setdefault((change.deployment, change.instance), []).append(change)
    return grouped


def merged(stored: str, changes: Iterable[DocumentChange]) -> str:
    """The document after the changes; the same text where they change nothing.

    Within a change what is removed goes first, so that a path may be removed and written below afresh.
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
