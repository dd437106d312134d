"""Filling of the tables that lists read, after an upgrade of a store that has none of them yet (ADR 0051).

Each function does the next part of its work in the caller's transaction, in the order of numbers, and returns the number
up to which everything is filled then. What is not filled is read from the tables whose data these repeat.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.store.codec.columns import decode
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql.read_model import changes, summaries
from phaseline.store.sql.read_model.instance_columns import UNREADABLE
from phaseline.store.sql.read_model.one_statement import CHOSEN, OUT_OF_DATE

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection
    from phaseline.store.sql.read_model.changes import NodeRow

INSTANCES_TOGETHER = 200_000
"""Number of instances from which on a part takes no further deployment: the size of a part is found by small ones."""

_NEXT_DEPLOYMENTS = """select number, tenant, instance_count, deleted_at from deployment
    where number > ? and number <= ? order by number limit ?"""
_NEXT_EXECUTIONS = """select tenant, max(number), count(*) from (select number, tenant from execution
    where number > ? and number <= ? order by number limit ?) as found group by tenant"""
_COUNT = """insert into tenant (name, execution_count) values (?, ?)
    on conflict (name) do update set execution_count = tenant.execution_count + excluded.execution_count"""
_TOPOLOGIES = f"select deployment, nodes, node, ids from topology where deployment {CHOSEN}"


def fill_deployments(db: Connection, after: int, last: int, count: int) -> int:
    """Fill ``deployment_summary`` and ``deployment_node`` of at most ``count`` deployments above the number ``after``.

    Return the number of the last one; ``last`` if no deployment is left.
    """
    rows = db.execute(_NEXT_DEPLOYMENTS, (after, last, count)).fetchall()
    some = _that_fit(rows)
    living = {number: tenant for number, tenant, _, deleted_at in some if not deleted_at}
    if living:
        nodes = rows_of_topologies(db, living)
        changes.drop_nodes(db, living)  # those of a topology that was replaced since the upgrade
        changes.put_nodes(db, [row for found in nodes.values() for row in found])
        at_rest = summaries.rows_at_rest(db, sorted(living))
        summaries.put(db, [*at_rest, *_busy_rows(living.keys() - {row[0] for row in at_rest}, nodes)])
    return int(some[-1][0]) if len(some) < len(rows) or len(rows) == count else last


def _that_fit(rows: Sequence[Any]) -> Sequence[Any]:
    """Return the first rows up to the one with which they have ``INSTANCES_TOGETHER``."""
    total = 0
    for place, (_, _, instances, deleted_at) in enumerate(rows, 1):
        total += 0 if deleted_at else instances
        if total >= INSTANCES_TOGETHER:
            return rows[:place]
    return rows


def _busy_rows(deployments: set[int], nodes: Mapping[int, Sequence[NodeRow]]) -> list[summaries.SummaryRow]:
    """Return rows for deployments with open executions: only the number of instances is read of them."""
    counts = {number: sum(row[3] for row in rows) for number, rows in nodes.items()}
    return [(number, 0, OUT_OF_DATE, "{}", counts.get(number, summaries.UNKNOWN), 0) for number in sorted(deployments)]


def rows_of_topologies(db: Connection, tenants: Mapping[int, str]) -> dict[int, list[NodeRow]]:
    """Return {deployment: its rows of ``deployment_node`` by its topology}, without unreadable ones.

    ``tenants``: {deployment: its tenant}.
    """
    found: dict[int, list[NodeRow]] = {}
    for number, *row in db.execute(_TOPOLOGIES, (to_text(sorted(tenants)),)):
        with suppress(*UNREADABLE):
            found[number] = _rows_of_topology(number, tenants[number], row)
    return found


def _rows_of_topology(deployment: int, tenant: str, row: Sequence[Any]) -> list[NodeRow]:
    nodes, node, ids = row
    told, numbers = json.loads(nodes), decode(node)
    there = np.ones(len(numbers), bool)
    there[told.get("gone", [])] = False
    names = told["names"]
    counts = np.bincount(numbers[there], minlength=len(names)).tolist()
    return changes.node_rows(deployment, tenant, names, counts, ids)


def count_executions(db: Connection, after: int, last: int, count: int) -> int:
    """Add at most ``count`` executions above the number ``after`` to the table ``tenant``.

    Return the number of the last one; ``last`` if no execution is left.
    """
    found = db.execute(_NEXT_EXECUTIONS, (after, last, count)).fetchall()
    db.executemany(_COUNT, [(tenant, counted) for tenant, _, counted in found])
    is_over = sum(counted for _, _, counted in found) < count
    return last if is_over else max(int(number) for _, number, _ in found)
