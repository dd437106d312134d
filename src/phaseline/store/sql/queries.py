"""All queries of a store, in the caller's transaction.

Raises: LookupError for a row that never existed, ValueError for a value that cannot be decoded.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Blueprint, Value
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.topology import Topology
from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.model.rows.rows import (
    IDS_OF_A_SHARD,
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
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql.read_model.one_statement import Part, Row, select_together

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

_DEPLOYMENT = """deployment.number, deployment.name, blueprint_file, description, blueprint_folder, plugin_folders,
    created_at, created_by, instance_count, kind, imported"""
_DEPLOYMENT_KINDS = "itttttititt" + "t"
_EXECUTION = """execution.number, id, deployment, name, request, status, reason, attempt, execution.created_at,
    started_at, ended_at, execution.created_by"""
_NAMED = "from execution join deployment on deployment.number = execution.deployment"
ENTRIES = (
    """, (select cast(coalesce(sum(entry_count), 0) as bigint) from graph where graph.execution = execution.number)"""
)
"""Further column of executions: the number of entries of their graphs."""
EXECUTION_KINDS = "itittttiiiit" + "t"
"""Kinds of the columns of ``select_execution``, for ``read_model.one_statement``."""
_STATUSES = {status.value: status for status in ExecutionStatus}
_NUMBER_OF, _DEPLOYMENT_OF = itemgetter(0), itemgetter(2)
"""Functions that return the number of a row, and that of the deployment in a row of an execution."""

PLACES = "first_graph, positions, graphs, ends"
"""Columns of a batch that ``places_of`` reads."""
BATCH = f"id, phase, started_at, deadline_at, closed_at, kinds, process_group, {PLACES}"
BATCH_KINDS = "itiiibiibbb"
"""Columns of a batch that ``batch_of`` reads, and their kinds."""
FIRST_IS_OWN = """exists (select 1 from graph join execution on execution.number = graph.execution
    where graph.id = first_graph and execution.tenant = ?)"""
"""SQL condition for few batches whose first graph is the tenant's."""
FIRST_IN_OWN = """(not exists (select 1 from execution where tenant < ? or tenant > ?) or first_graph in (
    select graph.id from execution join graph on graph.execution = execution.number where execution.tenant = ?))"""
"""SQL condition for many batches whose first graph is the tenant's. It reads no graphs if there is only one tenant."""
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


def last_batch(db: Connection, graph: int) -> int:
    """Return the highest id of a batch of the shard that a graph belongs to; 0 if it has none."""
    before = graph - graph % IDS_OF_A_SHARD
    bounds = before + 1, before + IDS_OF_A_SHARD - 1
    return int(db.execute("select coalesce(max(id), 0) from batch where id between ? and ?", bounds).fetchone()[0])


def deployments(db: Connection, own: TenantRows = ALL) -> list[DeploymentRow]:
    """Return the deployments that are not deleted, sorted by name."""
    where, values = own.where("deleted_at = 0")
    return deployment_rows(db, own, f" where {where} order by name, number", values)


def deployment(db: Connection, name: str, own: TenantRows = ALL) -> DeploymentRow | None:
    """Return the deployment of this name that is not deleted, or None."""
    where, values = own.of_names().where("deleted_at = 0 and name = ?", name)
    return next(iter(deployment_rows(db, own, f" where {where}", values)), None)


def deployment_rows(db: Connection, own: TenantRows, rest: str, values: Sequence[object] = ()) -> list[DeploymentRow]:
    """Return the deployments that the rest of an SQL statement selects, which finds only those of the tenant, by name."""
    return [row for row, _ in deployments_joined(db, own, "", "", "", rest, values)]


def deployments_joined(
    db: Connection, own: TenantRows, joined: str, columns: str, kinds: str, rest: str, values: Sequence[object]
) -> list[tuple[DeploymentRow, Row]]:
    """Return deployments sorted by name, each with the values of more columns, by one statement.

    ``joined``: further tables. ``columns`` begins with a comma; ``kinds`` are their kinds (``one_statement.KINDS``).
    ``rest`` finds only deployments of the tenant.
    """
    return deployments_from(own, *select_together(db, deployment_parts(own, rest, values, joined, columns, kinds)))


def deployment_parts(
    own: TenantRows, rest: str, values: Sequence[object], joined: str = "", columns: str = "", kinds: str = ""
) -> list[Part]:
    """Return the parts of a statement that select deployments, for ``deployments_from``."""
    source = f"from deployment{joined}{rest}"
    return [
        Part(
            f"select {_DEPLOYMENT}, {own.column('deployment.tenant')}{columns} {source}",
            _DEPLOYMENT_KINDS + kinds,
            values,
        ),
        Part(
            f"""select package_use.deployment, package.name, folders from package_use
            join package on package.number = package_use.package
            where folders <> '[]' and package_use.deployment in (select deployment.number {source})""",
            "itt",
            values,
        ),
    ]


def deployments_from(own: TenantRows, rows: Sequence[Row], used: Sequence[Row]) -> list[tuple[DeploymentRow, Row]]:
    """Return the deployments in the rows that ``deployment_parts`` select, sorted by name, with the further columns."""
    folders: dict[int, tuple[str, ...]] = {}
    for deployment, _, text in sorted(used):
        folders[deployment] = (*folders.get(deployment, ()), *json.loads(text))
    size = len(_DEPLOYMENT_KINDS)
    own.remember("deployment", map(_NUMBER_OF, rows))
    found = [(_deployment(row, folders.get(row[0], ()), own.tenant or row[11]), row[size:]) for row in rows]
    return sorted(found, key=lambda one: (one[0].name, one[0].number))


def _deployment(row: Sequence[Any], used: tuple[str, ...], tenant: str) -> DeploymentRow:
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
        tenant=tenant,
    )


