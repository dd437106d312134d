"""H46: breakpoints at phases and operations while everything changes; whoever is to stop stops first, and in the end all arrive.

The lives are those of resources and of nodes on paths; what they are asked for stops here and there, processes die while somebody
stands, and stops are cleared, time out, are retried and canceled like everything else.
"""

from collections.abc import Iterable
from random import Random

import pytest
from tests.run.engines import Called
from tests.simulation.test_blueprints_on_paths import Life as LifeOfNodes
from tests.simulation.test_resources import Life as LifeOfResources
from tests.simulation.test_resources import Watched

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.breakpoints import POST, PRE, PREFIX, Breakpoint, stop_beside
from phaseline.model.execution.execution import Request
from phaseline.model.graph.graph import phase_of
from phaseline.model.graph.status import EntryStatus, Mark, OutcomeKind
from phaseline.model.rows.rows import ExecutionRow

SEEDS = (*range(10), 20)
"""20 tells whether what needs a phase waits for what stands behind it."""
EVENTS = 50
DONE = {EntryStatus.COMPLETED, EntryStatus.PASSED}
NAMES = ("*", "n*1", "n1*", "n2", "*0")
DAY_MS = 86_400_000


def drawn(random: Random, points: Iterable[str]) -> tuple[Breakpoint, ...]:
    """Some breakpoints."""
    known = list(points)
    return tuple(
        Breakpoint(f"{random.choice((PRE, POST))}-{random.choice(known)}", random.choice(NAMES))
        for _ in range(random.choice((0, 1, 2, 3)))
    )


class Stopping(Watched):
    """A yard in which whoever is brought to a target stops somewhere."""

    random: Random

    def reach(self, target: str, *names: str, cluster: str = "lab", force: bool = False, breaks=()) -> ExecutionRow:
        stops = drawn(self.random, [one.name for one in self.source.phases])
        return super().reach(target, *names, cluster=cluster, force=force, breaks=map(str, stops))


class Resources(LifeOfResources):
    """Resources that stop at phases."""

    def made(self) -> Watched:
        yard = Stopping(*self.phases)
        yard.random = self.random
        return yard

    def is_before(self, step: str, called: str) -> bool:
        """A phase comes after what stands before it and behind what it depends on; a breakpoint after its phase, or after what that waits for."""
        stands, stop = stop_beside(called), stop_beside(step)
        if stands is not None:
            side, name = stands
            return phase_of(step) == name if side == POST else super().is_before(step, name)
        if stop is not None:
            side, name = stop
            return name == called if side == PRE else super().is_before(f"phase:{name}", called)
        return super().is_before(step, called)

    def check(self) -> None:
        super().check()
        for one in self.yard.called():
            if one.phase.startswith(PREFIX):
                self.check_stop(one)
        self.check_exits()

    def check_stop(self, one: Called) -> None:
        """Only who was named is stopped."""
        row = next(row for row in self.yard.store.executions() if row.number == one.execution)
        alike = [stop for stop in row.request.breakpoints if stop.phase == one.phase]
        assert any(stop.concerns(one.instance) for stop in alike), f"{one.instance} stands at {one.phase}"

    def check_exits(self) -> None:
        """Nobody has left a state who still has to stop in it."""
        arena = self.yard.engine.scheduler.arena
        for slot in arena.slots.values():
            way_out = slot.steps[-1]
            if not way_out.phase.startswith("exit:"):
                continue
            exits = arena.status[slot.base + way_out.first : slot.base + way_out.first + way_out.count]
            for step in slot.steps:
                low = slot.base + step.first
                called = (arena.marks[low : low + step.count] & Mark.ABSENT) == 0
                if step.phase.startswith(PREFIX):
                    left = arena.status[low : low + step.count][called & (exits == EntryStatus.PASSED)]
                    assert set(left.tolist()) <= DONE, f"somebody left {way_out.phase} before {step.phase}"


class Nodes(LifeOfNodes):
    """Nodes on paths and others that stop at phases and operations."""

    def wanted(self, workflow: str) -> Request:
        points = [one.name for one in self.phases] + ["create", "start", "delete"]
        return altered(super().wanted(workflow), breakpoints=drawn(self.random, points))

    def _answer(self) -> None:
        """What stands at a breakpoint mostly sleeps; time and crashes find it so."""
        standing = [one for one in self.yard.called() if one.phase.startswith(PREFIX)]
        if standing and self.random.random() < 0.5:
            kind, delay = self.random.choice(((OutcomeKind.AGAIN, 15_000), (OutcomeKind.COMPLETED, -1)))
            self.yard.answer(self.random.choice(standing), kind, delay_ms=delay)
        else:
            super()._answer()


@pytest.mark.parametrize("seed", SEEDS)
def test_h46_resources_stop_where_they_are_to_and_in_the_end_all_arrive(seed: int) -> None:
    life = Resources(seed)
    for _ in range(EVENTS):
        life.step()
    life.end()


@pytest.mark.parametrize("seed", range(4))
def test_h46_nodes_stop_where_they_are_to_and_in_the_end_all_are_taken_away(seed: int) -> None:
    life = Nodes(seed)
    life.begin()
    for _ in range(30):
        life.step()
    life.end()
