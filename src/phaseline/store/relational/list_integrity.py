"""Integrity of the tables that lists read: they must agree with the tables whose data they repeat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from phaseline.model.rows.maintenance import StoreFinding
from phaseline.store.codec.json_documents import to_text
from phaseline.store.sql.read_model import summaries
from phaseline.store.sql.read_model.filling import rows_of_topologies
from phaseline.store.sql.read_model.one_statement import CHOSEN, COUNTED, OUT_OF_DATE, UNFILLED, UNREADABLE_ROW

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection
    from phaseline.store.sql.read_model.changes import NodeRow

COMPARED_TOGETHER = 500
"""Number of deployments whose instances are in memory at the same time."""

RULES: tuple[tuple[str, str, str], ...] = (
    (
        "tenant",
        "count other executions than there are",
        f"""select name from (
            select tenant as name, count(*) as present, 0 as counted from execution where {COUNTED} group by tenant
            union all select name, 0, execution_count from tenant) as counts
            group by name having sum(present) <> sum(counted)""",
    ),
    (
        "deployment_summary",
        "belong to no deployment",
        "select deployment from deployment_summary where deployment not in (select number from deployment where deleted_at = 0)",
    ),
    (
        "deployment_node",
        "belong to no deployment",
        "select deployment from deployment_node where deployment not in (select number from deployment where deleted_at = 0)",
    ),
    (
        "deployment",
        "have no summary",
        f"""select name from deployment where deleted_at = 0 and number not in (select deployment from deployment_summary)
        and number not in ({UNFILLED})""",
    ),
)
"""(table, what is wrong with the rows found, SQL statement that finds them)"""


def contradictions(db: Connection, failure: type[Exception]) -> Iterator[StoreFinding]:
    """Yield a finding for summaries and nodes of deployments that differ from their instances and executions.

    Deployments that cannot be read are left out: that is found elsewhere. So are those that an upgrade has left to be
    filled, which is no fault. ``failure``: the error of the database for
    what it cannot read.
    """
    try:
        living = db.execute(
            f"""select number, tenant, name from deployment where deleted_at = 0 and number not in ({UNFILLED})
            order by number"""
        ).fetchall()
        for table, names in (
            ("deployment_summary", _wrong_summaries(db, [(number, name) for number, _, name in living])),
            ("deployment_node", _wrong_nodes(db, living)),
        ):
            found = list(names)
            if found:
                what = "differ from the stored instances and executions"
                yield StoreFinding(table, f"{len(found)} {what} (one is of '{found[0]}')", len(found))
    except failure as error:
        yield StoreFinding("deployment_summary", f"cannot be read: {error}")


def _wrong_summaries(db: Connection, living: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Yield the names of deployments at rest whose summary, if it is not out of date, is wrong."""
    left = iter(living)
    while some := dict(islice(left, COMPARED_TOGETHER)):
        stored = {row[0]: row for row in db.execute(_SUMMARIES, (to_text(list(some)),))}
        for row in summaries.rows_at_rest(db, list(some)):
            kept = stored.get(row[0])
            is_read = kept is not None and kept[2] not in {OUT_OF_DATE, UNREADABLE_ROW}
            if is_read and row[2] != UNREADABLE_ROW and kept != row:
                yield some[row[0]]


_SUMMARIES = f"""select deployment, latest, status, states, instances, is_calm from deployment_summary
    where deployment {CHOSEN}"""


def _wrong_nodes(db: Connection, living: Iterable[tuple[int, str, str]]) -> Iterator[str]:
    """Yield the names of deployments whose nodes are not those of their topology."""
    left = iter(living)
    while some := {number: (tenant, name) for number, tenant, name in islice(left, COMPARED_TOGETHER)}:
        stored: dict[int, list[NodeRow]] = {}
        for row in db.execute(_NODES, (to_text(list(some)),)):
            stored.setdefault(row[2], []).append(tuple(row))
        found = rows_of_topologies(db, {number: tenant for number, (tenant, _) in some.items()})
        for number, rows in found.items():
            if sorted(rows) != sorted(stored.get(number, ())):
                yield some[number][1]


_NODES = f"select tenant, node, deployment, instances from deployment_node where deployment {CHOSEN}"
