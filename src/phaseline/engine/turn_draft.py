"""What the scheduler has decided so far in one turn."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import as_slice, present, some, unique
from phaseline.model.execution.events import Changes, Decision, NotesWritten, StatesEntered

if TYPE_CHECKING:
    from phaseline.engine.arena import Arena
    from phaseline.engine.open_batches import OpenBatch
    from phaseline.engine.policy_columns import PolicyTable
    from phaseline.model.execution.events import (
        Accepted,
        Batch,
        BatchClosed,
        Command,
        ExecutionChanged,
        GraphAdded,
        GraphReopened,
    )


class TurnDraft:
    """Lists that become the ``Decision`` at the end of the turn.

    ``questions`` is {execution: graph about which the planner is asked at the end of the turn}.
    """

    __slots__ = (
        "accepted", "answered", "closed", "commands", "executions", "exits", "graphs", "noted", "now", "opened", "questions",
        "reopened", "states",
    )  # fmt: skip

    def __init__(self, now: int) -> None:
        self.now = now
        self.executions: list[ExecutionChanged] = []
        self.graphs: list[GraphAdded] = []
        self.opened: list[Batch] = []
        self.closed: list[BatchClosed] = []
        self.states: list[StatesEntered] = []
        self.reopened: list[GraphReopened] = []
        self.noted: list[np.ndarray] = []
        self.exits: list[np.ndarray] = []
        self.commands: list[Command] = []
        self.accepted: list[Accepted] = []
        self.answered: dict[int, OpenBatch] = {}
        self.questions: dict[int, int] = {}

    def enter(self, arena: Arena, table: PolicyTable, positions: np.ndarray, column: np.ndarray) -> None:
        """Record that the instances of these entries enter states; ``column`` is ``enter`` or ``leave`` of the policy table."""
        if len(positions) == 1:
            position = positions.item()
            number = column.item(arena.cells.policy[position])
            if number:
                slot = arena.order[bisect_right(arena.cells.slot_base, position) - 1]
                subject = arena.subject[position : position + 1].copy()
                self.states.append(StatesEntered(slot.deployment, table.paths[number], subject))
            return
        paths = column[arena.policy[as_slice(positions)]]
        if not some(paths != 0):
            return
        for slot, mine in arena.by_slot(positions):
            where = as_slice(mine)
            numbers = column[arena.policy[where]]
            found = present(numbers)
            for number in found:
                if number:
                    chosen = where if len(found) == 1 else mine[numbers == number]
                    subjects = arena.subject[chosen].copy()
                    self.states.append(StatesEntered(slot.deployment, table.paths[number], subjects))

    def notes(self, arena: Arena) -> list[NotesWritten]:
        """Return attempts, generations and due times of every entry in ``noted``, each entry once."""
        positions = unique(self.noted[0] if len(self.noted) == 1 else np.concatenate(self.noted))
        return [
            NotesWritten(
                slot.graph_id,
                (mine - slot.base).astype(np.int32),
                arena.attempts[mine],
                arena.generations[mine],
                arena.due[mine],
            )
            for slot, mine in arena.by_slot(positions)
        ]

    def decision(self, arena: Arena) -> Decision:
        """Return all decisions of the turn as one value."""
        changes = Changes(
            tuple(self.executions), tuple(self.graphs), tuple(arena.pages()), tuple(self.notes(arena) if self.noted else ()),
            tuple(self.opened), tuple(self.closed), tuple(self.states), tuple(self.reopened),
        )  # fmt: skip
        return Decision(changes, tuple(self.commands), tuple(self.accepted))
