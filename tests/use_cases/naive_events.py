"""The events of an execution, each instance told one after the other from calls that are all objects: what pages are measured by."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

import numpy as np

from phaseline.model.deployment.topology import Topology
from phaseline.model.graph.graph import Graph, called_side, phase_of
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.model.rows.rows import BatchRow, EventRow, ExecutionRow
from phaseline.plan.explain.cloudify_event_lines import CallSpan, GraphOutcome
from phaseline.plan.explain.cloudify_events import narrate_all
from phaseline.ports.store import Store
from phaseline.use_cases.lookup.entries import owners
from phaseline.use_cases.queries.events.line_filter import LineFilter, Sieve
from phaseline.views.views import Line

Causes = dict[tuple[int, str], "deque[EventRow]"]
BY_HAND = "completed_by_hand"
CAUSES = {"task_failed", "task_rescheduled", BY_HAND}


def all_events(store: Store, row: ExecutionRow) -> list[Line]:
    """Every event in the order in which they are printed."""
    topology = store.topology(row.deployment)
    told: list[Line] = []
    causes: Causes = {}
    for event in store.events(row.number, limit=1_000_000):
        if event.type in CAUSES:
            causes.setdefault((event.instance, event.operation), deque()).append(event)
        if event.type not in CAUSES or event.type == BY_HAND:
            name = topology.ids[event.instance] if event.instance >= 0 else ""
            told.append(
                Line(event.at, event.type, row.deployment_name, name, event.operation, event.message, event.actor)
            )
    told.extend(_narrated(store, row, causes))
    return sorted(told, key=lambda line: (line.at, _rank(line.level)))


def selected(lines: Sequence[Line], wanted: LineFilter, topology: Topology) -> list[Line]:
    """Those of the lines that a filter lets through."""
    sieve = Sieve(wanted, topology)
    return [line for line in lines if sieve.lets_through(line)]


def _rank(kind: str) -> int:
    """Of lines of one millisecond: how an execution ended comes last, what else it did as a whole first."""
    if kind in {"workflow_succeeded", "workflow_failed", "workflow_cancelled"}:
        return 2
    return 1 if kind in {"task", "workflow_node_event", "late_result"} else 0


def _narrated(store: Store, row: ExecutionRow, causes: Causes) -> Iterator[Line]:
    """What the instances went through."""

    topology = store.topology(row.deployment)
    batches = store.batches(execution=row.number)
    for stored in store.graphs(row.number):
        graph = store.graph(stored.id)
        owner = owners(graph, topology)
        calls = _calls(batches, stored.id, owner)
        statuses = store.statuses(stored.id)
        _explain(calls, graph, topology, statuses, causes)
        known = GraphOutcome(
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
    from phaseline.plan.explain.cloudify_event_lines import CallSpan

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
    from phaseline.plan.explain.cloudify_event_lines import CallSpan

    found: dict[int, list[CallSpan]] = {}
    for batch, positions, first in _segments(batches, graph):
        for place in np.flatnonzero(owner[positions] >= 0).tolist():
            kind = OutcomeKind.PENDING if batch.kinds is None else OutcomeKind(int(batch.kinds[first + place]))
            ended = 0 if kind is OutcomeKind.PENDING else batch.closed_at
            found.setdefault(int(positions[place]), []).append(CallSpan(batch.started_at, ended, kind))
    return found
