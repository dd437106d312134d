"""What happened in an execution: the lines that scripts and plugins wrote, and events in the words of the ancestor (W12)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import frozen
from phaseline.model.graph import called_side, owners_of
from phaseline.model.problem import fail
from phaseline.model.resources import REACH
from phaseline.model.state_steps import phase_of
from phaseline.use_cases.executions import as_statuses
from phaseline.use_cases.finding import find_execution, find_instance
from phaseline.use_cases.line_filter import ANY, LineFilter, Sieve
from phaseline.use_cases.values import Line

if TYPE_CHECKING:
    from phaseline.model.graph import Graph
    from phaseline.model.rows import BatchRow, EventRow, ExecutionRow
    from phaseline.model.topology import Topology
    from phaseline.plan.telling import CallSpan
    from phaseline.ports import Store
    from phaseline.use_cases.workplace import Workplace

Causes = dict[tuple[int, str], "deque[EventRow]"]
"""{(instance that was called, operation): stored events of its calls, oldest first}."""
READ_AT_ONCE = 10_000
"""Rows of logs and events fetched with one question."""
BY_HAND = "completed_by_hand"
CAUSES = frozenset({"task_failed", "task_rescheduled", BY_HAND})
"""Stored events that say how a call of an entry ended."""


@frozen
class History:
    """Lines of one execution, oldest first: the last of ``total``."""

    execution: str
    deployment: str
    lines: Sequence[Line]
    total: int = 0


def logs(
    place: Workplace,
    id: str | None = None,
    *,
    deployment: str | None = None,
    instance: str | None = None,
    wanted: LineFilter = ANY,
    limit: int | None = None,
) -> History:
    """The last ``limit`` lines of scripts, plugins and the engine; of one instance only if it is named, and those ``wanted``."""
    store = place.store
    row = find_execution(store, id, deployment)
    number = None
    if instance is not None:
        number = _instance_number(store, row, instance)
    ids = instance_ids(store, row)
    sieve = Sieve(wanted, store.topology(row.deployment)) if wanted else None
    found: list[Line] = []
    after = total = 0
    while rows := store.logs(row.number, after=after, instance=number, limit=READ_AT_ONCE):
        after = rows[-1].sequence
        lines = [
            Line(line.at, line.level, row.deployment_name, instance_id(ids, line.instance), line.operation, line.text)
            for line in rows
        ]
        lines = lines if sieve is None else [line for line in lines if sieve.lets_through(line)]
        total += len(lines)
        found.extend(lines)
        if limit is not None:
            del found[:-limit]
        if len(rows) < READ_AT_ONCE:
            break
    return History(row.id, row.deployment_name, found, total)


def events(
    place: Workplace,
    id: str | None = None,
    *,
    deployment: str | None = None,
    wanted: LineFilter = ANY,
    limit: int | None = None,
) -> History:
    """The last ``limit`` events ``wanted``: those of the execution, and what each instance went through, computed from its calls."""
    store = place.store
    row = find_execution(store, id, deployment)
    ids = instance_ids(store, row)
    told: list[Line] = []
    causes: Causes = {}
    for event in _event_rows(store, row):
        if event.type in CAUSES:
            causes.setdefault((event.instance, event.operation), deque()).append(event)
        if event.type not in CAUSES or event.type == BY_HAND:
            name = instance_id(ids, event.instance)
            told.append(
                Line(event.at, event.type, row.deployment_name, name, event.operation, event.message, event.actor)
            )
    if row.request.workflow == REACH:
        from phaseline.use_cases.resources.telling import told_of

        told.extend(told_of(store, row))
    else:
        told.extend(_narrated(store, row, causes))
    if wanted:
        told = list(filter(Sieve(wanted, store.topology(row.deployment)).lets_through, told))
    told.sort(key=lambda line: (line.at, _rank(line.level)))
    total = len(told)
    return History(row.id, row.deployment_name, told[-limit:] if limit is not None else told, total)


def _rank(kind: str) -> int:
    """Of lines of one millisecond: how an execution ended comes last, what else it did as a whole first."""
    if kind in {"workflow_succeeded", "workflow_failed", "workflow_cancelled"}:
        return 2
    return 1 if kind in {"task", "workflow_node_event", "late_result"} else 0


def instance_ids(store: Store, row: ExecutionRow) -> Sequence[str]:
    """Instance ids by number. A deleted deployment's topology stays until its executions are purged."""
    return store.topology(row.deployment).ids


def _instance_number(store: Store, row: ExecutionRow, text: str) -> int:
    """The instance of this id, or with this beginning, in the execution's deployment, be it deleted. Raises: PL-C012, PL-C013."""
    number = store.topology(row.deployment).number_of.get(text)
    if number is not None:
        return number
    now = store.deployment(row.deployment_name)
    if now is None or now.number != row.deployment:
        raise fail("PL-C012", f"the execution {row.id} knows no instance '{text}'", "Leave --instance out.")
    return find_instance(store, text, row.deployment_name)[2]


