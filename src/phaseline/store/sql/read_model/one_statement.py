"""Several selects as one statement, so that a list costs few round trips however many tables it needs.

The statement is a ``union all`` of its parts. Its columns are first integers, then texts, then bytes, so many of each as
some part needs; a part fills those that it does not need with 0, an empty text and empty bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from phaseline.lang.fast_dataclasses import frozen
from phaseline.store.database.connection import Connection

KINDS = "itb"
"""Kinds of columns: integer, text, bytes."""
_FILLER = {"i": "0", "t": "''", "b": "x''"}

Row = tuple[Any, ...]


@frozen
class Part:
    """One select of a statement, with its values. ``columns``: the kind of each column, as letters of ``KINDS``."""

    select: str
    columns: str
    values: Sequence[object] = ()


def select_together(db: Connection, parts: Sequence[Part]) -> list[list[Row]]:
    """Execute the parts as one statement; return the rows of each part. The order within a part is unspecified."""
    if not parts:
        return []
    if len(parts) == 1:
        return [db.execute(parts[0].select, parts[0].values).fetchall()]
    width = {kind: max(part.columns.count(kind) for part in parts) for kind in KINDS}
    names = [", ".join(f"c{place}" for place in range(len(part.columns))) for part in parts]
    named = ", ".join(f"part{at}({names[at]}) as ({part.select})" for at, part in enumerate(parts))
    united = " union all ".join(
        f"select {at}, {', '.join(_filled(part.columns, width))} from part{at}" for at, part in enumerate(parts)
    )
    found: list[list[Row]] = [[] for _ in parts]
    keep: list[tuple[Callable[[Row], None], Callable[[Row], Row]]] = [
        (rows.append, _own_columns(part.columns, width)) for rows, part in zip(found, parts, strict=True)
    ]
    for row in db.execute(f"with {named} {united}", [value for part in parts for value in part.values]):
        add, own = keep[row[0]]
        add(own(row))
    return found


def _filled(columns: str, width: dict[str, int]) -> Iterator[str]:
    """Yield what a part selects for each column of the statement."""
    for kind in KINDS:
        mine = [f"c{place}" for place, one in enumerate(columns) if one == kind]
        yield from mine
        yield from [_FILLER[kind]] * (width[kind] - len(mine))


def _own_columns(columns: str, width: dict[str, int]) -> Callable[[Row], Row]:
    """Return a function that takes a row of the statement and returns the columns of a part, in the part's order."""
    first = {"i": 1, "t": 1 + width["i"], "b": 1 + width["i"] + width["t"]}
    places = [first[kind] + columns[:place].count(kind) for place, kind in enumerate(columns)]
    if len(places) == 1:
        only = places[0]
        return lambda row: (row[only],)
    return itemgetter(*places)
