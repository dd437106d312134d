"""What the order of ten thousand stage tasks costs, and the graph of ten thousand tasks on instances (source 4, F47)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from time import perf_counter

import numpy as np

from bench.figures import Spread
from bench.report import Row
from phaseline.model.blueprint.blueprint import Blueprint, Value
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.execution.execution import History, Request, Verdict
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.packages.package import EVERYBODY, POST, STAGES, CrossDependency, GranularTask, Package, StageTask
from phaseline.model.packages.stage_tasks import Stages
from phaseline.packages.task_order import ordered
from phaseline.packages.task_serializer import SerializerInput, serialized
from phaseline.plan.stages.stage_tasks import after
from phaseline.plan.transforms.pipeline import Asked
from phaseline.testing.builders import blueprint, node, topology

PACKAGES, TASKS = 200, 50
MOST_ORDER_MS, MOST_GRAPH_MS = 100.0, 1_000.0
TENTHS = 90_000
"""Numbers of stages are drawn from 0 to so many tenths."""


@dataclass
class Chosen:
    """A package that is enabled for a deployment."""

    package: Package
    settings: Mapping[str, Value] = field(default_factory=dict)
    folder: str = "/packages"


def stage_packages(packages: int = PACKAGES, tasks: int = TASKS) -> list[Package]:
    """Packages whose stage tasks have drawn numbers, in a drawn order."""
    dice = Random(1)
    found = [_package(dice, f"p{number:03}", tasks) for number in range(packages)]
    dice.shuffle(found)
    return found


def _package(dice: Random, name: str, tasks: int) -> Package:
    stage_tasks = []
    for index in range(tasks):
        stage, number = dice.choice(STAGES), Decimal(dice.randrange(TENTHS)) / 10
        said: dict[str, Value] = {"cmd": "./run.sh", "timeout": 60}
        task = StageTask(stage, number, name, "1.0.0", index, "shell", EVERYBODY, said, f"{stage}/{number}")
        stage_tasks.append(task)
    return Package(name, "1.0.0", "4.0.0", name, stage_tasks=tuple(stage_tasks))


def granular_packages(packages: int, tasks: int) -> list[Package]:
    """Packages whose tasks wait for the one before on the same instance, and for two of other packages on all instances."""
    dice = Random(1)
    return [_granular(dice, number, tasks) for number in range(packages)]


def _granular(dice: Random, number: int, tasks: int) -> Package:
    name, said = f"p{number:03}", {"cmd": "./run.sh", "timeout": 60}
    found = []
    for index in range(tasks):
        needs = (f"{name}_{index - 1}",) if index else ()
        others = [f"p{dice.randrange(number):03}_{dice.randrange(tasks)}" for _ in range(2)] if number else []
        across = tuple(CrossDependency(other) for other in others)
        task = GranularTask(
            f"{name}_{index}", "shell", name, "1.0.0", index, (2, 0, 0), EVERYBODY, needs, (), across, parameters=said
        )
        found.append(task)
    return Package(name, "1.0.0", "4.0.0", name, granular_tasks=tuple(found))


def stages_of(packages: list[Package]) -> Stages:
    """As they are stored with an execution."""
    return serialized([Chosen(one) for one in packages], SerializerInput("install", lambda _condition, _models: True))


def order_ms(packages: list[Package]) -> float:
    """How long it takes to order their tasks."""
    start = perf_counter()
    found = ordered(packages)
    took = (perf_counter() - start) * 1000
    assert len(found) == sum(len(one.stage_tasks) for one in packages)
    return took


def graph_ms(stages: Stages, application: Blueprint, vertices: int) -> float:
    """How long it takes to lay the tasks after the body of an install, ``vertices`` of them."""
    instances = topology(application)
    history = History(np.full(len(instances), InstanceState.STARTED, np.uint8), execution="install-1")
    asked = Asked(instances, Request("install"), history, lambda _: Declaration())
    around, done = PrePost(stages=stages), Verdict(ExecutionStatus.COMPLETED)
    start = perf_counter()
    graph = after(asked, around, done)
    took = (perf_counter() - start) * 1000
    assert graph is not None
    assert sum(step.count for step in graph.steps if step.phase != "milestone") == vertices
    return took


SHAPES = (
    ("100 tasks of 10 packages on 100 instances", lambda: stages_of(granular_packages(10, 10)), 100, 10_000),
    ("10,000 different tasks on one instance", lambda: stages_of(granular_packages(10, 1_000)), 1, 10_000),
    ("5,000 stage tasks on two instances", lambda: _in_post(stage_packages(100)), 2, 10_000),
)
"""(what it is, its tasks, instances, vertices)"""


def _in_post(packages: list[Package]) -> Stages:
    from phaseline.lang.fast_dataclasses import altered

    stages = stages_of(packages)
    return Stages(tuple(altered(task, stage=POST) for task in stages))


def rows(count: int) -> list[Row]:
    """All of it, ``count`` times."""
    print("10,000 tasks of packages", flush=True)
    packages = stage_packages()
    order = Spread(tuple(order_ms(packages) for _ in range(count)))
    found = [
        Row(
            f"stages: {PACKAGES} packages of {TASKS} tasks put in order",
            order.text("ms", 1), f"≤ {MOST_ORDER_MS:g} ms", order.median <= MOST_ORDER_MS,
        )
    ]  # fmt: skip
    for words, made, instances, vertices in SHAPES:
        stages, application = made(), blueprint(node("web", instances=instances))
        took = Spread(tuple(graph_ms(stages, application, vertices) for _ in range(count)))
        limit = f"≤ {MOST_GRAPH_MS:,.0f} ms"
        found.append(Row(f"stages: graph of {words}", took.text("ms", 0), limit, took.median <= MOST_GRAPH_MS))
    return found