def instance_id(ids: Sequence[str], number: int) -> str:
    """The id of an instance, empty where the line is about none."""
    return ids[number] if 0 <= number < len(ids) else ""


def _event_rows(store: Store, row: ExecutionRow) -> Iterator[EventRow]:
    after = 0
    while rows := store.events(row.number, after=after, limit=READ_AT_ONCE):
        yield from rows
        after = rows[-1].sequence
        if len(rows) < READ_AT_ONCE:
            return


def _narrated(store: Store, row: ExecutionRow, causes: Causes) -> Iterator[Line]:
    """What the instances went through."""
    from phaseline.plan.narrative import narrate_all
    from phaseline.plan.telling import Known

    topology = store.topology(row.deployment)
    batches = store.batches(execution=row.number)
    for stored in store.graphs(row.number):
        graph = store.graph(stored.id)
        owner = owners(graph, topology)
        calls = _calls(batches, stored.id, owner)
        statuses = as_statuses(store.statuses(stored.id))
        _explain(calls, graph, topology, statuses, causes)
        known = Known(
            topology,
            graph,
            statuses,
            calls,
            {note.position: note for note in store.notes(stored.id)},
            row.request.workflow,
            row.request.parameters,
            with_tasks=True,
        )
        for number, lines in narrate_all(known, np.unique(owner[owner >= 0]).tolist()):
            at = max(row.started_at, stored.created_at)  # who is not called goes on when its round begins
            for line in lines:
                at = max(at, line.at)
                if line.kind != "state":
                    kind = "task" if line.kind == "task" else "workflow_node_event"
                    name = topology.ids[number] + (f"->{topology.ids[line.target]}" if line.target >= 0 else "")
                    operation = phase_of(line.operation) or line.operation
                    yield Line(at, kind, row.deployment_name, name, operation, line.text)


def _explain(
    calls: dict[int, list[CallSpan]], graph: Graph, topology: Topology, statuses: np.ndarray, causes: Causes
) -> None:
    """Say of calls what the stored events know: what they said and when, and which entries were completed by hand."""
    from phaseline.model.status import EntryStatus, OutcomeKind
    from phaseline.plan.telling import CallSpan

    for step in graph.steps:
        for position in range(step.first, step.first + step.count) if causes else ():
            subject = called_side(topology, step.kind, int(graph.subject[position]))
            told = causes.get((subject, step.phase))
            if not told:
                continue
            spans = calls.get(position, [])
            for place, span in enumerate(spans):
                event = _told_in(told, span) if span.kind in {OutcomeKind.FAILED, OutcomeKind.RETRY} else None
                if event is not None:
                    asked = event.type == "task_rescheduled"
                    spans[place] = CallSpan(span.begun_at, event.at, span.kind, event.message, asked)
            is_done = statuses[position] == EntryStatus.COMPLETED
            hand = next((event for event in reversed(told) if event.type == BY_HAND), None)
            if hand is not None and is_done and (not spans or spans[-1].kind is not OutcomeKind.COMPLETED):
                calls.setdefault(position, []).append(
                    CallSpan(hand.at, hand.at, OutcomeKind.COMPLETED, is_by_hand=True)
                )


def _told_in(told: deque[EventRow], span: CallSpan) -> EventRow | None:
    """Take the first event of a failed try that was told while the call, or others of its batch, ran."""
    for event in told:
        if event.type != BY_HAND and span.begun_at <= event.at and (not span.ended_at or event.at <= span.ended_at):
            told.remove(event)
            return event
    return None


def owners(graph: Graph, topology: Topology) -> np.ndarray:
    """By position: the instance in whose sequence an entry stands, -1 for milestones."""
    found = np.full(len(graph), -1, np.int64)
    for step in graph.steps:
        subject = graph.subject[step.first : step.first + step.count]
        found[step.first : step.first + step.count] = owners_of(topology, step.kind, subject)
    return found


def _segments(batches: Sequence[BatchRow], graph: int) -> Iterator[tuple[BatchRow, np.ndarray, int]]:
    """(batch, positions in the graph, place of the first of them among the batch's members)."""
    for batch in batches:
        first = 0
        for of, positions in batch.segments:
            if of == graph:
                yield batch, positions, first
            first += len(positions)


def _calls(batches: Sequence[BatchRow], graph: int, owner: np.ndarray) -> dict[int, list[CallSpan]]:
    """{position: its calls}, as far as they belong to instances."""
    from phaseline.model.status import OutcomeKind
    from phaseline.plan.telling import CallSpan

    found: dict[int, list[CallSpan]] = {}
    for batch, positions, first in _segments(batches, graph):
        for place in np.flatnonzero(owner[positions] >= 0).tolist():
            kind = OutcomeKind.PENDING if batch.kinds is None else OutcomeKind(int(batch.kinds[first + place]))
            ended = 0 if kind is OutcomeKind.PENDING else batch.closed_at
            found.setdefault(int(positions[place]), []).append(CallSpan(batch.started_at, ended, kind))
    return found
