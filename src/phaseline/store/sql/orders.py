"""Orders with request ids, in SQLite (ADR 0032).

An order is stored in the transaction that carries it out, so a repeated order is found and not carried out again.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from phaseline.model.rows.orders import MOST_ORDERS, GivenBeforeError, GivenOrder
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.tenant_rows import ALL, TenantRows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import Actor
    from phaseline.store.database.connection import Connection

Counters = tuple[int, int]
"""(number of the last execution, number of the last request)"""
_ORDER = """select id, digest, at, requests, executions, answer from given_order
    where tenant = ? and actor = ? and id = ? and at >= ?"""


class SqliteOrders:
    """The ``model.rows.orders.OrderShelf`` of a store in a file."""

    def __init__(self, reading: Callable[[], AbstractContextManager[Connection]], rows: TenantRows = ALL) -> None:
        """``reading`` begins a transaction that reads."""
        self._reading = reading
        self._rows = rows

    def find(self, actor: Actor, id: str, since: int = 0) -> GivenOrder | None:
        """Return the order that this user gave under a request id, or None."""
        with self._reading() as db:
            return _find(db, self._rows.by(actor), id, since)

    def count(self) -> int:
        """Return the number of stored orders."""
        with self._reading() as db:
            where, values = self._rows.where("true")
            return int(db.execute(f"select count(*) from given_order where {where}", values).fetchone()[0])


def begin(db: Connection, order: NewOrder) -> Counters:
    """Begin an order in the caller's transaction; return the last execution and request numbers before it.

    Raises: ``GivenBeforeError`` if the order is already stored.
    """
    found = _find(db, order.actor, order.id, order.keeps_from)
    if found is not None:
        raise GivenBeforeError(found)
    tenant = order.actor.tenant
    db.execute("delete from given_order where at < ? and tenant = ?", (order.keeps_from, tenant))
    last = """delete from given_order where tenant = ? and at <= (
        select at from given_order where tenant = ? order by at desc limit 1 offset ?)"""
    db.execute(last, (tenant, tenant, MOST_ORDERS - 1))
    return _counters(db)


def add(db: Connection, order: NewOrder, before: Counters) -> None:
    """Store the row of an order, with all executions and requests created since ``begin``.

    No other process writes between ``begin`` and ``add``, because both are in one transaction.
    """
    executions = db.execute("select id from execution where number > ? order by number", (before[0],))
    requests = db.execute("select number from request where number > ? order by number", (before[1],))
    values = (
        order.actor.tenant,
        order.actor.name,
        order.id,
        order.digest,
        order.at,
        to_text([number for (number,) in requests.fetchall()]),
        to_text([id for (id,) in executions.fetchall()]),
        zlib.compress(to_text(order.answer).encode()),
    )
    db.execute(f"insert into given_order values (?{', ?' * (len(values) - 1)})", values)


def forget_unknown(db: Connection) -> None:
    """Remove orders that name requests or executions which do not exist any more, because a restored store is older."""
    executions, requests = _counters(db)
    for tenant, actor, id, asked, made in _references(db):
        numbers = [int(one.rpartition("-")[2]) for one in json.loads(made)]
        if max(json.loads(asked), default=0) > requests or max(numbers, default=0) > executions:
            db.execute("delete from given_order where tenant = ? and actor = ? and id = ?", (tenant, actor, id))


def renumber(db: Connection, numbers: Mapping[int, int]) -> None:
    """Replace the request numbers in stored orders, {old number: new number}."""
    if not numbers:
        return
    for tenant, actor, id, asked, _ in _references(db):
        old = json.loads(asked)
        new = [numbers.get(number, number) for number in old]
        if new != old:
            changed = "update given_order set requests = ? where tenant = ? and actor = ? and id = ?"
            db.execute(changed, (to_text(new), tenant, actor, id))


def _references(db: Connection) -> list[tuple[str, str, str, str, str]]:
    return db.execute("select tenant, actor, id, requests, executions from given_order").fetchall()


def _counters(db: Connection) -> Counters:
    return db.last_number("execution"), db.last_number("request")


def _find(db: Connection, actor: Actor, id: str, since: int) -> GivenOrder | None:
    row = db.execute(_ORDER, (actor.tenant, actor.name, id, since)).fetchone()
    if row is None:
        return None
    answer: dict[str, Value] = json.loads(zlib.decompress(row[5]))
    return GivenOrder(row[0], row[1], row[2], tuple(json.loads(row[3])), tuple(json.loads(row[4])), answer)
