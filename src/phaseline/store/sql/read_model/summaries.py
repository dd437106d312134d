"""The table ``deployment_summary``: each deployment at rest, as lists show it (ADR 0049).

While an execution of a deployment is open, its row is not read: lists compute what they show from the pages of states.
A turn in which executions end marks the rows of their deployments as out of date, by one statement. The owner writes
these rows again when it has nothing else to do; until then lists compute them, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.pre_post import OPENING, UNDOING
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.deployment_summaries import (
    DeploymentSummary,
    LatestExecution,
    is_calm,
    may_be_refused,
    named,
    status_of,
)
from phaseline.store.codec import requests
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database.schema import IS_LEFT, IS_OPEN, IS_STALE
from phaseline.store.sql import queries as reads
from phaseline.store.sql.read_model.instance_columns import (
    UNREADABLE,
    ColumnRows,
    column_parts,
    counts_from,
    names_from,
    why_unreadable,
)
from phaseline.store.sql.read_model.one_statement import (
    CHOSEN,
    IS_COMPUTED,
    LATEST,
    UNREADABLE_ROW,
    Part,
    select_together,
)

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.rows.rows import DeploymentKind, ExecutionRow
    from phaseline.store.database.connection import Connection
    from phaseline.store.database.tenant_rows import TenantRows

REFRESHED_TOGETHER = 500
"""Number of rows that one transaction updates, so that the owner can soon do other work."""

_PUT = """insert into deployment_summary (deployment, latest, status, states, instances, is_calm) values (?, ?, ?, ?, ?, ?)
    on conflict (deployment) do update set latest = excluded.latest, status = excluded.status,
    states = excluded.states, instances = excluded.instances, is_calm = excluded.is_calm"""
_FACTS = f"""select deployment.number, kind, coalesce(latest.number, 0), coalesce(latest.status, ''), coalesce(latest.id, ''),
    case when latest.status = 'failed' then latest.request else '' end,
    case when exists (select 1 from execution as begun where begun.deployment = deployment.number
        and begun.{IS_OPEN}) then 1 else 0 end,
    case when exists (select 1 from execution as failed where failed.deployment = deployment.number
        and failed.{IS_LEFT}) then 1 else 0 end
    from deployment left join execution as latest on latest.number = {LATEST}
    where deployment.number {CHOSEN} and deleted_at = 0"""
UNKNOWN = -1
"""Number of instances in rows of deployments whose instances must be counted by their columns."""
_STALE = f"""select deployment from deployment_summary where {IS_STALE} and not exists (select 1 from execution
    where execution.deployment = deployment_summary.deployment and execution.{IS_OPEN}) limit ?"""
_ACTED = f"""select deployment, number, id, status, case when status = 'failed' then request else '' end,
    case when exists (select 1 from graph where graph.execution = execution.number
        and graph.name not in ('{OPENING}', '{UNDOING}')) then 1 else 0 end
    from execution where deployment {CHOSEN} order by number"""


@frozen
class _Facts:
    """What the executions of one deployment mean for it. ``may_be_refused``: hooks may have refused its latest one."""

    kind: DeploymentKind
    number: int
    latest: LatestExecution | None
    may_be_refused: bool
    has_open: bool
    has_failed: bool


SummaryRow = tuple[int, int, str, str, int, int]
"""Deployment, its latest execution, status, states as JSON, number of instances, whether it is calm."""


def refresh(db: Connection, deployments: Iterable[int], states: Mapping[int, np.ndarray] | None = None) -> None:
    """Store the summaries of those deployments that have no open execution. ``states``: those that the caller knows."""
    put(db, rows_at_rest(db, sorted(deployments), states or {}))


def put(db: Connection, rows: Sequence[SummaryRow]) -> None:
    """Store these rows in place of those that are stored of their deployments."""
    db.executemany(_PUT, rows)


def rows_at_rest(
    db: Connection, numbers: Sequence[int], known: Mapping[int, np.ndarray] = MappingProxyType({})
) -> list[SummaryRow]:
    """Return the rows of those deployments that have no open execution. ``known``: states that the caller knows.

    If the instances or executions of a deployment cannot be read, lists try it again, and show the reason.
    """
    if not numbers:
        return []
    which = to_text(numbers)
    parts = column_parts(f"deployment.number {CHOSEN}", (which,), known=to_text(list(known)))
    told, *columns = select_together(db, [Part(_FACTS, "ititttii", (which,)), *parts])
    rows = ColumnRows(*columns)
    facts: dict[int, _Facts] = {}
    made: list[SummaryRow] = []
    for number, *row in told:
        try:
            facts[number] = _facts(row)
        except UNREADABLE:
            made.append((number, 0, UNREADABLE_ROW, "{}", UNKNOWN, 0))
    refused = [number for number, one in facts.items() if one.may_be_refused and not one.has_open]
    acting = _acting(db, refused)
    for number, one in facts.items():
        if one.has_open:
            continue
        latest = acting.get(number, one.latest)
        try:
            counts, present = rows.of(number, known.get(number)).counts(db, one.kind)
        except UNREADABLE:
            made.append((number, one.number, UNREADABLE_ROW, "{}", UNKNOWN, 0))
            continue
        status = status_of(one.kind, latest, present, has_open=False)
        last = one.latest.status if one.latest is not None else None
        calm = is_calm(one.kind, last, counts, has_failed=one.has_failed)
        made.append((number, one.number, status, to_text(counts), sum(counts.values()), int(calm)))
    return made


def _facts(row: Sequence[Any]) -> _Facts:
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
        with suppress(*UNREADABLE):  # a list of executions reports it
            if has_own or status != ExecutionStatus.FAILED or not requests.from_json(request).is_surrounded:
                found[number] = _latest(status, id)
    return found


def refresh_some(db: Connection, states: Mapping[int, np.ndarray]) -> bool:
    """Store some summaries that are out of date; return True if there may be more. ``states``: those that the caller knows."""
    found = [number for (number,) in db.execute(_STALE, (REFRESHED_TOGETHER,)).fetchall()]
    refresh(db, found, {number: states[number] for number in found if number in states})
    return len(found) == REFRESHED_TOGETHER


# -- reading

CHOSEN_NUMBERS = "select value from json_each(?)"


def read_summaries(
    db: Connection, own: TenantRows, which: str = CHOSEN_NUMBERS, values: Sequence[object] = ()
) -> dict[int, DeploymentSummary]:
    """Return {deployment: its summary}. ``which``: SQL query of the numbers of the tenant's deployments, with its values."""
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
            f"""{reads.select_execution(own)} where execution.number in (
            select number from execution where {IS_OPEN} and deployment in ({which})
            union all select {LATEST} from deployment where deployment.number in ({which})
            union all select failed.number from deployment join execution as failed
            on failed.deployment = deployment.number and failed.{IS_LEFT}
            left join deployment_summary on deployment_summary.deployment = deployment.number
            where coalesce(is_calm, 0) = 0 and kind <> 'resources' and deleted_at = 0
            and deployment.number in ({which}))""",
            reads.EXECUTION_KINDS,
            (*values, *values, *values),
        ),
        Part(f"select deployment, place, name from state_name where deployment in ({which})", "iit", values),
        *column_parts(f"deployment.number in ({which}) and {IS_COMPUTED}", values),
    ]
    kept, told, named_, *columns = select_together(db, parts)
    names, executions = names_from(named_), _by_deployment(reads.executions_from(own, told))
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


def _by_deployment(rows: Sequence[ExecutionRow]) -> Mapping[int, Sequence[ExecutionRow]]:
    found: dict[int, list[ExecutionRow]] = {}
    for row in sorted(rows, key=lambda row: row.number):
        found.setdefault(row.deployment, []).append(row)
    return found


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
