"""Removes executions that ended long ago, in short transactions, so that an engine at work goes on.

What makes an execution known (its row, its graphs, its requests) goes at once, with its numbers noted as ``remains``.
Rows that may be millions (statuses, notes, lines, batches) follow in pieces; a purge that dies leaves them to the next.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice

import numpy as np

from phaseline.model.resources import REACH
from phaseline.model.upkeep import Purged
from phaseline.model.ways import Way, speaking
from phaseline.store import growing
from phaseline.store.columns import decode, encode
from phaseline.store.documents import to_text
from phaseline.store.schema import IS_OPEN
from phaseline.store.turns import read_states

EXECUTIONS_TOGETHER = 100
"""Executions that one transaction removes."""
ROWS_TOGETHER = 5_000
"""Small rows that one transaction removes."""
PAGES_TOGETHER = 500
"""Large rows that one transaction removes."""
GIVE_WAY_S = 0.003
"""Between two transactions, so that whoever waits for a turn gets it."""

Transaction = Callable[[], AbstractContextManager[sqlite3.Connection]]

_IS_INSTALL = "json_extract(request, '$.workflow') = 'install'"
_IS_REACH = f"json_extract(request, '$.workflow') = '{REACH}'"
_WAYS = f"""select number, json_extract(request, '$.parameters.target'), json_extract(request, '$.parameters.subjects')
    from execution
    where deployment = ? and {_IS_REACH}"""
_MAY_GO = f"""
    not (execution.{IS_OPEN}) and ended_at < :before and (:deployment is null or deployment = :deployment)
    and not exists (select 1 from request where request.execution = execution.number and answered_at = 0)
    and not exists (select 1 from segment join batch on batch.id = segment.batch
        where segment.execution = execution.number and batch.closed_at = 0)
    and (exists (select 1 from deployment where number = execution.deployment and deleted_at > 0)
        or number not in (
            select max(number) from execution where {_IS_INSTALL} group by deployment
            union all
            select max(number) from execution where {_IS_INSTALL} and status = 'completed' group by deployment))"""
_ONLY = "in (select value from json_each(?))"

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
"""(table, its key, the kind of remains it belongs to, how many rows go together)"""


def purge(transaction: Transaction, before: int, deployment: int | None) -> Purged:
    """Remove what ended before this time, of one deployment or of all; how much it was."""
    removed = Purged()
    with transaction() as db:
        found = db.execute(
            f"select number from execution where {_MAY_GO} order by number",
            {"before": before, "deployment": deployment},
        ).fetchall()
        kept = _still_speaking(db, deployment)
    numbers = iter([number for (number,) in found if number not in kept])
    while chosen := list(islice(numbers, EXECUTIONS_TOGETHER)):
        with transaction() as db:
            removed += _forget_executions(db, chosen, before, deployment)
        time.sleep(GIVE_WAY_S)
    with transaction() as db:
        removed += _forget_deployments(db, before, deployment)
        _forget_plans(db, before, deployment)
        if deployment is None:
            removed += Purged(requests=_forget_requests(db, before))
    return removed + _sweep(transaction)


def _still_speaking(db: sqlite3.Connection, deployment: int | None) -> set[int]:
    """Executions that failed to bring resources to a target which nobody has given another one: a retry needs them."""
    failed = db.execute(
        f"""select execution.deployment, execution.number from execution
        join deployment on deployment.number = execution.deployment
        where deleted_at = 0 and status = 'failed' and {_IS_REACH}
        and (:deployment is null or execution.deployment = :deployment)""",
        {"deployment": deployment},
    ).fetchall()
    found: set[int] = set()
    for owner in {owner for owner, _ in failed}:
        ways = [Way(number, target, json.loads(ranges)) for number, target, ranges in db.execute(_WAYS, (owner,))]
        found |= speaking(ways, read_states(db, owner), growing.state_names(db, owner))
    return found & {number for _, number in failed}


def _forget_executions(db: sqlite3.Connection, chosen: Sequence[int], before: int, deployment: int | None) -> Purged:
    """Of the chosen ones those that still may go: somebody may have asked for one meanwhile."""
    which = "number in (select value from json_each(:numbers))"
    told = {"numbers": to_text(chosen), "before": before, "deployment": deployment}
    found = db.execute(f"select number from execution where {which} and {_MAY_GO}", told).fetchall()
    going = to_text([number for (number,) in found])
    _leave_shared_batches(db, going)
    db.execute(
        f"""update store set
        purged_graph = max(purged_graph, coalesce((select max(id) from graph where execution {_ONLY}), 0)),
        purged_batch = max(purged_batch, coalesce((select max(batch) from segment where execution {_ONLY}), 0))""",
        (going, going),
    )
    db.execute(f"insert into remains select 'execution', number from execution where number {_ONLY}", (going,))
    db.execute(f"insert into remains select 'graph', id from graph where execution {_ONLY}", (going,))
    graphs = db.execute(f"delete from graph where execution {_ONLY}", (going,)).rowcount
    requests = db.execute(f"delete from request where execution {_ONLY}", (going,)).rowcount
    db.execute(f"delete from plan where execution {_ONLY}", (going,))
    db.execute(f"delete from around where execution {_ONLY}", (going,))
    executions = db.execute(f"delete from execution where number {_ONLY}", (going,)).rowcount
    return Purged(executions=executions, graphs=graphs, requests=requests)


def _leave_shared_batches(db: sqlite3.Connection, going: str) -> None:
    """Take the segments of those that go out of batches in which others stay, and their answers with them."""
    shared = db.execute(
        f"""select distinct batch from segment where execution {_ONLY}
        and batch in (select batch from segment where execution not {_ONLY})""",
        (going, going),
    ).fetchall()
    for (batch,) in shared:
        (kinds,) = db.execute("select kinds from batch where id = ?", (batch,)).fetchone()
        segments = db.execute(
            f"select positions, execution {_ONLY} from segment where batch = ? order by place", (going, batch)
        ).fetchall()
        if kinds is not None:
            stays = np.concatenate([np.full(len(decode(positions)), not goes) for positions, goes in segments])
            db.execute("update batch set kinds = ? where id = ?", (encode(decode(kinds)[stays]), batch))
        db.execute(f"delete from segment where batch = ? and execution {_ONLY}", (batch, going))


def _forget_deployments(db: sqlite3.Connection, before: int, deployment: int | None) -> Purged:
    """Deleted ones of which no execution is left."""
    found = db.execute(
        """select number from deployment where deleted_at > 0 and deleted_at < :before
        and (:deployment is null or number = :deployment)
        and number not in (select deployment from execution)""",
        {"before": before, "deployment": deployment},
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


def _forget_plans(db: sqlite3.Connection, before: int, deployment: int | None) -> None:
    """Those that nobody has applied for so long."""
    where = "execution = 0 and created_at < ? and (? is null or deployment = ?)"
    db.execute(f"delete from plan where {where}", (before, deployment, deployment))


def _forget_requests(db: sqlite3.Connection, before: int) -> int:
    """Answered ones that concern no execution."""
    where = "execution = 0 and answered_at > 0 and answered_at < ?"
    return db.execute(f"delete from request where {where}", (before,)).rowcount


def _sweep(transaction: Transaction) -> Purged:
    """Remove the rows of everything that is noted as remains, in pieces."""
    with transaction() as db:
        noted = db.execute("select kind, number from remains").fetchall()
    if not noted:
        return Purged()
    counts = {table: sum(_pieces(transaction, table, key, kind, limit)) for table, key, kind, limit in _PIECES}
    batches = sum(_batches(transaction))
    with transaction() as db:
        db.executemany("delete from remains where kind = ? and number = ?", noted)
    return Purged(logs=counts["log"], events=counts["event"], batches=batches)


def _pieces(transaction: Transaction, table: str, key: str, kind: str, limit: int) -> Iterator[int]:
    """How many rows of the table each transaction removed."""
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


def _batches(transaction: Transaction) -> Iterator[int]:
    """How many batches each transaction removed; none of them is shared with an execution that stays."""
    while True:
        with transaction() as db:
            found = db.execute(
                """select distinct batch from remains cross join segment on segment.execution = remains.number
                where remains.kind = 'execution' limit ?""",
                (ROWS_TOGETHER,),
            ).fetchall()
            going = to_text([batch for (batch,) in found])
            db.execute(f"delete from segment where batch {_ONLY}", (going,))
            yield db.execute(f"delete from batch where id {_ONLY}", (going,)).rowcount
        if len(found) < ROWS_TOGETHER:
            return
        time.sleep(GIVE_WAY_S)
