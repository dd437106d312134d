"""Packages with tasks on instances, played from the enabled packages to the last call by the real planner, scheduler and store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.packages.made import files

from phaseline.model.blueprint.blueprint import Blueprint, Value
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.packages.package import Package
from phaseline.model.packages.stage_tasks import Stages
from phaseline.model.rows.rows import ExecutionRow
from phaseline.packages.format.condition_language import holds
from phaseline.packages.reader import read_package
from phaseline.packages.task_serializer import SerializerInput, serialized
from phaseline.testing.builders import topology
from phaseline.testing.rehearsal import Stage
from phaseline.testing.scripted_executor import CallScript, Says

ONCE = RetryPolicy(0, 0.0)


def stage_task(stage: str, *, role: str = "'*'", **more: Value) -> str:
    """An item of ``tasks.yaml``."""
    said = "".join(f"  {name}: {json.dumps(value)}\n" for name, value in more.items() if name != "parameters")
    parameters = {"cmd": "./a.sh", "timeout": 60, "retries": 0, **dict(more.get("parameters") or {})}
    return f"- role: {role}\n  stage: {stage}\n  type: shell\n  parameters: {json.dumps(parameters)}\n{said}"


def granular_task(id: str, *, role: Value = "*", kind: str = "shell", **more: Value) -> str:
    """An item of ``deployment_tasks.yaml``; underscores of keys that begin with ``cross`` stand for hyphens."""
    said = {"id": id, "type": kind, "version": "2.0.0", **({} if kind == "stage" else {"role": role}), **more}
    if kind == "shell":
        said["parameters"] = {"cmd": f"./{id}.sh", "retries": 0, **dict(more.get("parameters") or {})}
    told = {name.replace("_", "-") if name.startswith("cross") else name: value for name, value in said.items()}
    return f"- {json.dumps(told)}\n"


def package(
    name: str, *stages: str, tasks: str = "", granular: str = "", version: str = "1.0.0", number: int = 0, **more: str
) -> Package:
    """A package with a task for everybody in each of these stages; or with these ``tasks`` and these ``granular`` ones."""
    found = {**more, "tasks": tasks or "".join(map(stage_task, stages)) or "[]"}
    number = number or (4 if granular else 2)
    if granular:
        found["deployment_tasks"] = granular
    made = files(number, **found)
    text = made["metadata.yaml"].decode().replace("name: lma", f"name: {name}").replace("1.0.2", version)
    read = read_package({**made, "metadata.yaml": text.encode()})
    assert read.package is not None, [f"{problem.message}; {problem.mend}" for problem in read.problems]
    return read.package


@dataclass
class Enabled:
    """A package that is enabled for a deployment."""

    package: Package
    settings: Mapping[str, Value] = field(default_factory=dict)
    folder: str = "/packages/x"


def stages_of(
    packages: Sequence[Package | Enabled], workflow: str = "install", *, allows_master: bool = False
) -> Stages:
    """The list of tasks as it is stored with an execution."""
    enabled = [one if isinstance(one, Enabled) else Enabled(one) for one in packages]
    return serialized(enabled, SerializerInput(workflow, holds, allows_master=allows_master))


class Played:
    """A deployment on which workflows are played one after the other."""

    def __init__(self, application: Blueprint, **said: Says | Sequence[Says]) -> None:
        """``said``: {task or operation: what it says}."""
        self.application = application
        self.topology = topology(application)
        self.stage = Stage(self.topology, {}, lambda _: Declaration(repeatable=True))
        self.said = {name: (one,) if isinstance(one, Says) else tuple(one) for name, one in said.items()}
        self.script = CallScript(self.said, frozenset(), self.stage.clock.now())

    def run(
        self,
        packages: Sequence[Package | Enabled],
        workflow: str = "install",
        *,
        crash_in: Sequence[int] = (),
        allows_master: bool = False,
        **parameters: Value,
    ) -> ExecutionRow:
        """Play a workflow with these packages enabled."""
        self.script = CallScript(self.said, frozenset(crash_in), self.stage.clock.now())
        around = PrePost(stages=stages_of(packages, workflow, allows_master=allows_master))
        request = Request(workflow, parameters, ONCE, is_surrounded=bool(around.stages))
        return self.stage.play(request, self.script, around)

    def retry(self, row: ExecutionRow, **said: Says) -> ExecutionRow:
        """Have an execution go on, calls saying this from now on."""
        self.script = CallScript({name: (one,) for name, one in said.items()}, frozenset(), self.stage.clock.now())
        return self.stage.retry(row, self.script)

    @property
    def now(self) -> Topology:
        """The instances as they are."""
        return self.stage.store.topology(self.stage.deployment)

    @property
    def calls(self) -> list[str]:
        """``what who`` of each call, in order."""
        return [f"{call.operation} {' '.join(call.instances)}" for call in self.script.calls]

    @property
    def tasks(self) -> list[str]:
        """The tasks that were called, each once, in the order of their first calls."""
        return list(
            dict.fromkeys(
                call.operation for call in self.script.calls if "#" in call.operation or "/" in call.operation
            )
        )

    def graphs(self, row: ExecutionRow) -> list[str]:
        """Names of the rounds."""
        return [graph.name for graph in self.stage.store.graphs(row.number)]
