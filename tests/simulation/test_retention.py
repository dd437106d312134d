"""Old executions go by themselves while everything goes wrong: nothing that anybody still needs is ever missing.

The worlds are those of ``test_lives``. Each deployment is installed and uninstalled several times and deleted at last.
Its executions are old a moment after their end, and the process may die before and after each slice.
"""

from dataclasses import dataclass, field
from random import Random

import pytest

from phaseline.model.rows.maintenance import PurgeRules
from phaseline.model.rows.rows import ExecutionRow
from phaseline.run.loop.retention import Retention, RetentionAges
from phaseline.testing.simulation.world import Life, World, let_go
from phaseline.use_cases.commands.maintenance import purge_all

SEEDS = range(60)
CYCLES = 3
"""How often a deployment is installed."""


@dataclass
class Retaining(World):
    """A world whose engine removes executions soon after their end."""

    seed: int
    cycles: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.whim = Random(self.seed)
        super().__init__(self.seed)

    def _begin_engine(self) -> None:
        super()._begin_engine()
        ages = RetentionAges(executions_ms=1_000), RetentionAges(executions_ms=9_000, lines_ms=1_000)
        chosen = self.whim.choice(ages)
        self.engine.retention = Retention(self.store, self.engine._services, self.clock.now, chosen)

    def _turn(self) -> None:
        if self.whim.random() < 0.5:
            self.engine.retention.due_at = self.clock.now()
        super()._turn()
        self.look()

    def look(self) -> None:
        """What users and engines need is there."""
        held = self.store._held
        for life in self.lives:
            row = self._row(life)
            assert row is not None or life.is_over or not life.execution, f"{life.execution} is gone"
            rows = self.store.executions(life.deployment)
            installs = [row for row in rows if row.request.workflow == "install"]
            if life.deployment in self.cycles and not life.is_over:
                assert installs, "the last install is gone"
        for execution in held.executions.values():
            assert all(graph in held.graphs for graph in execution.graphs)
            assert all(batch in held.batches for batch in execution.batches)
        assert {row.row.execution for row in held.graphs.values()} <= held.executions.keys()

    def _submit(self, life: Life) -> None:
        self.cycles.setdefault(life.deployment, 1)
        super()._submit(life)

    def _after_the_end(self, life: Life, row: ExecutionRow) -> None:
        super()._after_the_end(life, row)
        if not life.is_over:
            return
        if self.cycles[life.deployment] < CYCLES:
            self.cycles[life.deployment] += 1
            life.is_over, life.workflow = False, "install"
            self._submit(life)
        else:
            self.store.delete_deployment(life.deployment)


def removed_in(seed: int) -> int:
    """Live the life of a seed; how many executions went by themselves."""
    world = Retaining(seed)
    world.live()
    held = world.store._held
    removed = held.last_execution - len(world.store.executions())
    world.dice.calm_down()
    purge_all(world.store, PurgeRules(executions_before=world.clock.now() + 10**9))
    assert all(held.open_batches.keys() & each.batches.keys() for each in held.executions.values()), "nobody needs it"
    let_go(world.engine, world, world.store)
    return removed


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_is_needed_goes_in_the_life_of_a_seed(seed: int) -> None:
    removed_in(seed)


def test_many_go_by_themselves() -> None:
    assert sum(map(removed_in, range(20))) > 20
