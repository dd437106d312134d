"""Stage tasks and granular tasks while everything goes wrong: their order, one at a time on an instance, and nothing twice.

The worlds are those of ``test_lives``; each install has tasks of packages that are drawn, before and after its body. Calls fail, sleep,
are late or lost, users cancel and retry, the process dies before and after every commit, in the middle of a stage too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import pytest

from phaseline.model.execution.events import Batch, GraphAdded
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.graph.batch_members import GraphSegment
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.model.packages.package import (
    EVERYBODY,
    STAGES,
    CrossDependency,
    GranularTask,
    Package,
    Roles,
    StageTask,
    Strategy,
)
from phaseline.model.packages.stage_tasks import GROUP, ExecutionTask, Stages
from phaseline.model.rows.rows import ExecutionRow, NewExecution, Turn
from phaseline.packages.task_order import ordered
from phaseline.packages.task_serializer import SerializerInput, serialized
from phaseline.testing.simulation.faults import Dice
from phaseline.testing.simulation.world import LIMITS, USER, Life, World, let_go

SEEDS = (*range(10), 94, 113, 285, 454, 779)
"""The last ones have found mistakes: a limit that was forgotten with its graph, two tasks at once on an instance after a
retry, a graph that went on with nothing to call, and was not looked at again.
"""
COMPLETED = int(OutcomeKind.COMPLETED)
MASTER = -1


@dataclass
class Chosen:
    """A package that is enabled."""

    package: Package
    settings: dict[str, object] = field(default_factory=dict)
    folder: str = "/nowhere"


@dataclass
class Running:
    """What a plain reading of an install knows: its tasks, what was called, what is being called, what is done."""

    stages: Stages
    ranks: dict[str, int]
    begun: int = -1
    body_begun: bool = False
    after_begun: bool = False
    open: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    done: set[tuple[str, int]] = field(default_factory=set)


def drawn(dice: Dice, nodes: list[str]) -> list[Package]:
    """Up to three packages with a few tasks of both kinds."""
    packages = []
    for number in range(dice.one(1, 2, 3)):
        name = f"p{number}"
        stage_tasks = tuple(_stage_task(dice, nodes, name, index) for index in range(dice.one(0, 1, 2, 3)))
        granular = tuple(_granular_task(dice, nodes, name, index) for index in range(dice.one(0, 0, 2, 4)))
        packages.append(Package(name, "1.0.0", "4.0.0", name, stage_tasks=stage_tasks, granular_tasks=granular))
    return packages


def _roles(dice: Dice, nodes: list[str]) -> Roles:
    return dice.one(
        EVERYBODY,
        Roles((dice.one(*nodes),)),
        Roles((dice.one(*nodes), "primary-" + dice.one(*nodes))),
        Roles(scope="master"),
    )


def _parameters(dice: Dice) -> dict[str, object]:
    return {"cmd": "x", "timeout": 60, "retries": dice.one(0, 2), "interval": 1}


def _stage_task(dice: Dice, nodes: list[str], name: str, index: int) -> StageTask:
    stage, number = dice.one(*STAGES), Decimal(dice.one(-1, 0, 100))
    mild = dice.happens(0.2)
    return StageTask(
        stage,
        number,
        name,
        "1.0.0",
        index,
        "shell",
        _roles(dice, nodes),
        _parameters(dice),
        f"{stage}/{number}",
        fail_on_error=not mild,
    )


def _granular_task(dice: Dice, nodes: list[str], name: str, index: int) -> GranularTask:
    """What a task is tied to comes before it in its file, so that there is no circle."""
    id = f"{name}_{index}"
    if index == 0 and dice.happens(0.4):
        tolerance = dice.one(None, 0, 1, "50%", -1)
        return GranularTask(
            id, "group", name, "1.0.0", index, (2, 0, 0), _roles(dice, nodes), fault_tolerance=tolerance
        )
    earlier = [f"{name}_{place}" for place in range(index)]
    requires = (*((dice.one(*earlier),) if earlier and dice.happens(0.5) else ()), *dice.one((), ("deploy_start",)))
    across = (
        (CrossDependency(dice.one(*earlier), EVERYBODY, dice.one("all", "any")),)
        if earlier and dice.happens(0.4)
        else ()
    )
    ends = dice.one((), ("deploy_end",), ("pre_deployment_end",)) if "deploy_start" not in requires else ("deploy_end",)
    return GranularTask(
        id, dice.one("shell", "shell", "skipped"), name, "1.0.0", index, (2, 0, 0), _roles(dice, nodes), requires, ends, across,
        strategy=dice.one(Strategy(), Strategy("one_by_one"), Strategy("parallel", 2)), fail_on_error=not dice.happens(0.2),
        parameters=_parameters(dice),
    )  # fmt: skip


class Staged(World):
    """A world in which packages have tasks round every install."""

    def __init__(self, seed: int) -> None:
        """As other worlds; ``running``: what the model knows, by number of the execution."""
        self.running: dict[int, Running] = {}
        self.called: dict[int, list[tuple[int, str, int]]] = {}
        self.vouched: set[int] = set()
        super().__init__(seed)

    def _submit(self, life: Life) -> None:
        nodes = [node.name for node in self.store.topology(life.deployment).nodes]
        packages = drawn(self.dice, nodes)
        given = SerializerInput(life.workflow, lambda _condition, _models: True, allows_master=True)
        stages = serialized([Chosen(one) for one in packages], given)
        told = [f"{task.plugin}#{task.index + 1}" for task in ordered(packages)]
        around = PrePost(stages=stages) if stages else None
        request = Request(life.workflow, retries=RetryPolicy(2, 1.0), stop_after=self.dice.one(*LIMITS))
        row = self.store.create_execution(NewExecution(life.deployment, request, USER, self.clock.now(), around))
        if around is not None:
            self.running[row.number] = Running(stages, {phase: rank for rank, phase in enumerate(told)})
        life.execution, life.tries, life.wished_at, life.cleaned_at = row.id, 0, 0, 0
        self.say(f"{row.id}: a user asks for it, round it {[task.phase for task in stages]}")
        self.engine.submit(row)

    def _begin_engine(self) -> None:
        """Nothing is being called any more; every batch that begins is looked at."""
        for running in self.running.values():
            running.open.clear()
        super()._begin_engine()
        submit = self.executor.submit

        def looked_at(batch: Batch) -> None:
            self._look_at(batch)
            submit(batch)

        self.executor.submit = looked_at
        complete = self.engine.complete

        def noted(row: ExecutionRow, graph: int, positions: np.ndarray, **said: str) -> None:
            self.vouched.add(row.number)
            complete(row, graph, positions, **said)

        self.engine.complete = noted

    def _keeps_wish(self, turn: Turn, added: GraphAdded) -> None:
        """Tasks neither need a clean-up nor make one."""
        if not added.graph.name.startswith("stage "):
            super()._keeps_wish(turn, added)

    # -- the model ------------------------------------------------------------------------------------------------

    def _look_at(self, batch: Batch) -> None:
        members = self.called[batch.id] = []
        for segment in batch.segments:
            running = self.running.get(segment.execution)
            if running is None:
                continue
            task = next((one for one in running.stages if one.phase == batch.lane.phase), None)
            for subject in segment.subjects.tolist():
                who = MASTER if segment.kind is SubjectKind.DEPLOYMENT else subject
                members.append((segment.execution, batch.lane.phase, who))
                if task is None:
                    assert not running.after_begun, f"{batch.lane.phase} is called after a task behind the body"
                    running.body_begun = True
                else:
                    self._may_begin(running, task, who, segment)
                    running.open.setdefault(batch.id, []).append((task.phase, who))

    def _may_begin(self, running: Running, task: ExecutionTask, who: int, segment: GraphSegment) -> None:
        what = f"{task.phase} on {who} of execution {segment.execution}"
        is_open = [one for members in running.open.values() for one in members]
        assert (task.phase, who) not in running.done, f"{what} was done and is called again"
        assert who == MASTER or all(other != who for _, other in is_open), f"{what}: it runs {is_open} already"
        at_once = sum(phase == task.phase for phase, _ in is_open)
        assert not task.at_once or at_once < task.at_once, f"{what}: {at_once} run it at once"
        graph = self.store.graph(segment.graph).name
        assert graph == "stage post_deployment" or not running.body_begun, f"{what} is called in {graph}"
        running.after_begun |= graph == "stage post_deployment"
        if task.phase in running.ranks:
            rank = running.ranks[task.phase]
            assert rank >= running.begun, f"{what} comes after a later one"
            running.begun = rank

    def tell(self, turn: Turn) -> None:
        """What was done stays done."""
        super().tell(turn)
        for closed in turn.changes.closed:
            members = self.called.get(closed.batch, ())
            for (execution, phase, who), kind in zip(members, closed.kinds.tolist(), strict=False):
                running = self.running[execution]
                if kind:
                    mine = running.open.get(closed.batch, [])
                    running.open[closed.batch] = [one for one in mine if one != (phase, who)]
                if kind == COMPLETED:
                    running.done.add((phase, who))
            if closed.closed_at:
                for execution in {one[0] for one in members}:
                    self.running[execution].open.pop(closed.batch, None)
        for change in turn.changes.executions:
            if change.status.is_ended and change.execution in self.running:
                self.running[change.execution].open.clear()
                if change.status is ExecutionStatus.COMPLETED:
                    self._all_was_done(change.execution)

    def _all_was_done(self, execution: int) -> None:
        """Of the tasks that must not fail none is left, unless a group may lose some or a user vouched for one."""
        running = self.running[execution]
        if execution in self.vouched or any(task.type == GROUP for task in running.stages):
            return
        strict = {task.phase for task in running.stages if task.fail_on_error}
        called = {
            (phase, who) for members in self.called.values() for number, phase, who in members if number == execution
        }
        left = sorted((phase, who) for phase, who in called - running.done if phase in strict)
        assert not left, f"execution {execution} is completed, but {left} were not done"


@pytest.mark.parametrize("seed", SEEDS)
def test_tasks_keep_their_order_and_are_done_once_whatever_happens(seed: int) -> None:
    world = Staged(seed)
    try:
        world.live()
    finally:
        let_go(world.engine, world, world.store)
