"""Plan the next round of an execution in the turn in which a round has settled: asking a planner changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.events import Ask, Decision
from phaseline.model.execution.execution import GoOn
from phaseline.model.graph.graph import Graph, has_phases

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.last_messages import LastMessages
    from phaseline.calls.deployments.planner_driver import Planning
    from phaseline.calls.deployments.round_outcomes import RoundOutcomes
    from phaseline.engine.open_executions import OpenExecution
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.execution.events import Command, Event, Planned
    from phaseline.ports.store import Store

ROUNDS_TOGETHER = 4
"""Largest number of times that a turn asks the same planner: one that keeps returning empty graphs must not block the
loop.
"""


class Rounds:
    """Asks planners for the next graph of an execution and gives the answers to the scheduler."""

    def __init__(
        self,
        scheduler: Scheduler,
        planning: Planning,
        deployments: DeploymentCache,
        store: Store,
        messages: LastMessages,
    ) -> None:
        """Store the parts of the engine that are needed to ask planners."""
        self._scheduler, self._planning, self._deployments = scheduler, planning, deployments
        self._store, self._messages = store, messages
        self.begins: Callable[[Graph, int], list[Event]] = lambda _graph, _deployment: []
        """Function (graph, deployment) that returns further events for a new graph that calls phases."""

    def followed(self, decision: Decision, now: int) -> Decision:
        """Ask planners whose round has settled, and return the decision together with what follows from their answers.

        Instance states in memory are updated before, because planners read them.
        """
        asking = [command for command in decision.commands if type(command) is Ask and command.subjects is None]
        for command in asking:  # the store has what was before this turn, so it is read before states follow
            with self._planning.alone(self._planning.row(command.execution)):
                self._deployments.loaded(self._scheduler.runs[command.execution].deployment)
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
        """Ask the planner of an execution whose rounds have settled. Return its answer as events for the scheduler."""
        run = self._scheduler.runs[asked.execution]
        arena = self._scheduler.arena
        slot = arena.slots.get(asked.graph)
        if slot is not None and not arena.moves(slot):
            status, marks = arena.status[slot.base : slot.end], arena.marks[slot.base : slot.end]
            bounded = (slot.bounds, slot.group, arena.subject[slot.base : slot.end])
            self._planning.settled(
                asked.execution, asked.graph, slot.name, slot.attempt, status=status, marks=marks, bounded=bounded
            )
        elif slot is None:
            with self._planning.alone(self._planning.row(asked.execution)):
                self._tell_left(asked)
        planned = self._ask(run)
        if isinstance(planned.answer, GoOn):
            row, graph = self._planning.row(run.execution), planned.graph_id
            from phaseline.calls.deployments.removed_instances import must_replan
            from phaseline.run.loop.recovery import held_again

            if not must_replan(self._store, row, graph):
                return [held_again(self._store, self._deployments, row, graph, self._messages), planned]
            planned = self._ask(run, is_afresh=True)
        if isinstance(planned.answer, Graph) and has_phases(planned.answer.steps):
            return [planned, *self.begins(planned.answer, run.deployment)]
        return [planned]

    def _tell_left(self, asked: Ask) -> None:
        """Report a settled graph to the planner that is no longer loaded, from the store.

        That is needed only for executions with pre and post hooks.
        """
        row = self._planning.row(asked.execution)
        if not row.request.is_surrounded or not asked.graph or self._planning.knows(asked.execution, asked.graph):
            return
        graph, statuses = self._store.graph(asked.graph), self._store.statuses(asked.graph)
        (attempt,) = [one.attempt for one in self._store.graphs(row.number) if one.id == asked.graph]
        self._planning.settled(
            asked.execution, asked.graph, graph.name, attempt, status=statuses, marks=graph.marks,
            bounded=(graph.bounds, graph.group, graph.subject),
        )  # fmt: skip

    def _how_ended(self) -> RoundOutcomes:
        from phaseline.calls.deployments.round_outcomes import RoundOutcomes

        return RoundOutcomes(self._store, self._scheduler.arena, self._messages)

    def _ask(self, run: OpenExecution, *, is_afresh: bool = False) -> Planned:
        return self._planning.ask(
            run.execution,
            self._how_ended,
            is_canceled=run.is_canceled,
            attempt=run.attempt,
            is_afresh=is_afresh,
            is_timed_out=run.is_timed_out,
        )


def _is_asked(command: Command) -> bool:
    """Return True if the command asks a planner about a whole round, not about single subjects."""
    return type(command) is Ask and command.subjects is None