@lru_cache(maxsize=MOST_KEPT)
def _folders(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


@lru_cache(maxsize=MOST_KEPT)
def _imported(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(map(tuple, json.loads(text)))


def has_packages(db: Connection, own: TenantRows) -> bool:
    """Return True if a package is, or ever was, installed."""
    where, values = own.where("true")
    return db.execute(f"select 1 from package where {where} limit 1", values).fetchone() is not None


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
    db: Connection,
    own: TenantRows = ALL,
    *,
    deployment: int | None = None,
    id: str | None = None,
    only_open: bool = False,
) -> list[ExecutionRow]:
    """Return the executions that fulfil all given conditions, oldest first."""
    conditions: list[str] = ["true"]
    values: list[Any] = []
    if deployment is not None:
        conditions.append("deployment = ?")
        values.append(deployment)
    if id is not None:
        conditions.append("id = ?")
        values.append(id)
    if only_open:
        conditions.append(schema.IS_OPEN)
    is_searched = conditions != ["true"]
    where, chosen = own.where(" and ".join(conditions), *values, column=own.execution_column(is_searched=is_searched))
    return execution_rows(db, own, f" where {where} order by execution.number", chosen)


def execution_rows(db: Connection, own: TenantRows, rest: str, values: Sequence[object] = ()) -> list[ExecutionRow]:
    """Return the executions that the rest of an SQL statement selects, which finds only those of the tenant."""
    return executions_from(own, db.execute(select_execution(own) + rest, values).fetchall())


def select_execution(own: TenantRows, further: str = "") -> str:
    """Return the SQL query of executions. ``further``: more columns behind theirs, beginning with a comma."""
    return f"select {_EXECUTION}, {own.column('execution.tenant')}{further} {_NAMED}"


def executions_from(own: TenantRows, rows: Sequence[Row]) -> list[ExecutionRow]:
    """Return the executions in rows that ``select_execution`` selects, which are the tenant's, in the same order."""
    own.remember("execution", map(_NUMBER_OF, rows))
    own.remember("deployment", map(_DEPLOYMENT_OF, rows))
    return [_execution(row, own.tenant or row[12]) for row in rows]


def _execution(row: Sequence[Any], tenant: str) -> ExecutionRow:
    return ExecutionRow(
        number=row[0],
        id=row[1],
        deployment=row[2],
        deployment_name=row[3],
        request=requests.from_json(row[4]),
        status=_STATUSES.get(row[5]) or ExecutionStatus(row[5]),
        reason=row[6],
        attempt=row[7],
        created_at=row[8],
        started_at=row[9],
        ended_at=row[10],
        created_by=row[11],
        tenant=tenant,
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


def batches(db: Connection, execution: int | None, own: TenantRows = ALL, *, only_open: bool) -> list[BatchRow]:
    """Return batches sorted by id: all, or those with members of one execution.

    Other members are included, as far as they are the tenant's.
    """
    condition = "closed_at = 0" if only_open else "true"
    if execution is None:
        if own.tenant is not None:
            condition = f"{condition} and (graphs is not null or {FIRST_IS_OWN})"
        return _of_tenant(db, own, _batches(db, condition, () if own.tenant is None else (own.tenant,)))
    held = {number for (number,) in db.execute("select id from graph where execution = ?", (execution,))}
    if not held:
        return []
    after, last = db.execute(_RANGE, (execution, execution)).fetchone()
    found = _batches(
        db,
        f"{condition} and id > ? and (? = 0 or id <= ?) and first_graph <= ? and last_graph >= ?",
        (after, last, last, max(held), min(held)),
    )
    return _of_tenant(db, own, [row for row in found if not held.isdisjoint(row.places.graphs)])


def runs_of(db: Connection, lane: str, last: int, own: TenantRows = ALL) -> LaneStatistics:
    """Return statistics of a lane's stored batches, over all executions, with the ``last`` latest batches."""
    where, values = "phase = ?", cast("tuple[str, ...]", (lane,))
    if own.tenant is not None:
        where, values = f"{where} and {FIRST_IN_OWN}", (lane, own.tenant, own.tenant, own.tenant)
    count, took_ms = db.execute(
        f"""select count(*), coalesce(cast(sum(closed_at - started_at) filter (where closed_at > 0) as bigint), 0)
        from batch where {where}""",
        values,
    ).fetchone()
    latest = f"id in (select id from batch where {where} order by id desc limit ?)"
    return LaneStatistics(count, took_ms, _of_tenant(db, own, _batches(db, latest, (*values, last))))


def _of_tenant(db: Connection, own: TenantRows, found: list[BatchRow]) -> list[BatchRow]:
    """Return batches without the members of other tenants. Those of one graph were found because it is the tenant's."""
    if own.tenant is None:
        return found
    own.remember("graph", (row.places.graphs[0] for row in found if len(row.places.graphs) == 1))
    graphs = sorted({graph for row in found for graph in row.places.graphs})
    strange = {-number for number in own.own_all(db, "graph", graphs) if number < 0}
    return [kept for row in found if (kept := without(row, strange)) is not None] if strange else found


def without(row: BatchRow, graphs: Collection[int]) -> BatchRow | None:
    """Return a batch without its members of some graphs, with the outcomes of the others; None if none are left."""
    parts = list(row.places.parts())
    staying = [part for part in parts if part[0] not in graphs]
    if len(staying) == len(parts):
        return row
    if not staying:
        return None
    stays = np.concatenate([np.full(len(positions), graph not in graphs) for graph, positions in parts])
    kinds = None if row.kinds is None else row.kinds[stays]
    return altered(row, places=MemberPositions.of(staying), kinds=kinds)


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
