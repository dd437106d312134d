"""Deployments that are checked and healed while everything goes wrong: what is remembered is what a model says, and who is healed is well.

The worlds are those of ``test_lives``: calls fail, sleep, are late or lost, users cancel and retry, the process dies
before and after every commit. Each world installs, heals a few times with parameters drawn, and uninstalls.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.events import Batch
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.health.checks import CHECK_STATUS, HEAL, OPERATIONS, CheckKind, CheckResult
from phaseline.model.rows.rows import ExecutionRow, NewDeployment, NewExecution, Turn
from phaseline.testing.builders import full_name, operation
from phaseline.testing.builders import topology as expanded
from phaseline.testing.simulation.applications import KINDS, draw_application
from phaseline.testing.simulation.ledger import Neighbours
from phaseline.testing.simulation.world import LIMITS, USER, Life, World, let_go

SEEDS = range(8)
MOST_HEALS = 3
ANSWERS = {OutcomeKind.COMPLETED, OutcomeKind.FAILED, OutcomeKind.RETRY}
NOT_THERE = (State.UNINITIALIZED, State.DELETED)


class Healed(World):
    """A world in which deployments are healed between install and uninstall."""

    def __init__(self, seed: int) -> None:
        """As other worlds; ``known``: what the model thinks the last checks have found, by deployment and instance."""
        self.known: dict[tuple[int, int], CheckResult] = {}
        self.batches: dict[int, Batch] = {}
        self.answered: dict[int, list[int]] = {}
        self.left: dict[int, int] = {}
        super().__init__(seed)

    def _new_life(self, number: int) -> Life:
        application = self._with_checks(draw_application(self.dice))
        made = expanded(application)
        new = NewDeployment(f"app{number}", application, {}, made, CodeLocation("/nowhere"), USER, self.clock.now())
        deployment, _ = self.store.create_deployment(new)
        return Life(deployment, nobodies(len(made)))

    def _with_checks(self, application: Blueprint) -> Blueprint:
        """Each node may have a check and the operations of heal, of any form."""
        nodes = {}
        for name, node in application.nodes.items():
            mapped = {}
            for short in ("check_status", "preheal", "heal", "postheal"):
                if self.dice.happens(0.7):
                    full = full_name(short)
                    mapped[full] = operation(full, f"{self.dice.one(*KINDS)}.{short}")
            nodes[name] = replace(node, operations={**node.operations, **mapped})
        return replace(application, nodes=nodes)

    def _begin_engine(self) -> None:
        """For what was vouched for and not committed nobody stands any more."""
        self.vouched: list[tuple[int, int, np.ndarray]] = []
        super()._begin_engine()
        complete = self.engine.complete

        def noted(row: ExecutionRow, graph: int, positions: np.ndarray, **said: str) -> None:
            self.vouched.append((row.deployment, graph, positions))
            complete(row, graph, positions, **said)

        self.engine.complete = noted

    # -- the model ------------------------------------------------------------------------------------------------

    def tell(self, turn: Turn) -> None:
        """Follow what was committed, by a plain reading of states and answers, and hold the store against it."""
        super().tell(turn)
        for change in turn.changes.states:
            if State.STARTED in change.states:
                for instance in change.subjects.tolist():
                    self.known[change.deployment, instance] = CheckResult.UNKNOWN
        for closed in turn.changes.closed:
            batch = self.batches.get(closed.batch)
            if batch is not None:
                self._learn(batch, closed.kinds.tolist())
        for deployment, number, positions in self.vouched:
            graph, done = self.store.graph(number), self.store.statuses(number) == EntryStatus.COMPLETED
            for step in graph.steps:
                for position in range(step.first, step.first + step.count):
                    if position in positions and done[position]:
                        self._is_well((deployment, int(graph.subject[position])), step.phase)
        self.vouched.clear()
        for batch in turn.changes.opened:
            if batch.lane.phase in OPERATIONS:
                self.batches[batch.id] = batch
                self.answered[batch.id] = [0] * len(batch)
                self._is_there(batch)
        for life in self.lives:
            stored = self.store.checks(life.deployment).checks
            count = len(self.store.states(life.deployment))
            found = stored.column(CheckKind.STATUS, count).tolist()
            wanted = [self.known.get((life.deployment, instance), CheckResult.UNKNOWN) for instance in range(count)]
            assert found == wanted, f"results are {found} instead of {wanted}"

    def _learn(self, batch: Batch, kinds: list[int]) -> None:
        """Take over the answers that are new."""
        before, self.answered[batch.id] = self.answered[batch.id], kinds
        subjects = [(part.deployment, subject) for part in batch.segments for subject in part.subjects.tolist()]
        for who, old, kind in zip(subjects, before, kinds, strict=True):
            if kind == old or OutcomeKind(kind) not in ANSWERS:
                continue
            if OutcomeKind(kind) is not OutcomeKind.COMPLETED:
                self.known[who] = CheckResult.FAILED
            else:
                self._is_well(who, batch.lane.phase)

    def _is_well(self, who: tuple[int, int], operation: str) -> None:
        if operation == HEAL:
            self.known[who] = CheckResult.HEALED
        elif operation == CHECK_STATUS:
            self.known[who] = CheckResult.GOOD

    def _is_there(self, batch: Batch) -> None:
        for part in batch.segments:
            states = self.store.states(part.deployment)[part.subjects]
            assert not np.isin(states, NOT_THERE).any(), f"{batch.lane.phase} of who is not there: {states.tolist()}"

    # -- users ----------------------------------------------------------------------------------------------------

    def _submit(self, life: Life) -> None:
        if life.workflow != "heal":
            super()._submit(life)
            return
        dice, ids = self.dice, self.store.topology(life.deployment).ids
        asked: dict[str, object] = {
            "check_status": dice.one(True, True, False),
            "assume_healthy": dice.happens(0.3),
            "force_reinstall": dice.happens(0.1),
            "ignore_failure": dice.happens(0.7),
        }
        if dice.happens(0.3):
            asked["node_instance_id"] = dice.one(*ids)
        request = Request("heal", asked, RetryPolicy(2, 1.0), dice.one(*LIMITS))
        row = self.store.create_execution(NewExecution(life.deployment, request, USER, self.clock.now()))
        life.execution, life.tries, life.wished_at, life.cleaned_at = row.id, 0, 0, 0
        self.say(f"{row.id}: a user asks for {asked}")
        self.engine.submit(row)

    def _after_the_end(self, life: Life, row: ExecutionRow) -> None:
        is_completed = row.status is ExecutionStatus.COMPLETED
        if life.workflow == "heal":
            if not is_completed:
                self._retry(life, row)
                return
            self._look_after(life, row)
        elif life.workflow != "install" or not is_completed:
            super()._after_the_end(life, row)
            return
        left = self.left.setdefault(life.deployment, self.dice.random.randint(1, MOST_HEALS))
        self.left[life.deployment] = left - 1
        life.workflow = "heal" if left else "uninstall"
        self._submit(life)

    def _look_after(self, life: Life, row: ExecutionRow) -> None:
        """After a heal that has completed everybody is started, and whom it was about is not known to be ill."""
        states = self.store.states(life.deployment)
        assert (states == State.STARTED).all(), f"{row.id} is completed, but the states are {states.tolist()}"
        if "node_instance_id" not in row.request.parameters:
            found = self.store.checks(life.deployment).checks.column(CheckKind.STATUS, len(states))
            assert not (found == CheckResult.FAILED).any(), f"{row.id} is completed, but {found.tolist()} was found"


def nobodies(count: int) -> Neighbours:
    """The order between instances is held by the graphs alone: who is reinstalled has neighbours that stay."""
    return [[] for _ in range(count)], [[] for _ in range(count)]


@pytest.mark.parametrize("seed", SEEDS)
def test_w30_w37_who_is_healed_is_well_and_what_is_remembered_is_true_whatever_happens(seed: int) -> None:
    world = Healed(seed)
    try:
        world.live()
    except AssertionError as error:
        raise AssertionError("\n".join([str(error), *world.story.lines[-60:]])) from error
    finally:
        let_go(world.engine, world, world.store)
