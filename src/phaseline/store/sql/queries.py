"""All queries of a store, in the caller's transaction.

Raises: LookupError for a row that never existed, ValueError for a value that cannot be decoded.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.model.blueprint.blueprint import Blueprint, Value
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.topology import Topology
from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.model.rows.rows import (
    IDS_OF_A_SHARD,
    ONLY_SHARD,
    BatchRow,
    DeploymentRow,
    EntryStatuses,
    EventRow,
    ExecutionRow,
    GraphRow,
    LaneStatistics,
    LogLine,
    NoteRow,
)
from phaseline.store.codec import graphs as graph_rows
from phaseline.store.codec import requests, topologies
from phaseline.store.codec.columns import decode, from_pages, states_from
from phaseline.store.codec.json_documents import EMPTY, to_text
from phaseline.store.database import schema
from phaseline.store.sql.read_model.one_statement import Part, Row, select_together

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

_DEPLOYMENT = """deployment.number, deployment.name, blueprint_file, description, blueprint_folder, plugin_folders,
    created_at, created_by, instance_count, kind, imported"""
_DEPLOYMENT_KINDS = "itttttititt"
_EXECUTION = """execution.number, id, deployment, name, request, status, reason, attempt, execution.created_at,
    started_at, ended_at, execution.created_by"""
_NAMED = "from execution join deployment on deployment.number = execution.deployment"
EXECUTION = f"select {_EXECUTION} {_NAMED}"
EXECUTION_AND_ENTRIES = f"""select {_EXECUTION}, (
    select cast(coalesce(sum(entry_count), 0) as bigint) from graph where graph.execution = execution.number) {_NAMED}"""
"""Query of executions, each with the number of entries of its graphs behind its columns."""
EXECUTION_KINDS = "itittttiiiit"
"""Kinds of the columns of ``EXECUTION``, for ``read_model.one_statement``."""

_COUNTERS = """select coalesce((select max(id) from graph where id between ? and ?), 0),
    coalesce((select max(id) from batch where id between ? and ?), 0), purged_graph, purged_batch from store"""
PLACES = "first_graph, positions, graphs, ends"
"""Columns of a batch that ``places_of`` reads."""
BATCH = f"id, phase, started_at, deadline_at, closed_at, kinds, process_group, {PLACES}"
BATCH_KINDS = "itiiibiibbb"
"""Columns of a batch that ``batch_of`` reads, and their kinds."""
MOST_KEPT = 64
"""Number of different folder lists whose decoded form is cached; most deployments of a store have equal lists."""
_RANGE = """select (select min(after_batch) from graph where execution = ?),
    coalesce((select last_batch from execution where number = ?), 0)"""
_COUNT_AND_STATUS = (
    "select entry_count, (select status from execution where number = graph.execution) from graph where id = ?"
)


def identity(db: Connection) -> str:
    """Return the store's random name."""
    return str(db.execute("select identity from store").fetchone()[0])


def deleted(db: Connection, deployments: Collection[int], since: int) -> tuple[int, list[int]]:
    """Return (number of deployments ever deleted, which of the given deployments are deleted or purged).

    If the number still is ``since``, the second value is empty. The number is computed as all deployments ever made
    minus those that exist, which an index counts fast.
    """
    (living,) = db.execute("select count(*) from deployment where deleted_at = 0").fetchone()
    count = db.last_number("deployment") - living
    if count == since or not deployments:
        return count, []
    rows = db.execute(
        "select number from deployment where deleted_at = 0 and number in (select value from json_each(?))",
        (to_text(sorted(deployments)),),
    )
    found = {number for (number,) in rows}
    return count, [number for number in sorted(deployments) if number not in found]


def counters(db: Connection, shard: int = ONLY_SHARD) -> tuple[int, int]:
    """Return (the id of the next graph of a shard, the id of its next batch)."""
    before = shard * IDS_OF_A_SHARD
    bounds = before + 1, before + IDS_OF_A_SHARD - 1
    graph, batch, purged_graph, purged_batch = db.execute(_COUNTERS, (*bounds, *bounds)).fetchone()
    if shard == ONLY_SHARD:
        graph, batch = max(graph, purged_graph), max(batch, purged_batch)
    return max(graph, before) + 1, max(batch, before) + 1


def last_batch(db: Connection, graph: int) -> int:
    """Return the highest id of a batch of the shard that a graph belongs to; 0 if it has none."""
    before = graph - graph % IDS_OF_A_SHARD
    bounds = before + 1, before + IDS_OF_A_SHARD - 1
    return int(db.execute("select coalesce(max(id), 0) from batch where id between ? and ?", bounds).fetchone()[0])


