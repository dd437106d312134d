"""Results of checks in SQLite, in the caller's transaction: columns in pages, and a row for each stored message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.blueprint.blueprint import Value
from phaseline.model.execution.events import StatesEntered
from phaseline.model.graph.status import PAGE_ENTRIES
from phaseline.model.health.checks import (
    CheckKind,
    CheckResults,
    Column,
    HeldBodies,
    NewCheckResults,
    clears,
    empty_column,
)
from phaseline.store.codec.columns import decode, encode
from phaseline.store.codec.json_documents import to_text

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

_WRITE_PAGE = """insert into check_page values (?, ?, ?, ?, ?, ?) on conflict (deployment, kind, number) do update set
    results = excluded.results, times = excluded.times, executions = excluded.executions"""
_THESE = "deployment = ? and kind = ? and subject in (select value from json_each(?))"


class StoredBodies:
    """The ``Bodies`` (values that checks returned) of one deployment, stored as rows."""

    def __init__(self, db: Connection, deployment: int) -> None:
        """Use the connection of the caller's transaction."""
        self._db, self._deployment = db, deployment

    def drop(self, kind: CheckKind, subjects: np.ndarray) -> None:
        """Delete the bodies of these subjects."""
        if self._has_any(kind):
            self._db.execute(f"delete from check_body where {_THESE}", self._these(kind, subjects))

    def move(self, kind: CheckKind, to: CheckKind, subjects: np.ndarray) -> None:
        """Change the kind of the bodies of these subjects."""
        if self._has_any(kind):
            self._db.execute(f"update check_body set kind = ? where {_THESE}", (int(to), *self._these(kind, subjects)))

    def put(self, kind: CheckKind, bodies: Mapping[int, Value]) -> None:
        """Write one row for each body, {subject: body}."""
        if bodies:
            rows = [(self._deployment, int(kind), subject, to_text(body)) for subject, body in bodies.items()]
            self._db.executemany("insert into check_body values (?, ?, ?, ?)", rows)

    def _has_any(self, kind: CheckKind) -> bool:
        """Return False if no check result of this kind has a message, as usual; then no subjects are looked up."""
        found = self._db.execute(
            "select 1 from check_body where deployment = ? and kind = ? limit 1", (self._deployment, int(kind))
        )
        return found.fetchone() is not None

    def _these(self, kind: CheckKind, subjects: np.ndarray) -> tuple[int, int, str]:
        return self._deployment, int(kind), to_text(subjects.tolist())


def read_columns(db: Connection, deployment: int) -> dict[CheckKind, Column]:
    """Return {kind: results by subject}, without kinds that have no results.

    Raises: ValueError for a damaged column.
    """
    pages: dict[CheckKind, list[tuple[int, bytes, bytes, bytes]]] = {}
    for kind, *page in db.execute(
        "select kind, number, results, times, executions from check_page where deployment = ? order by number",
        (deployment,),
    ):
        pages.setdefault(CheckKind(kind), []).append(tuple(page))
    found = {}
    for known, held in pages.items():
        column = found[known] = empty_column((held[-1][0] + 1) * PAGE_ENTRIES)
        for number, results, times, executions in held:
            here = slice(number * PAGE_ENTRIES, (number + 1) * PAGE_ENTRIES)
            column.results[here] = np.frombuffer(results, np.uint8)
            column.times[here] = _unpacked(times)
            column.executions[here] = _unpacked(executions)
    return found


def read_book(db: Connection, deployment: int, *, only_results: bool) -> CheckResults:
    """Read all check results of a deployment; ``only_results`` leaves out the bodies."""
    if only_results:
        return CheckResults(HeldBodies(), read_columns(db, deployment))
    rows = db.execute("select kind, subject, body from check_body where deployment = ?", (deployment,))
    bodies = HeldBodies({(CheckKind(kind), subject): json.loads(body) for kind, subject, body in rows})
    return CheckResults(bodies, read_columns(db, deployment))


class ChecksWriter:
    """Writes the check results of turns. Caches the columns, which only the owner changes, until ``forget``."""

    def __init__(self) -> None:
        self._columns: dict[int, dict[CheckKind, Column]] = {}

    def forget(self) -> None:
        """Empty the cache, so that columns are read again when next needed."""
        self._columns.clear()

    def drop(self, deployment: int) -> None:
        """Remove a deleted deployment from the cache."""
        self._columns.pop(deployment, None)

    def write(self, db: Connection, entered: Sequence[StatesEntered], made: Sequence[NewCheckResults]) -> None:
        """Clear results that new states make invalid, then write new results."""
        books: dict[int, CheckResults] = {}
        for change in entered:
            if self._columns.get(change.deployment) == {}:
                continue  # of most deployments nothing was ever found: there is nothing to clear
            if clears(change.states) and len(change.subjects):
                self._book(db, books, change.deployment).enter(change.states, change.subjects)
        for results in made:
            self._book(db, books, results.deployment).record(results)
        for deployment, book in books.items():
            self._columns[deployment] = book.columns
            if book.touched:
                _write_touched(db, deployment, book)

    def _book(self, db: Connection, books: dict[int, CheckResults], deployment: int) -> CheckResults:
        if deployment not in books:
            columns = self._columns.get(deployment)
            if columns is None:
                columns = read_columns(db, deployment)
            books[deployment] = CheckResults(StoredBodies(db, deployment), columns)
        return books[deployment]


def _packed(page: np.ndarray) -> bytes:
    """Encode a page of times or executions; a page of equal values, as one call makes, is encoded once and cached."""
    first = page[0]
    return _constant(page.dtype.str, int(first)) if (page == first).all() else encode(page)


@lru_cache(maxsize=64)
def _unpacked(data: bytes) -> np.ndarray:
    """Decode a page of times or executions. The result is cached, so the caller must copy it."""
    return decode(data)


@lru_cache(maxsize=64)
def _constant(dtype: str, value: int) -> bytes:
    return encode(np.full(PAGE_ENTRIES, value, dtype))


def _write_touched(db: Connection, deployment: int, book: CheckResults) -> None:
    """Write the pages that contain a changed result."""
    rows = []
    for kind, changed in book.touched.items():
        column = book.columns[kind]
        pages = np.bincount(np.concatenate(changed) // PAGE_ENTRIES).nonzero()[0]
        for number in pages.tolist():
            here = slice(number * PAGE_ENTRIES, (number + 1) * PAGE_ENTRIES)
            told = column.results[here].tobytes(), _packed(column.times[here]), _packed(column.executions[here])
            rows.append((deployment, int(kind), number, *told))
    db.executemany(_WRITE_PAGE, rows)
