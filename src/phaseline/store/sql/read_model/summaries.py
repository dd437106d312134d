"""The table ``deployment_summary``: each deployment at rest, as lists show it (ADR 0048).

While an execution of a deployment is open, its row is not read: lists compute what they show from the pages of states.
A turn in which executions end marks the rows of their deployments as out of date, by one statement. The owner writes
these rows anew when it has nothing else to do; until then lists compute them, too.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.pre_post import OPENING, UNDOING
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.deployment_summaries import (
    GOOD,
    NOT_INSTALLED,
    DeploymentSummary,
    LatestExecution,
    is_calm,
    may_be_refused,
    named,
    status_of,
)
from phaseline.store.codec import requests
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.connection import Connection
from phaseline.store.database.schema import IS_LEFT, IS_OPEN, IS_STALE
from phaseline.store.sql import queries as reads
from phaseline.store.sql.read_model.conditions import CHOSEN
from phaseline.store.sql.read_model.instance_columns import (
    UNREADABLE,
    ColumnRows,
    column_parts,
    names_from,
    why_unreadable,
)
from phaseline.store.sql.read_model.one_statement import Part, Row, select_together

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.execution.events import Changes
    from phaseline.model.rows.rows import DeploymentKind, ExecutionRow, Reshaped

REFRESHED_TOGETHER = 500
"""Number of rows that one transaction writes anew, so that the owner can soon do other work."""

_PUT = """insert into deployment_summary (deployment, latest, status, states, instances, is_calm) values (?, ?, ?, ?, ?, ?)
    on conflict (deployment) do update set latest = excluded.latest, status = excluded.status,
    states = excluded.states, instances = excluded.instances, is_calm = excluded.is_calm"""
OPEN = f"select deployment from execution where {IS_OPEN}"
"""SQL query of the deployments with an open execution."""
LATEST = "(select max(number) from execution as other where other.deployment = deployment.number)"
"""SQL expression for the latest execution of a row of the table ``deployment``."""
OUT_OF_DATE, UNREADABLE_ROW = "", "unreadable"
"""Statuses in rows that are not read."""
IS_COMPUTED = f"""(deployment.number in ({OPEN}) or not exists (
    select 1 from deployment_summary as kept where kept.deployment = deployment.number
    and kept.status not in ('{OUT_OF_DATE}', '{UNREADABLE_ROW}')))"""
"""SQL condition for a row of ``deployment`` whose summary is not read but computed."""
_FACTS = f"""select deployment.number, kind, coalesce(latest.number, 0), coalesce(latest.status, ''), coalesce(latest.id, ''),
    case when latest.status = 'failed' then latest.request else '' end,
    case when exists (select 1 from execution as begun where begun.deployment = deployment.number
        and begun.{IS_OPEN}) then 1 else 0 end,
    case when exists (select 1 from execution as failed where failed.deployment = deployment.number
        and failed.{IS_LEFT}) then 1 else 0 end
    from deployment left join execution as latest on latest.number = {LATEST}
    where deployment.number {CHOSEN} and deleted_at = 0"""
_MARK = f"""update deployment_summary set status = '{OUT_OF_DATE}', is_calm = 0 where deployment in (
    select deployment from execution where number {CHOSEN} union all select number from deployment where number {CHOSEN})"""
_STALE = f"select deployment from deployment_summary where {IS_STALE} limit ?"
_ACTED = f"""select deployment, number, id, status, case when status = 'failed' then request else '' end,
    case when exists (select 1 from graph where graph.execution = execution.number
        and graph.name not in ('{OPENING}', '{UNDOING}')) then 1 else 0 end
    from execution where deployment {CHOSEN} order by number"""


@frozen
class _Facts:
    """What the executions of one deployment say about it. ``may_be_refused``: hooks may have refused its latest one."""

    kind: DeploymentKind
    number: int
    latest: LatestExecution | None
    may_be_refused: bool
    has_open: bool
    has_failed: bool


def add(db: Connection, number: int, kind: DeploymentKind, instance_count: int) -> None:
    """Store the summary of a new deployment, all of whose instances are uninitialized."""
    states = to_text({0: instance_count} if instance_count else {})
    db.execute(_PUT, (number, 0, GOOD if kind == "resources" else NOT_INSTALLED, states, instance_count, 1))


def drop(db: Connection, deployments: Collection[int]) -> None:
    """Delete the summaries of deleted deployments."""
    db.execute(f"delete from deployment_summary where deployment {CHOSEN}", (to_text(sorted(deployments)),))


def resize(db: Connection, deployment: int, instance_count: int) -> None:
    """Store the number of instances of a deployment, which is read while an execution of it is open, too."""
    db.execute("update deployment_summary set instances = ? where deployment = ?", (instance_count, deployment))


def refresh(db: Connection, deployments: Iterable[int], states: Mapping[int, np.ndarray] | None = None) -> None:
    """Store the summaries of those deployments that have no open execution. ``states``: those that the caller knows."""
    db.executemany(_PUT, rows_at_rest(db, sorted(deployments), states or {}))


SummaryRow = tuple[int, int, str, str, int, int]
"""Deployment, its latest execution, status, states as JSON, number of instances, whether it is calm."""


def rows_at_rest(
    db: Connection, numbers: Sequence[int], known: Mapping[int, np.ndarray] = MappingProxyType({})
) -> list[SummaryRow]:
    """Return the rows of those deployments that have no open execution. ``known``: states that the caller knows.

    If the instances of a deployment cannot be read, lists try it again, and tell why.
    """
    if not numbers:
        return []
    which = to_text(numbers)
    parts = column_parts(f"deployment.number {CHOSEN}", (which,), known=to_text(list(known)))
    told, *columns = select_together(db, [Part(_FACTS, "ititttii", (which,)), *parts])
    rows = ColumnRows(*columns)
    facts = {row[0]: _facts(row[1:]) for row in told}
    refused = [number for number, one in facts.items() if one.may_be_refused and not one.has_open]
    acting = _acting(db, refused)
    made: list[SummaryRow] = []
    for number, one in facts.items():
        if one.has_open:
            continue
        latest = acting.get(number, one.latest)
        try:
            counts, present = rows.of(number, known.get(number)).counts(db, one.kind)
        except UNREADABLE:
            made.append((number, one.number, UNREADABLE_ROW, "{}", 0, 0))
            continue
        status = status_of(one.kind, latest, present, has_open=False)
        last = one.latest.status if one.latest is not None else None
        calm = is_calm(one.kind, last, counts, has_failed=one.has_failed)
        made.append((number, one.number, status, to_text(counts), sum(counts.values()), int(calm)))
    return made


def _facts(row: Row) -> _Facts:
    kind, number, status, id, request, has_open, has_failed = row
    latest = _latest(status, id) if number else None
    may_be_refused = bool(request) and requests.from_json(request).is_surrounded
    return _Facts(kind, number, latest, may_be_refused, bool(has_open), bool(has_failed))


def _latest(status: str, id: str) -> LatestExecution:
    return LatestExecution(ExecutionStatus(status), id.rpartition("-")[0])


def _acting(db: Connection, deployments: Sequence[int]) -> Mapping[int, LatestExecution | None]:
    """Return {deployment: its latest execution that hook classes did not refuse (H22), or None}."""
    found: dict[int, LatestExecution | None] = dict.fromkeys(deployments)
    for number, _, id, status, request, has_own in db.execute(_ACTED, (to_text(deployments),)) if deployments else ():
        if has_own or status != ExecutionStatus.FAILED or not requests.from_json(request).is_surrounded:
            found[number] = _latest(status, id)
    return found


def rebuild(db: Connection) -> None:
    """Fill the table from what is stored of all deployments that are not deleted."""
    db.execute("delete from deployment_summary")
    numbers = [number for (number,) in db.execute("select number from deployment where deleted_at = 0")]
    db.executemany(_PUT, [(number, 0, OUT_OF_DATE, "{}", 0, 0) for number in numbers])
    refresh(db, numbers)


class SummaryKeeper:
    """Marks summaries as out of date in the turns of the owner, and writes them anew when it has nothing else to do."""

    def __init__(self) -> None:
        """Begin without knowing whether rows are out of date."""
        self.has_work = True
        """False if no row is out of date."""

    def forget(self) -> None:
        """Assume that rows are out of date: another process has owned the store, or a transaction was not committed."""
        self.has_work = True

    def follow_turn(self, db: Connection, changes: Changes, reshaped: Iterable[Reshaped]) -> None:
        """Mark the deployments of which an execution has ended in a turn, or which have other instances."""
        ended = [change.execution for change in changes.executions if change.status.is_ended]
        places = [row.deployment for row in reshaped]
        if ended or places:
            db.execute(_MARK, (to_text(ended), to_text(places)))
            self.has_work = True

    def refresh(self, db: Connection, states: Mapping[int, np.ndarray]) -> None:
        """Write some rows that are out of date. ``states`` has the states of deployments that the caller knows."""
        rows = db.execute(_STALE, (REFRESHED_TOGETHER,)).fetchall()
        found = [number for (number,) in rows]
        refresh(db, found, {number: states[number] for number in found if number in states})
        self.has_work = len(found) == REFRESHED_TOGETHER


# -- reading

CHOSEN_NUMBERS = "select value from json_each(?)"


def read_summaries(
    db: Connection, which: str = CHOSEN_NUMBERS, values: Sequence[object] = ()
) -> dict[int, DeploymentSummary]:
    """Return {deployment: its summary}. ``which``: SQL query of the numbers of deployments, with its values."""
    parts = [
        Part(
            f"""select deployment.number, kind, coalesce(deployment_summary.status, ''), coalesce(states, ''),
            case when {IS_COMPUTED} then 1 else 0 end
            from deployment left join deployment_summary on deployment_summary.deployment = deployment.number
            where deployment.number in ({which})""",
            "ittti",
            values,
        ),
        Part(
            f"""{reads.EXECUTION} where execution.number in (
            select number from execution where {IS_OPEN} and deployment in ({which})
            union all select {LATEST} from deployment where deployment.number in ({which})
            union all select failed.number from deployment_summary join execution as failed
            on failed.deployment = deployment_summary.deployment and failed.{IS_LEFT}
            join deployment on deployment.number = deployment_summary.deployment and kind <> 'resources'
            where is_calm = 0 and deployment_summary.deployment in ({which}))""",
            reads.EXECUTION_KINDS,
            (*values, *values, *values),
        ),
        Part(f"select deployment, place, name from state_name where deployment in ({which})", "iit", values),
        *column_parts(f"deployment.number in ({which}) and {IS_COMPUTED}", values),
    ]
    kept, told, named_, *columns = select_together(db, parts)
    names, executions = names_from(named_), _by_deployment(told)
    found: dict[int, DeploymentSummary] = {}
    computed: dict[int, DeploymentKind] = {}
    is_damaged = False
    for number, kind, status, states, is_computed in kept:
        counts = None if is_computed else counts_from(states)
        if counts is not None:
            states = named(counts, names.get(number, ()))
            found[number] = DeploymentSummary(status, states, executions.get(number, ()))
        else:
            computed[number] = kind
            is_damaged |= not is_computed
    if is_damaged:
        columns = select_together(db, column_parts(f"deployment.number {CHOSEN}", (to_text(sorted(computed)),)))
    found.update(_computed(db, computed, executions, ColumnRows(*columns)))
    return found


def _by_deployment(rows: Sequence[Row]) -> Mapping[int, Sequence[ExecutionRow]]:
    found: dict[int, list[ExecutionRow]] = {}
    for row in sorted(map(reads.execution, rows), key=lambda row: row.number):
        found.setdefault(row.deployment, []).append(row)
    return found


def counts_from(text: str) -> dict[int, int] | None:
    """Return {state: number of instances} of a stored summary, or None if it cannot be read."""
    try:
        return {int(state): int(count) for state, count in json.loads(text).items()}
    except UNREADABLE:
        return None


def _computed(
    db: Connection,
    kinds: Mapping[int, DeploymentKind],
    executions: Mapping[int, Sequence[ExecutionRow]],
    rows: ColumnRows,
) -> Mapping[int, DeploymentSummary]:
    """Return the summaries of deployments that have no stored one that is up to date."""
    last = {number: executions[number][-1] for number in kinds if executions.get(number)}
    acting = _acting(db, [number for number, row in last.items() if may_be_refused(row)])
    found: dict[int, DeploymentSummary] = {}
    for number, kind in kinds.items():
        mine = executions.get(number, ())
        latest = acting[number] if number in acting else _of_row(last.get(number))
        try:
            columns = rows.of(number)
            counts, present = columns.counts(db, kind)
        except UNREADABLE as error:
            found[number] = DeploymentSummary("", {}, mine, why_unreadable(error))
            continue
        status = status_of(kind, latest, present, has_open=any(not row.status.is_ended for row in mine))
        found[number] = DeploymentSummary(status, named(counts, columns.names), mine)
    return found


def _of_row(row: ExecutionRow | None) -> LatestExecution | None:
    return None if row is None else LatestExecution(row.status, row.request.workflow)