def deployments(db: Connection, name: str | None = None) -> list[DeploymentRow]:
    """Return the deployments that are not deleted, sorted by name; if ``name`` is given, only the one with it."""
    if name is None:
        return deployment_rows(db, " where deleted_at = 0 order by name")
    return deployment_rows(db, " where deleted_at = 0 and name = ?", (name,))


def deployment_rows(db: Connection, rest: str, values: Sequence[object] = ()) -> list[DeploymentRow]:
    """Return the deployments that the rest of an SQL statement (``where`` and ``order by``) selects, sorted by name."""
    return [row for row, _ in deployments_joined(db, "", "", "", rest, values)]


def deployments_joined(
    db: Connection, joined: str, columns: str, kinds: str, rest: str, values: Sequence[object]
) -> list[tuple[DeploymentRow, Row]]:
    """Return deployments sorted by name, each with the values of more columns, by one statement.

    ``joined``: further tables. ``columns`` begins with a comma; ``kinds`` are their kinds (``one_statement.KINDS``).
    """
    return deployments_from(*select_together(db, deployment_parts(rest, values, joined, columns, kinds)))


def deployment_parts(
    rest: str, values: Sequence[object], joined: str = "", columns: str = "", kinds: str = ""
) -> list[Part]:
    """Return the parts of a statement that select deployments, for ``deployments_from``."""
    source = f"from deployment{joined}{rest}"
    return [
        Part(f"select {_DEPLOYMENT}{columns} {source}", _DEPLOYMENT_KINDS + kinds, values),
        Part(
            f"""select package_use.deployment, package.name, folders from package_use
            join package on package.number = package_use.package
            where folders <> '[]' and package_use.deployment in (select deployment.number {source})""",
            "itt",
            values,
        ),
    ]


def deployments_from(rows: Sequence[Row], used: Sequence[Row]) -> list[tuple[DeploymentRow, Row]]:
    """Return the deployments in the rows that ``deployment_parts`` select, sorted by name, with the further columns."""
    folders: dict[int, tuple[str, ...]] = {}
    for deployment, _, text in sorted(used):
        folders[deployment] = (*folders.get(deployment, ()), *json.loads(text))
    size = len(_DEPLOYMENT_KINDS)
    found = [(_deployment(row, folders.get(row[0], ())), row[size:]) for row in rows]
    return sorted(found, key=lambda one: one[0].name)


def _deployment(row: Sequence[Any], used: tuple[str, ...]) -> DeploymentRow:
    code, flaw = CodeLocation(""), ""
    try:
        code = CodeLocation(row[4], _folders(row[5]), _imported(row[10]), used)
    except (ValueError, TypeError) as error:
        flaw = f"the folders of its code: {error}"
    return DeploymentRow(
        number=row[0],
        name=row[1],
        blueprint_file=row[2],
        description=row[3],
        code=code,
        created_at=row[6],
        created_by=row[7],
        instance_count=row[8],
        kind=row[9],
        flaw=flaw,
    )


