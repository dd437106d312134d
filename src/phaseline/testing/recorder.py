"""The stored state of a scheduler in plain dictionaries, and the events with which another scheduler continues from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from phaseline.model.execution.events import Batch, Changes, Event, ExecutionChanged, Lost, Reattached, Restored
from phaseline.model.execution.execution import StopAfter
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import FIRST_ENDED, PAGE_ENTRIES


@dataclass(slots=True)
class Remembered:
    """The stored state of one graph: ``statuses`` from the pages, and notes {position: (attempts, generation, due)}."""

    execution: int
    graph: Graph
    attempt: int
    statuses: np.ndarray
    notes: dict[int, tuple[int, int, int]] = field(default_factory=dict)


@dataclass
class Recorder:
    """Committed changes by graph, batch and execution."""

    executions: dict[int, ExecutionChanged] = field(default_factory=dict)
    limits: dict[int, StopAfter | None] = field(default_factory=dict)
    graphs: dict[int, Remembered] = field(default_factory=dict)
    batches: dict[int, Batch] = field(default_factory=dict)
    open: dict[int, np.ndarray | None] = field(default_factory=dict)
    states: dict[int, int] = field(default_factory=dict)
    deployment: int = 1

    def commit(self, changes: Changes) -> None:
        """Store the decisions of one turn."""
        for told in changes.executions:
            self.executions[told.execution] = told
        for added in changes.graphs:
            attempt = self.executions[added.execution].attempt
            blank = np.zeros(len(added.graph), np.uint8)
            self.graphs[added.graph_id] = Remembered(added.execution, added.graph, attempt, blank)
        for page in changes.pages:
            low = page.number * PAGE_ENTRIES
            told_bytes = np.frombuffer(page.statuses, np.uint8)
            self.graphs[page.graph].statuses[low : low + len(told_bytes)] = told_bytes
        for notes in changes.notes:
            columns = zip(notes.attempts.tolist(), notes.generations.tolist(), notes.due.tolist(), strict=True)
            self.graphs[notes.graph].notes.update(zip(notes.positions.tolist(), columns, strict=True))
        for batch in changes.opened:
            self.batches[batch.id], self.open[batch.id] = batch, None
        for closed in changes.closed:
            self.open[closed.batch] = closed.kinds
            if closed.closed_at:
                del self.open[closed.batch]
        for again in changes.reopened:
            self.graphs[again.graph].attempt = again.attempt
        for entered in changes.states:
            self.states.update(dict.fromkeys(entered.subjects.tolist(), entered.states[-1]))

    def restoring(self, executions: Iterable[int] | None = None) -> list[Event]:
        """Return events that restore these executions (None means all open ones); calls that were running count as lost."""
        if executions is None:
            executions = [number for number, told in self.executions.items() if not told.status.is_ended]
        events: list[Event] = []
        held: set[int] = set()
        for execution in executions:
            mine = [graph_id for graph_id, graph in self.graphs.items() if graph.execution == execution]
            told = self.executions[execution]
            present = {graph_id for graph_id in mine if self.graphs[graph_id].attempt == told.attempt}
            held.update(graph_id for graph_id in present if graph_id == mine[-1] or self._may_move(graph_id))
            if not held.intersection(mine):
                events.append(
                    Restored(execution, self.deployment, told.status, told.attempt, self.limits.get(execution))
                )
            events.extend(self._restored(told, graph_id) for graph_id in mine if graph_id in held)
        lost: list[Event] = []
        for number, kinds in self.open.items():
            places = self.batches[number].members.places
            if not held.isdisjoint(places.graphs):
                events.append(Reattached(number, places, kinds))
                lost.append(Lost(number))
        return events + lost

    def _may_move(self, graph_id: int) -> bool:
        return bool((self.graphs[graph_id].statuses < FIRST_ENDED).any())

    def _restored(self, told: ExecutionChanged, graph_id: int) -> Restored:
        known = self.graphs[graph_id]
        positions = sorted(known.notes)
        notes = np.array([known.notes[position] for position in positions], np.int64).reshape(len(positions), 3)
        return Restored(
            told.execution,
            self.deployment,
            told.status,
            told.attempt,
            self.limits.get(told.execution),
            graph_id=graph_id,
            graph=known.graph,
            graph_attempt=known.attempt,
            statuses=known.statuses.copy(),
            positions=np.array(positions, np.int32),
            attempts=notes[:, 0].astype(np.int32),
            generations=notes[:, 1].astype(np.int32),
            due=notes[:, 2],
            begun=self._begun(graph_id),
        )

    def _begun(self, graph_id: int) -> np.ndarray:
        """Return positions of a graph that were called at some time."""
        parts = [
            segment.positions
            for batch in self.batches.values()
            for segment in batch.segments
            if segment.graph == graph_id
        ]
        return np.unique(np.concatenate(parts)) if parts else np.empty(0, np.int32)
