"""What planners can ask about a settled round beyond counts: which instances were called, and why entries failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.graph import SubjectKind, phase_of
from phaseline.model.graph.status import EntryStatus, Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.engine.arena import Arena
    from phaseline.model.graph.graph import Step
    from phaseline.ports.tenant_store import StoreRows

CALLED = (EntryStatus.COMPLETED, EntryStatus.FAILED, EntryStatus.UNSURE)
FAILURES_TOLD = 10
"""The most failures of a round whose messages a planner gets."""


class RoundOutcomes:
    """Reads outcomes from the arena, else from the store: a round that settles in this turn is not stored yet."""

    def __init__(self, store: StoreRows, arena: Arena, messages: Mapping[tuple[int, int], str]) -> None:
        """Store the sources; ``messages`` has the last messages kept in memory, by (graph, position)."""
        self._store, self._arena, self._messages = store, arena, messages

    def called(self, graph: int, count: int) -> np.ndarray:
        """Return for each of ``count`` instances, by number (bool), whether the graph called an operation of it."""
        steps, subject, status, marks = self._columns(graph)
        kind = np.repeat([step.kind for step in steps], [step.count for step in steps])
        chosen = (kind == SubjectKind.INSTANCE) & np.isin(status, CALLED) & (marks & Mark.ABSENT == 0)
        found = np.zeros(count, bool)
        found[subject[chosen]] = True
        return found

    def said(self, graph: int) -> Sequence[tuple[str, str]]:
        """Return (phase, message) of the first few entries that failed."""
        steps, _, status, _ = self._columns(graph)
        failed = np.flatnonzero(status == EntryStatus.FAILED)[:FAILURES_TOLD].tolist()
        if not failed:
            return ()
        notes: dict[int, str] = {}
        if any((graph, position) not in self._messages for position in failed):
            notes = {note.position: note.message for note in self._store.notes(graph)}
        firsts = np.array([step.first for step in steps])
        phases = [steps[int(np.searchsorted(firsts, position, side="right")) - 1].phase for position in failed]
        texts = [self._messages.get((graph, position)) or notes.get(position, "") for position in failed]
        return [(phase_of(phase) or phase, text) for phase, text in zip(phases, texts, strict=True)]

    def _columns(self, graph: int) -> tuple[Sequence[Step], np.ndarray, np.ndarray, np.ndarray]:
        """Return the steps, subjects, statuses and marks of a graph."""
        slot = self._arena.slots.get(graph)
        if slot is not None:
            mine, arena = slice(slot.base, slot.end), self._arena
            return slot.steps, arena.subject[mine], arena.status[mine], arena.marks[mine]
        found = self._store.graph(graph)
        return found.steps, found.subject, self._store.statuses(graph), found.marks
