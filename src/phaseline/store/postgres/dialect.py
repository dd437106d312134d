"""Translation of the statements of ``store.sql`` to PostgreSQL, by the forms that ``database.connection`` names."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from phaseline.lang.fast_dataclasses import frozen

TEXTS_KEPT = 1_024
"""Number of different statements whose translation is cached; a program has about 400."""

_FORMS = re.compile(
    r"""(?P<blob>\bx'')
    |(?P<text>'[^']*')
    |(?P<absent>\bnot\ in\ \(select\ value\ from\ json_each\(\?\)\))
    |(?P<chosen>\bin\ \(select\ value\ from\ json_each\(\?\)\))
    |instr\((?P<bytes>ids),\ \?\)
    |json_extract\((?P<column>[\w.]+),\ '\$\.(?P<keys>[\w.]+)'\)
    |(?P<cross>\bcross\ join\b)
    |(?P<value>\?)
    |(?P<percent>%)""",
    re.VERBOSE,
)


@frozen
class Translation:
    """A statement for PostgreSQL. ``lists``: the indices of values that are JSON lists and become arrays."""

    text: str
    lists: tuple[int, ...]

    def values(self, given: Sequence[Any]) -> Sequence[Any]:
        """Return the values of the statement for PostgreSQL."""
        if not self.lists:
            return given
        values = list(given)
        for index in self.lists:
            values[index] = json.loads(values[index])
        return values


@lru_cache(maxsize=TEXTS_KEPT)
def translate(statement: str) -> Translation:
    """Return the statement in the form of PostgreSQL."""
    lists: list[int] = []
    count = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal count
        kind = found.lastgroup
        if kind == "blob":
            return "''::bytea"
        if kind == "text":
            return found[0].replace("%", "%%")
        if kind == "percent":
            return "%%"
        if kind == "cross":
            return "join"
        if kind == "keys":
            return f"({found['column']}::json #>> '{{{found['keys'].replace('.', ',')}}}')"
        if kind == "bytes":
            count += 1
            return f"position(%s in {found['bytes']})"
        if kind in {"absent", "chosen"}:
            lists.append(count)
        count += 1
        return {"absent": "<> all (%s)", "chosen": "= any (%s)"}.get(str(kind), "%s")

    return Translation(_FORMS.sub(replaced, statement), tuple(lists))
