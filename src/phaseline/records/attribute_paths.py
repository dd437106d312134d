"""Dotted names of attributes of nested records: ``PhaseMap.Allocate.Id``, ``PhaseMap.'Acme.Create'.Id``.

A dot may also be part of one name (``Acme.Create`` is a phase), so the longest name that exists wins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from phaseline.records.lexer import unquoted

if TYPE_CHECKING:
    from phaseline.records.record import Record

_STEP = re.compile(r"('(?:[^'\\]|\\.)*'|[^.']+)(?:\.|$)")


def steps_of(name: str) -> list[str]:
    """Return the names along the path; a text that is not a valid path counts as one name.

    >>> steps_of("a.'b.c'.d"), steps_of("a..b"), steps_of("it's")
    (['a', 'b.c', 'd'], ['a..b'], ["it's"])
    """
    if "." not in name and "'" not in name:
        return [name]
    steps: list[str] = []
    at = 0
    while at < len(name):
        found = _STEP.match(name, at)
        if found is None:
            return [name]
        step = found.group(1)
        steps.append(unquoted(step) if step[0] == "'" else step)
        at = found.end()
    return [name] if name.endswith(".") else steps


def follow(record: Record, name: str) -> tuple[Record, str] | None:
    """Return (the record that contains the attribute, its key in that record), or None if there is no such attribute."""
    key = name.lower()
    if key in record.folded:
        return record, key
    steps = steps_of(name)
    owner, rest = descend(record, steps)
    key = ".".join(rest).lower()
    return (owner, key) if key in owner.folded else None


def descend(record: Record, steps: list[str]) -> tuple[Record, list[str]]:
    """Follow the path ``steps`` into nested records, as far as they exist; the last step is never followed.

    Returns (the innermost record reached, the remaining steps within it), with at least one remaining step.
    """
    while len(steps) > 1:
        taken = _longest(record, steps)
        if taken is None:
            break
        record, count = taken
        steps = steps[count:]
    return record, steps


def _longest(record: Record, steps: list[str]) -> tuple[Record, int] | None:
    """Find the nested record with the longest name that begins the path.

    Returns (the record, the number of steps in its name), or None.
    """
    for count in range(len(steps) - 1, 0, -1):
        nested = record.folded.get(".".join(steps[:count]).lower())
        if isinstance(nested, record.kind):
            return nested, count
    return None