@lru_cache(maxsize=MOST_KEPT)
def _folders(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


@lru_cache(maxsize=MOST_KEPT)
def _imported(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(map(tuple, json.loads(text)))


def has_packages(db: Connection) -> bool:
    """Return True if a package is, or ever was, installed."""
    return db.execute("select 1 from package limit 1").fetchone() is not None


def blueprint(db: Connection, deployment: int) -> Blueprint:
    """Return the stored blueprint of a deployment."""
    row = _one(db, "select body from blueprint where deployment = ?", deployment)
    with as_damage(f"the blueprint of deployment {deployment}"):
        return topologies.blueprint_from_text(row[0])


def inputs(db: Connection, deployment: int) -> dict[str, Value]:
    """Return the inputs of a deployment."""
    row = _one(db, "select inputs from blueprint where deployment = ?", deployment)
    told: dict[str, Value] = json.loads(row[0])
    return told


def topology(db: Connection, deployment: int) -> Topology:
    """Return the instances and relationship instances of a deployment."""
    row = _one(db, f"select {', '.join(topologies.COLUMNS)} from topology where deployment = ?", deployment)
    known = blueprint(db, deployment)
    with as_damage(f"the instances of deployment {deployment}"):
        return topologies.from_row(row, known)


def states(db: Connection, deployment: int) -> np.ndarray:
    """Return the instance states as uint8 by number. Raises LookupError for a deployment that never existed."""
    found = db.execute("select instance_count from deployment where number = ?", (deployment,)).fetchone()
    if found is None:
        raise LookupError(f"no deployment {deployment}")
    pages = db.execute("select number, states from state_page where deployment = ?", (deployment,))
    return states_from(int(found[0]), pages)


def documents(db: Connection, deployment: int, instances: Sequence[int] | None) -> dict[int, dict[str, Value]]:
    """Return {instance number: runtime properties}, without instances that have none. None selects all instances."""
    statement = f"select instance, body from document where deployment = ? and body <> '{EMPTY}'"
    if instances is None:
        rows = db.execute(f"{statement} order by instance", (deployment,))
    else:
        wanted = to_text([int(number) for number in instances])
        rows = db.execute(f"{statement} and instance in (select value from json_each(?))", (deployment, wanted))
    return {instance: json.loads(body) for instance, body in rows}


def executions(
    db: Connection, *, deployment: int | None = None, id: str | None = None, only_open: bool = False
) -> list[ExecutionRow]:
    """Return the executions that fulfil all given conditions, oldest first."""
    conditions: list[str] = []
    values: list[Any] = []
    if deployment is not None:
        conditions.append("deployment = ?")
        values.append(deployment)
    if id is not None:
        conditions.append("id = ?")
        values.append(id)
    if only_open:
        conditions.append(schema.IS_OPEN)
    where = f" where {' and '.join(conditions)}" if conditions else ""
    return [execution(row) for row in db.execute(f"{EXECUTION}{where} order by execution.number", values)]


def execution(row: Sequence[Any]) -> ExecutionRow:
    """Return the execution in a row that ``EXECUTION`` selects."""
    return ExecutionRow(
        number=row[0],
        id=row[1],
        deployment=row[2],
        deployment_name=row[3],
        request=requests.from_json(row[4]),
        status=ExecutionStatus(row[5]),
        reason=row[6],
        attempt=row[7],
        created_at=row[8],
        started_at=row[9],
        ended_at=row[10],
        created_by=row[11],
    )


def graphs(db: Connection, execution: int) -> list[GraphRow]:
    """Return the rows of an execution's graphs in the order of its rounds, without their entries."""
    rows = db.execute(
        "select id, execution, name, attempt, entry_count, created_at from graph where execution = ? order by id",
        (execution,),
    )
    return [GraphRow(*row) for row in rows]


def graph(db: Connection, number: int) -> Graph:
    """Return one graph with its entries and edges."""
    row = _one(db, f"select name, {', '.join(graph_rows.COLUMNS)} from graph where id = ?", number)
    return graph_rows.from_row(row[0], row[1:])


def statuses(db: Connection, number: int) -> np.ndarray:
    """Return the stored statuses of a graph's entries, as bytes by position."""
    (count,) = _one(db, "select entry_count from graph where id = ?", number)
    return _stored_statuses(db, number, count)


def _stored_statuses(db: Connection, number: int, count: int) -> np.ndarray:
    return from_pages(count, db.execute("select number, statuses from page where graph = ?", (number,)))


def entry_statuses(db: Connection, number: int, calls: Sequence[BatchRow] | None) -> EntryStatuses:
    """Return the statuses of a graph's entries by position, including running ones.

    If ``calls`` is None and the execution is open, the open batches are read to find the running entries.
    """
    count, status = _one(db, _COUNT_AND_STATUS, number)
    if status is None:
        raise LookupError(f"a purge has just removed the execution of graph {number}")
    stored = _stored_statuses(db, number, count)
    if calls is None:
        if ExecutionStatus(status).is_ended:
            return EntryStatuses(stored, stored)
        calls = _batches(db, "closed_at = 0 and first_graph <= ? and last_graph >= ?", (number, number))
    return EntryStatuses.of(stored, number, calls)


def step_counts(db: Connection, number: int) -> dict[int, dict[EntryStatus, int]]:
    """Return {index of the step in the graph: {status: number of its entries}}."""
    from phaseline.store.codec.step_counts import count_by_step

    (text,) = _one(db, "select steps from graph where id = ?", number)
    return count_by_step(graph_rows.steps_from_text(text), statuses(db, number))


def notes(db: Connection, number: int, among: Collection[int] | None = None) -> list[NoteRow]:
    """Return the notes of a graph sorted by position; if ``among`` is given, only those at these positions."""
    only = "" if among is None else "and position in (select value from json_each(?))"
    rows = db.execute(
        f"""select position, attempts, generation, due, message, error, result from note
        where graph = ? {only} order by position""",
        (number,) if among is None else (number, json.dumps(sorted(among))),
    )
    return [note_of(row) for row in rows]


def note_of(row: Sequence[Any]) -> NoteRow:
    """Return the note in a row (position, attempts, generation, due, message, error, result)."""
    position, attempts, generation, due, message, error, result = row
    return NoteRow(
        position,
        attempts,
        generation,
        due,
        message,
        {} if error == EMPTY else json.loads(error),
        None if result == "null" else json.loads(result),
    )


def messages(db: Connection, number: int) -> dict[int, tuple[int, str]]:
    """Return {position: (due time in ms, message)} of all notes, sorted by position."""
    rows = db.execute("select position, due, message from note where graph = ? order by position", (number,))
    return {position: (due, message) for position, due, message in rows}


def batches(db: Connection, execution: int | None, *, only_open: bool) -> list[BatchRow]:
    """Return batches sorted by id: all, or those with members of one execution. Other members are included."""
    condition = "closed_at = 0" if only_open else "true"
    if execution is None:
        return _batches(db, condition, ())
    held = {number for (number,) in db.execute("select id from graph where execution = ?", (execution,))}
    if not held:
        return []
    after, last = db.execute(_RANGE, (execution, execution)).fetchone()
    found = _batches(
        db,
        f"{condition} and id > ? and (? = 0 or id <= ?) and first_graph <= ? and last_graph >= ?",
        (after, last, last, max(held), min(held)),
    )
    return [row for row in found if not held.isdisjoint(row.places.graphs)]


def runs_of(db: Connection, lane: str, last: int) -> LaneStatistics:
    """Return statistics of a lane's stored batches, over all executions, with the ``last`` latest batches."""
    count, took_ms = db.execute(
        "select count(*), coalesce(cast(sum(closed_at - started_at) filter (where closed_at > 0) as bigint), 0) from batch where phase = ?",
        (lane,),
    ).fetchone()
    return LaneStatistics(
        count,
        took_ms,
        _batches(db, "id in (select id from batch where phase = ? order by id desc limit ?)", [lane, last]),
    )


def _batches(db: Connection, condition: str, values: Sequence[Any]) -> list[BatchRow]:
    return [batch_of(row) for row in db.execute(f"select {BATCH} from batch where {condition} order by id", values)]


def batch_of(row: Sequence[Any]) -> BatchRow:
    """Return the batch in a row with the columns ``BATCH``."""
    return BatchRow(
        id=row[0],
        phase=row[1],
        places=places_of(row[7:]),
        started_at=row[2],
        deadline_at=row[3],
        closed_at=row[4],
        kinds=None if row[5] is None else decode(row[5]),
        process_group=row[6],
    )


def places_of(row: Sequence[Any]) -> MemberPositions:
    """Return the graphs and positions of a batch's members. ``row``: the batch's values of the columns ``PLACES``."""
    graph, packed, graphs, ends = row
    positions = decode(packed)
    if graphs is None:
        return MemberPositions((graph,), (len(positions),), positions)
    return MemberPositions(tuple(decode(graphs).tolist()), tuple(decode(ends).tolist()), positions)


def logs(db: Connection, execution: int, after: int, instance: int | None, limit: int) -> list[LogLine]:
    """Return at most ``limit`` log lines with sequence numbers above ``after``, in their order."""
    only = "" if instance is None else " and instance = ?"
    values = (execution, after, limit) if instance is None else (execution, after, instance, limit)
    rows = db.execute(
        f"""select execution, at, level, text, instance, operation, sequence from log
        where execution = ? and sequence > ?{only} order by sequence limit ?""",
        values,
    )
    return [LogLine(*row) for row in rows]


def events(db: Connection, execution: int, after: int, limit: int) -> list[EventRow]:
    """Return at most ``limit`` events with sequence numbers above ``after``, in their order."""
    rows = db.execute(
        """select execution, at, type, message, instance, operation, actor, sequence from event
        where execution = ? and sequence > ? order by sequence limit ?""",
        (execution, after, limit),
    )
    return [EventRow(*row) for row in rows]


@contextmanager
def as_damage(what: str) -> Iterator[None]:
    """Report a missing field, or a field of the wrong type, as damage of the stored document, like invalid JSON."""
    try:
        yield
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{what} cannot be read: {type(error).__name__} {error}") from error


def _one(db: Connection, statement: str, key: int) -> tuple[Any, ...]:
    row: tuple[Any, ...] | None = db.execute(statement, (key,)).fetchone()
    if row is None:
        raise LookupError(f"nothing is stored under number {key}")
    return row
