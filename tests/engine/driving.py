"""A scheduler with somebody who answers: for tests that read like a story of turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.invariants import validate
from phaseline.engine.scheduler import Scheduler
from phaseline.model.execution.events import Ask, Dispatch, Finished, Planned, SlotsChanged, Submitted, Tick
from phaseline.model.graph.status import EntryStatus, OutcomeKind

if TYPE_CHECKING:
    from phaseline.model.execution.events import Batch, Command, Decision, Event
    from phaseline.model.execution.execution import StopAfter
    from phaseline.model.graph.graph import Graph

DONE, AGAIN, RETRY, FAILED = OutcomeKind.COMPLETED, OutcomeKind.AGAIN, OutcomeKind.RETRY, OutcomeKind.FAILED


@dataclass
class Driver:
    """Gives events to a scheduler, remembers batches and questions, and checks every invariant after each turn."""

    slots: dict[str, int] = field(default_factory=lambda: {"bulk": 16, "threads": 16, "workers": 8})
    now: int = 1_000
    batches: list[Batch] = field(default_factory=list)
    asked: list[Ask] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    is_checked: bool = True
    next_batch: int = 1

    def __post_init__(self) -> None:
        self.scheduler = Scheduler(checked=self.is_checked, next_batch=self.next_batch)
        self.tell(*(SlotsChanged(pool, count) for pool, count in self.slots.items()))

    def tell(self, *events: Event) -> Decision:
        """One turn."""
        decision = self.scheduler.handle(events, self.now)
        self.decisions.append(decision)
        self.batches.extend(command.batch for command in decision.commands if isinstance(command, Dispatch))
        self.asked.extend(command for command in decision.commands if isinstance(command, Ask))
        if self.is_checked:
            validate(self.scheduler)
        return decision

    def begin(self, graph: Graph, execution: int = 1, *, stop_after: StopAfter | None = None) -> list[Batch]:
        """Submit an execution and plan this graph for it (its id is the execution's); the batches made at once."""
        before = len(self.batches)
        self.tell(Submitted(execution, execution, stop_after))
        self.tell(Planned(execution, graph, execution))
        return self.batches[before:]

    def answer(
        self, batch: Batch, kind: OutcomeKind = DONE, members: list[int] | None = None, delay: int = -1
    ) -> list[Batch]:
        """Members of a batch (None: all) return; the batches made of it."""
        before = len(self.batches)
        self.tell(finished(batch, kind, members, delay))
        return self.batches[before:]

    def sleep(self, ms: int) -> list[Batch]:
        """Time passes; the batches made of it."""
        before = len(self.batches)
        self.now += ms
        self.tell(Tick())
        return self.batches[before:]

    def run(self) -> list[Batch]:
        """Answer every open batch as done until nothing is called any more; all batches since the beginning."""
        done = 0
        while done < len(self.batches):
            waiting = self.batches[done:]
            done = len(self.batches)
            self.tell(*(finished(batch) for batch in waiting))
        return self.batches

    def statuses(self, graph: int = 1) -> list[str]:
        """Words by position."""
        slot = self.scheduler.arena.slots[graph]
        return [EntryStatus(int(one)).word for one in self.scheduler.arena.status[slot.base : slot.end]]


def finished(batch: Batch, kind: OutcomeKind = DONE, members: list[int] | None = None, delay: int = -1) -> Finished:
    """The event that members of a batch (None: all) have returned alike."""
    who = np.arange(len(batch), dtype=np.int32) if members is None else np.array(members, np.int32)
    return Finished(batch.id, who, np.full(len(who), kind, np.uint8), np.full(len(who), delay, np.int64))


def positions(batch: Batch) -> list[int]:
    """Positions of the members, in order."""
    return [int(place) for segment in batch.segments for place in segment.positions]


def commands_of(decision: Decision, kind: type[Command]) -> list[Command]:
    """Those of one kind."""
    return [command for command in decision.commands if isinstance(command, kind)]
