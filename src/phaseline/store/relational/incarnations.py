"""Incarnations of a store: a restore begins a new one, and so does the detection of a copied file (BK4, BK5).

Executions that were open then wait until an operator continues them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from phaseline.model.rows.rows import Actor, RequestKind
from phaseline.store.database.schema import IS_OPEN
from phaseline.store.sql import deployments as writes
from phaseline.store.sql import queries as reads
from phaseline.store.sql import requests as asking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.rows.incarnations import Incarnation
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.store.database.connection import Connect, Connection

NAME_BYTES = 4
_GONE = ", ".join(f"'{kind.value}'" for kind in (RequestKind.STOP, RequestKind.RELOAD))
"""SQL list of the kinds of requests to an engine that a restore deletes, because that engine no longer exists."""


_COPIED = "at, actor, tenant, kind, execution, body, answered_at, answer"
"""Columns of a request besides its number."""


class SqlIncarnations:
    """The ``ports.store.IncarnationShelf`` of a store on a database."""

    def __init__(self, reading: Connect, writing: Connect) -> None:
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
                asking.add_request(
                    db, RequestKind.START, row.number, {"id": row.id}, Actor(actor.name, row.tenant), now
                )
            _renew_requests(db, last_request)
            return rows


def begin_another(db: Connection, cause: str, now: int, epoch: int = 0) -> int:
    """Begin a new incarnation in the caller's transaction. Return how many open executions wait from now on.

    ``epoch``: raise the store's epoch to at least this number, so that it is not taken for an older state again.
    """
    first_graph, first_batch = writes.counters(db)
    name = os.urandom(NAME_BYTES).hex()
    added = """insert into incarnation (number, name, at, cause, first_graph, first_batch)
        values ((select 1 + coalesce(max(number), 0) from incarnation), ?, ?, ?, ?, ?)"""
    db.execute(added, (name, now, cause, first_graph, first_batch))
    db.execute(f"delete from request where answered_at = 0 and kind in ({_GONE})")
    db.execute("update store set epoch = ? where epoch < ?", (epoch, epoch))
    from phaseline.store.sql import orders

    orders.forget_unknown(db)
    (count,) = db.execute(f"select count(*) from execution where {IS_OPEN}").fetchone()
    (asked,) = db.execute("select coalesce(max(number), 0) from request where answered_at = 0").fetchone()
    if count or asked:
        db.execute(
            "update store set held = (select coalesce(max(number), 0) from execution), held_request = ?", (asked,)
        )
    return int(count)


def _renew_requests(db: Connection, last: int) -> None:
    """Give requests from before the restore new numbers, because a running engine reads only higher numbers."""
    asked = db.execute("select number from request where answered_at = 0 and number <= ? order by number", (last,))
    again = f"""insert into request ({_COPIED}) select {_COPIED} from request where number = ? returning number"""
    numbers = {}
    for (number,) in asked.fetchall():
        (numbers[number],) = db.execute(again, (number,)).fetchone()
        db.execute("delete from request where number = ?", (number,))
    if numbers:
        from phaseline.store.sql import orders

        orders.renumber(db, numbers)
