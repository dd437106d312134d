"""Removal of executions that ended long ago, in short transactions, so that an engine can work meanwhile.

The row, graphs and requests of an execution are deleted in one transaction, which also notes its numbers in the table
``remains``. Tables that may have millions of rows (statuses, notes, lines, batches) follow in pieces. If a purge is
killed, the next one deletes what is left.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.resources.active_paths import ActivePath, speaking
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows.maintenance import Purged
from phaseline.model.rows.rows import ONLY_SHARD
from phaseline.model.rows.shard_ids import last_id
from phaseline.store.codec.columns import decode, encode
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.schema import IS_OPEN
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql import resource_clusters as growing
from phaseline.store.sql.queries import PLACES, places_of, states
from phaseline.store.sql.turn_writer import places_row

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connect, Connection

EXECUTIONS_TOGETHER = 100
"""Number of executions that one transaction deletes."""
ROWS_TOGETHER = 5_000
"""Number of small rows that one transaction deletes."""
PAGES_TOGETHER = 500
"""Number of large rows that one transaction deletes."""
BATCHES_LOOKED_AT = 20_000
"""Number of batches that one transaction searches for members of deleted graphs."""
GIVE_WAY_S = 0.003
"""Pause in seconds between two transactions, so that a waiting engine can write its turn."""

_IS_INSTALL = "json_extract(request, '$.workflow') = 'install'"
_IS_REACH = f"json_extract(request, '$.workflow') = '{REACH_WORKFLOW}'"
_WAYS = f"""select number, json_extract(request, '$.parameters.target'), json_extract(request, '$.parameters.subjects')
    from execution
    where deployment = ? and {_IS_REACH}"""
_MAY_GO = f"""
    not (execution.{IS_OPEN}) and ended_at < ? and (? or deployment = ?) and (? or execution.tenant = ?)
    and not exists (select 1 from request where request.execution = execution.number and answered_at = 0)
    and not exists (select 1 from graph where graph.execution = execution.number
        and graph.id in (select value from json_each(?)))
    and (exists (select 1 from deployment where number = execution.deployment and deleted_at > 0)
        or number not in (
            select max(number) from execution where {_IS_INSTALL} group by deployment
            union all
            select max(number) from execution where {_IS_INSTALL} and status = 'completed' group by deployment))"""
_NEXT_BATCHES = "select max(id) from (select id from batch where id > ? order by id limit ?) as ids"
_MAY_LOSE_MEMBERS = f"""select id, kinds, {PLACES} from batch where id > ? and id <= ? and exists (
    select 1 from remains where kind = 'graph' and number between first_graph and last_graph)"""
_ONLY = "in (select value from json_each(?))"
_COUNTED = f"id <= {last_id(ONLY_SHARD)}"
"""Condition for ids of graphs and batches whose counters outlive them; other shards are not used."""

_PIECES: tuple[tuple[str, str, str, int], ...] = (
    ("log", "execution, sequence", "execution", ROWS_TOGETHER),
    ("event", "execution, sequence", "execution", ROWS_TOGETHER),
    ("note", "graph, position", "graph", ROWS_TOGETHER),
    ("page", "graph, number", "graph", PAGES_TOGETHER),
    ("document", "deployment, instance", "deployment", PAGES_TOGETHER),
    ("state_page", "deployment, number", "deployment", PAGES_TOGETHER),
    ("check_page", "deployment, kind, number", "deployment", PAGES_TOGETHER),
    ("check_body", "deployment, kind, subject", "deployment", ROWS_TOGETHER),
)
"""(table, its key, the column whose numbers ``remains`` lists under the kind of this name, rows in one transaction)"""


@frozen
class _Chosen:
    """Whose data a purge removes: of one deployment or all (None), and the rows of one tenant or all."""

    deployment: int | None
    rows: TenantRows

    @property
    def values(self) -> tuple[object, ...]:
        """The values of the condition ``(? or deployment = ?) and (? or tenant = ?)``."""
        deployment, tenant = self.deployment, self.rows.tenant
        return deployment is None, deployment or 0, tenant is None, tenant or ""


def purge(transaction: Connect, before: int, deployment: int | None, rows: TenantRows = ALL) -> Purged:
    """Remove executions that ended before the time ``before``, of one deployment or all; return the counts."""
    removed, wanted = Purged(), _Chosen(deployment, rows)
    with transaction() as db:
        found = db.execute(
            f"select number from execution where {_MAY_GO} order by number",
            _conditions(db, before, wanted),
        ).fetchall()
        kept = _still_speaking(db, wanted)
    numbers = iter([number for (number,) in found if number not in kept])
    while chosen := list(islice(numbers, EXECUTIONS_TOGETHER)):
        with transaction() as db:
            removed += _forget_executions(db, chosen, before, wanted)
        time.sleep(GIVE_WAY_S)
    with transaction() as db:
        removed += _forget_deployments(db, before, wanted)
        _forget_plans(db, before, wanted)
        if deployment is None:
            removed += Purged(requests=_forget_requests(db, before, rows))
    return removed + _sweep(transaction)


def _conditions(db: Connection, before: int, wanted: _Chosen) -> tuple[object, ...]:
    """Return the values of ``_MAY_GO``."""
    return before, *wanted.values, _graphs_called(db)


def _still_speaking(db: Connection, wanted: _Chosen) -> set[int]:
    """Return executions that failed to bring resources to a target, if the resources got no other target since.

    A purge keeps these executions, because a retry needs them.
    """
    failed = db.execute(
        f"""select execution.deployment, execution.number from execution
        join deployment on deployment.number = execution.deployment
        where deleted_at = 0 and status = 'failed' and {_IS_REACH}
        and (? or execution.deployment = ?) and (? or execution.tenant = ?)""",
        wanted.values,
    ).fetchall()
    found: set[int] = set()
    for owner in {owner for owner, _ in failed}:
        ways = [
            ActivePath(number, target, json.loads(ranges)) for number, target, ranges in db.execute(_WAYS, (owner,))
        ]
        found |= speaking(ways, states(db, owner), growing.state_names(db, owner))
    return found & {number for _, number in failed}


def _forget_executions(db: Connection, chosen: Sequence[int], before: int, wanted: _Chosen) -> Purged:
    """Delete the chosen executions, except those that were requested to continue since they were chosen."""
    told = (to_text(chosen), *_conditions(db, before, wanted))
    found = db.execute(f"select number from execution where number {_ONLY} and {_MAY_GO}", told).fetchall()
    going = to_text([number for (number,) in found])
    db.execute(
        f"""update store set
        purged_graph = (select max(id) from (select id from graph where execution {_ONLY} and {_COUNTED}
            union all select purged_graph) as ids),
        purged_batch = (select max(id) from (select id from batch where {_COUNTED}
            union all select purged_batch) as ids)""",
        (going,),
    )
    db.execute(f"insert into remains select 'execution', number from execution where number {_ONLY}", (going,))
    db.execute(f"insert into remains select 'graph', id from graph where execution {_ONLY}", (going,))
    graphs = db.execute(f"delete from graph where execution {_ONLY}", (going,)).rowcount
    requests = db.execute(f"delete from request where execution {_ONLY}", (going,)).rowcount
    db.execute(f"delete from plan where execution {_ONLY}", (going,))
    db.execute(f"delete from around where execution {_ONLY}", (going,))
    executions = db.execute(f"delete from execution where number {_ONLY}", (going,)).rowcount
    return Purged(executions=executions, graphs=graphs, requests=requests)


def _graphs_called(db: Connection) -> str:
    """Return the ids of all graphs with members in an open batch, as JSON."""
    rows = db.execute(f"select {PLACES} from batch where closed_at = 0")
    return to_text(sorted({graph for row in rows for graph in places_of(row).graphs}))


def _forget_deployments(db: Connection, before: int, wanted: _Chosen) -> Purged:
    """Delete the deployments that were marked as deleted and have no executions any more."""
    found = db.execute(
        """select number from deployment where deleted_at > 0 and deleted_at < ? and (? or number = ?)
        and (? or tenant = ?) and number not in (select deployment from execution)""",
        (before, *wanted.values),
    ).fetchall()
    going = to_text([number for (number,) in found])
    db.execute(f"insert into remains select 'deployment', number from deployment where number {_ONLY}", (going,))
    for table in (
        "blueprint",
        "topology",
        "state_name",
        "blueprint_use",
        "package_use",
        "plan",
        "label",
        "hook_switch",
    ):
        db.execute(f"delete from {table} where deployment {_ONLY}", (going,))
    return Purged(deployments=db.execute(f"delete from deployment where number {_ONLY}", (going,)).rowcount)


def _forget_plans(db: Connection, before: int, wanted: _Chosen) -> None:
    """Delete the plans that were made before the time ``before`` and never applied."""
    where = "execution = 0 and created_at < ? and (? or deployment = ?) and (? or tenant = ?)"
    db.execute(f"delete from plan where {where}", (before, *wanted.values))


def _forget_requests(db: Connection, before: int, rows: TenantRows) -> int:
    """Delete the answered requests that concern no execution. Return their number."""
    where, values = rows.where("execution = 0 and answered_at > 0 and answered_at < ?", before)
    return db.execute(f"delete from request where {where}", values).rowcount


def _sweep(transaction: Connect) -> Purged:
    """Delete the rows of all numbers noted in ``remains``, in pieces."""
    with transaction() as db:
        noted = db.execute("select kind, number from remains").fetchall()
    if not noted:
        return Purged()
    counts = {table: sum(_pieces(transaction, table, key, kind, limit)) for table, key, kind, limit in _PIECES}
    batches = sum(_batches(transaction))
    with transaction() as db:
        db.executemany("delete from remains where kind = ? and number = ?", noted)
    return Purged(logs=counts["log"], events=counts["event"], batches=batches)


def _pieces(transaction: Connect, table: str, key: str, kind: str, limit: int) -> Iterator[int]:
    """Yield the number of rows that each transaction deletes from the table."""
    statement = f"""delete from {table} where ({key}) in (
        select {", ".join(f"{table}.{name}" for name in key.split(", "))}
        from remains cross join {table} on {table}.{kind} = remains.number where remains.kind = ? limit ?)"""
    while True:
        with transaction() as db:
            removed = db.execute(statement, (kind, limit)).rowcount
        yield removed
        if removed < limit:
            return
        time.sleep(GIVE_WAY_S)


def _batches(transaction: Connect) -> Iterator[int]:
    """Remove members of deleted graphs from batches, and delete batches without other members.

    Yield the number of batches that each transaction deletes.
    """
    latest = 0
    while True:
        with transaction() as db:
            found = db.execute(_NEXT_BATCHES, (latest, BATCHES_LOOKED_AT)).fetchone()
            if found[0] is None:
                return
            first, latest = latest, found[0]
            gone = {number for (number,) in db.execute("select number from remains where kind = 'graph'")}
            rows = db.execute(_MAY_LOSE_MEMBERS, (first, latest)).fetchall()
            empty = [row[0] for row in rows if gone.issuperset(places_of(row[2:]).graphs)]
            for batch, kinds, *row in rows:
                if batch not in empty:
                    _leave(db, batch, kinds, places_of(row), gone)
            yield db.execute(f"delete from batch where id {_ONLY}", (to_text(empty),)).rowcount
        time.sleep(GIVE_WAY_S)


def _leave(db: Connection, batch: int, kinds: bytes | None, places: MemberPositions, gone: set[int]) -> None:
    """Remove the members of deleted graphs, with their outcomes, from a batch that keeps other members."""
    parts = list(places.parts())
    staying = MemberPositions.of([(graph, positions) for graph, positions in parts if graph not in gone])
    if len(staying.graphs) == len(parts):
        return
    stays = np.concatenate([np.full(len(positions), graph not in gone) for graph, positions in parts])
    answers = None if kinds is None else encode(decode(kinds)[stays])
    db.execute(
        "update batch set kinds = ?, first_graph = ?, last_graph = ?, positions = ?, graphs = ?, ends = ? where id = ?",
        (answers, *places_row(staying), batch),
    )
