"""Repair of two mistakes that make a list of tasks invalid YAML, so that the rest can be read; both mistakes are also
reported.

Both are in the Fuel document (source 4). One is a stage with colons (``stage: post_deployment:: 50``), which is put
into quotes so that the check of stages can explain the mistake. The other is parameters that follow ``type`` without
``parameters:``.
"""

from __future__ import annotations

import re
from typing import Final

from phaseline.lang.fast_dataclasses import frozen

MAX_KEYS: Final = 20
"""Largest number of parameters below one ``type`` that are searched."""
_STAGE: Final = re.compile(
    r"(?P<head>\s*(?:-\s+)?stage:\s+)(?P<value>[^'\"\s#&*!|>\[{][^#]*:[^#]*?)(?P<tail>\s*(?:#.*)?)"
)
_TYPE: Final = re.compile(r"(?P<indent>\s*)(?P<dash>-\s+)?type:\s*['\"]?\w+['\"]?\s*(?:#.*)?")
_KEY: Final = re.compile(r"(?P<indent>\s+)(?P<key>\w+):(?:\s.*)?")


@frozen
class Mended:
    """The repaired text. ``origin`` has the original line for each line of the text, both counted from 1.

    ``inserted`` has (line number, keys below it) for each line ``parameters:`` that was inserted into the text.
    """

    text: str
    origin: tuple[int, ...]
    inserted: tuple[tuple[int, tuple[str, ...]], ...] = ()


def mended(text: str) -> Mended | None:
    """Return the repaired text, or None if it contains neither of the two mistakes."""
    lines: list[str] = []
    origin: list[int] = []
    inserted: list[tuple[int, tuple[str, ...]]] = []
    written = text.splitlines()
    is_changed = False
    for number, line in enumerate(written, 1):
        stage = _STAGE.fullmatch(line)
        if stage is not None:
            line = f"{stage['head']}'{stage['value'].replace(chr(39), chr(39) * 2)}'{stage['tail']}"
            is_changed = True
        lines.append(line)
        origin.append(number)
        keys = _keys_below(line, written[number:])
        if keys:
            column = _column(line)
            lines.append(" " * column + "parameters:")
            origin.append(number + 1)
            inserted.append((len(lines), keys))
            is_changed = True
    return Mended("\n".join(lines) + "\n", tuple(origin), tuple(inserted)) if is_changed else None


def _column(line: str) -> int:
    found = _TYPE.fullmatch(line)
    assert found is not None
    return len(found["indent"]) + len(found["dash"] or "")


def _keys_below(line: str, following: list[str]) -> tuple[str, ...]:
    """Return the keys that are indented below a ``type`` with a plain value, where YAML allows no keys; empty for any
    other line.
    """
    if _TYPE.fullmatch(line) is None:
        return ()
    column = _column(line)
    keys: list[str] = []
    for other in following:
        found = _KEY.fullmatch(other)
        if found is None or len(found["indent"]) <= column or len(keys) == MAX_KEYS:
            break
        keys.append(found["key"])
    return tuple(keys)
