"""From one round of an execution to the next within a turn: a planner acts on nothing, so its answer needs no commit of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.events import Ask, Decision
from phaseline.model.graph import Graph, SubjectKind
from phaseline.model.state_steps import has_phases
from phaseline.model.status import EntryStatus, Mark

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.engine.arena import Arena
    from phaseline.engine.laying import Slot
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.events import Command, Event
    from phaseline.run.deployments import Deployments
    from phaseline.run.planning import Planning

CALLED = (EntryStatus.COMPLETED, EntryStatus.FAILED, EntryStatus.UNSURE)
ROUNDS_TOGETHER = 4
"""How often planners are asked in one turn, so that one which plans nothing again and again holds nobody up."""


class Rounds:
    """Asks planners what comes next and lets the scheduler go on with the answers."""

    def __init__(self, scheduler: Scheduler, planning: Planning, deployments: Deployments) -> None:
        """All three are the engine's own."""
        self._scheduler, self._planning, self._deployments = scheduler, planning, deployments
        self.begins: Callable[[Graph, int], list[Event]] = lambda _graph, _deployment: []
        """What follows from a graph with phases, of a deployment."""

    def followed(self, decision: Decision, now: int) -> Decision:
        """The decision with what follows from the planners' answers, to be committed as one.

        The deployments' states follow at once, because planners look at them.
        """
        asking = [command for command in decision.commands if _is_asked(command)]
        for command in asking:  # the store has what was before this turn, so it is read before states follow
            self._deployments.loaded(self._scheduler.runs[command.execution].deployment)  # type: ignore[union-attr]  # all are Ask
        self._deployments.entered(decision.changes.states)
        if not asking:
            return decision
        changes, commands = decision.changes, list(decision.commands)
        for _ in range(ROUNDS_TOGETHER):
            asked = [command for command in commands if _is_asked(command)]
            if not asked:
                break
            commands = [command for command in commands if not _is_asked(command)]
            answers = [event for command in asked for event in self.ask(command)]  # type: ignore[arg-type]  # all are Ask
            more = self._scheduler.handle(answers, now)
            self._deployments.entered(more.changes.states)
            changes = changes.followed_by(more.changes)
            commands += more.commands
        return Decision(changes, tuple(commands), decision.accepted)

    def ask(self, asked: Ask) -> list[Event]:
        """What the planner of an execution answers, once its round has settled or it has none, and what follows at once."""
        run = self._scheduler.runs[asked.execution]
        arena = self._scheduler.arena
        slot = arena.slots.get(asked.graph)
        if slot is not None and not arena.moves(slot):
            status, marks = arena.status[slot.base : slot.end], arena.marks[slot.base : slot.end]
            self._planning.settled(asked.execution, asked.graph, slot.name, slot.attempt, status=status, marks=marks)

        def called() -> np.ndarray | None:
            return (
                None if slot is None else _called(arena, slot, len(self._deployments.loaded(run.deployment).topology))
            )

        planned = self._planning.ask(asked.execution, is_canceled=run.is_canceled, attempt=run.attempt, called=called)
        if isinstance(planned.answer, Graph) and has_phases(planned.answer.steps):
            return [planned, *self.begins(planned.answer, run.deployment)]
        return [planned]


def _called(arena: Arena, slot: Slot, count: int) -> np.ndarray:
    """For which of ``count`` instances something of this graph was called, bool by number."""
    part = slice(slot.base, slot.end)
    chosen = (arena.kind[part] == SubjectKind.INSTANCE) & np.isin(arena.status[part], CALLED)
    found = np.zeros(count, bool)
    found[arena.subject[part][chosen & (arena.marks[part] & Mark.ABSENT == 0)]] = True
    return found


def _is_asked(command: Command) -> bool:
    """Whether a planner is to be asked about a whole round."""
    return isinstance(command, Ask) and command.subjects is None
