"""Incarnations of a store: a restore begins a new one, and so does the detection of a copied file (BK4, BK5).

Executions that were open then wait until an operator continues them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from phaseline.model.rows.rows import RequestKind
from phaseline.store.sql import queries as reads
from phaseline.store.sql import requests as asking
from phaseline.store.sql.schema import IS_OPEN

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from phaseline.model.rows.incarnations import Incarnation
    from phaseline.model.rows.rows import Actor, ExecutionRow
    from phaseline.store.sqlite.connections import ReadSnapshot, Transaction

NAME_BYTES = 4
_GONE = ", ".join(f"'{kind.value}'" for kind in (RequestKind.STOP, RequestKind.RELOAD))
"""SQL list of the kinds of requests to an engine that a restore deletes, because that engine no longer exists."""


class SqliteIncarnations:
    """The ``ports.store.IncarnationShelf`` of a store in a file."""

    def __init__(self, reading: Callable[[], ReadSnapshot], writing: Callable[[], Transaction]) -> None:
        """``reading`` and ``writing`` are the store's methods that begin transactions."""
        self._reading, self._writing = reading, writing

    def all(self) -> Sequence[Incarnation]:
        """Return the incarnations after the first one, oldest first."""
        from phaseline.model.rows.incarnations import Incarnation  # few stores have any

        with self._reading() as db:
            rows = db.execute(
                "select number, name, at, cause, first_graph, first_batch from incarnation order by number"
            )
            return [Incarnation(*row) for row in rows]

    def held(self) -> int:
        """Return the highest number of an execution that waits since a restore; 0 if none waits."""
        with self._reading() as db:
            return int(db.execute("select held from store").fetchone()[0])

    def go_on(self, actor: Actor, now: int) -> Sequence[ExecutionRow]:
        """Store a request to start each execution that waits since a restore; return these executions, oldest first."""
        with self._writing() as db:
            last, last_request = db.execute("select held, held_request from store").fetchone()
            rows = [row for row in reads.executions(db, only_open=True) if row.number <= last]
            db.execute("update store set held = 0, held_request = 0")
            for row in rows:
                asking.add_request(db, RequestKind.START, row.number, {"id": row.id}, actor, now)
            _renew_requests(db, last_request)
            return rows


def begin_another(db: sqlite3.Connection, cause: str, now: int, epoch: int = 0) -> int:
    """Begin a new incarnation in the caller's transaction. Return how many open executions wait from now on.

    ``epoch``: raise the store's epoch to at least this number, so that it is not taken for an older state again.
    """
    first_graph, first_batch = reads.counters(db)
    name = os.urandom(NAME_BYTES).hex()
    added = "insert into incarnation (name, at, cause, first_graph, first_batch) values (?, ?, ?, ?, ?)"
    db.execute(added, (name, now, cause, first_graph, first_batch))
    db.execute(f"delete from request where answered_at = 0 and kind in ({_GONE})")
    db.execute("update store set epoch = max(epoch, ?)", (epoch,))
    from phaseline.store.sql import orders

    orders.forget_unknown(db)
    (count,) = db.execute(f"select count(*) from execution where {IS_OPEN}").fetchone()
    (asked,) = db.execute("select coalesce(max(number), 0) from request where answered_at = 0").fetchone()
    if count or asked:
        db.execute(
            "update store set held = (select coalesce(max(number), 0) from execution), held_request = ?", (asked,)
        )
    return int(count)


def _renew_requests(db: sqlite3.Connection, last: int) -> None:
    """Give requests from before the restore new numbers, because a running engine reads only higher numbers."""
    asked = db.execute("select number from request where answered_at = 0 and number <= ? order by number", (last,))
    numbers = {}
    for (number,) in asked.fetchall():
        (highest,) = db.execute("select seq from sqlite_sequence where name = 'request'").fetchone()
        db.execute("update request set number = ? where number = ?", (highest + 1, number))
        db.execute("update sqlite_sequence set seq = ? where name = 'request'", (highest + 1,))
        numbers[number] = highest + 1
    if numbers:
        from phaseline.store.sql import orders

        orders.renumber(db, numbers)
