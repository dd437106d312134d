"""Outcomes of an execution's rounds beyond counts, for planners: instances called, failures and their messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.graph import SubjectKind, phase_of
from phaseline.model.graph.status import EntryStatus, Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.engine.arena import Arena
    from phaseline.model.graph.graph import Step
    from phaseline.ports.store import Store

CALLED = (EntryStatus.COMPLETED, EntryStatus.FAILED, EntryStatus.UNSURE)
FAILURES_TOLD = 10
"""Failures of a round whose messages a planner gets."""


class RoundOutcomes:
    """Reads what the arena holds, else what the store has: a round that settles in this turn is only in the arena."""

    def __init__(self, store: Store, arena: Arena, messages: Mapping[tuple[int, int], str]) -> None:
        """``messages``: last messages of entries by (graph, position), as far as they are kept."""
        self._store, self._arena, self._messages = store, arena, messages

    def called(self, graph: int, count: int) -> np.ndarray:
        """Instances with at least one call in the graph, bool by number; ``count``: the number of instances."""
        steps, subject, status, marks = self._columns(graph)
        kind = np.repeat([step.kind for step in steps], [step.count for step in steps])
        chosen = (kind == SubjectKind.INSTANCE) & np.isin(status, CALLED) & (marks & Mark.ABSENT == 0)
        found = np.zeros(count, bool)
        found[subject[chosen]] = True
        return found

    def said(self, graph: int) -> Sequence[tuple[str, str]]:
        """(phase, message) of the first few entries that failed."""
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
        """Steps, subjects, statuses and marks."""
        slot = self._arena.slots.get(graph)
        if slot is not None:
            mine, arena = slice(slot.base, slot.end), self._arena
            return slot.steps, arena.subject[mine], arena.status[mine], arena.marks[mine]
        found = self._store.graph(graph)
        return found.steps, found.subject, self._store.statuses(graph), found.marks
