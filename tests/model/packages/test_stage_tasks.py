"""The tasks of an execution as they are stored."""

from __future__ import annotations

import json

from phaseline.model.packages.package import CrossDependency, Roles
from phaseline.model.packages.role_limits import RoleLimits
from phaseline.model.packages.stage_tasks import ExecutionTask, Stages, TaskOrigin, Ties, from_json, to_json

NET, DISK = (
    TaskOrigin("net", "1.0.0", "/packages/net", "scripts", "/srv/work", {"port": 80}),
    TaskOrigin("disk", "2.0.1"),
)
ACROSS = CrossDependency("b.*", Roles((), ("we.?b",)), "any", is_pattern=True)
TASKS = (
    ExecutionTask(
        "net#1",
        "shell",
        NET,
        0,
        Roles(("web",)),
        {"cmd": "x", "list": [1, {"a": None}]},
        "post_deployment",
        "post_deployment/5",
        100,
    ),
    ExecutionTask(
        "net#2",
        "reboot",
        NET,
        1,
        Roles(scope="all"),
        {"timeout": 9},
        "post_deployment",
        skipped="its condition is false",
    ),
    ExecutionTask(
        "disk/a",
        "shell",
        DISK,
        0,
        id="a",
        ties=Ties(("b",), ("c",), (ACROSS,), (ACROSS,), ("d",), "pre_deployment"),
        at_once=2,
    ),
    ExecutionTask("disk/o", "operation", DISK, 2, id="o", parameters={"operation": "house.backup.save"}, ties=Ties()),
    ExecutionTask(
        "disk/g", "group", DISK, 1, id="g", fault_tolerance="20%", ties=Ties(), fail_on_error=False, reexecutes=True
    ),
)


def test_what_is_stored_reads_back_as_it_was() -> None:
    stages = Stages(TASKS, frozenset({"controller", "ceph"}), (RoleLimits("ceph-1.0.0", "ceph", 1, mend="More."),))
    stored = json.loads(json.dumps(to_json(stages)))
    assert len(stored["origins"]) == 2
    assert from_json(stored) == stages
    assert from_json(json.loads(json.dumps(to_json(Stages())))) == Stages()


def test_what_a_task_calls_knows_everything_of_it() -> None:
    (task, *_) = TASKS
    operation = Stages(TASKS).operation("net#1")
    assert operation is not None
    assert operation.inputs == {
        "task": {"package": "net", "version": "1.0.0", "file": "tasks.yaml", "index": 0, "stage": "post_deployment/5", "id": "", "title": ""},
        "parameters": task.parameters, "package_folder": "/packages/net", "scripts": "scripts", "work": "/srv/work", "settings": {"port": 80},
    }  # fmt: skip
    assert Stages(TASKS).operation("cloudify.interfaces.lifecycle.create") is None
    assert Stages(TASKS).operation("disk/o") is None


def test_what_may_not_be_tried_again_is_not_called_again_after_a_crash() -> None:
    def of(kind: str, **said: int) -> ExecutionTask:
        return ExecutionTask("net#1", kind, NET, 0, parameters=said)

    assert [of("shell", retries=3).is_repeatable, of("shell", retries=0).is_repeatable] == [True, False]
    assert [of("python").is_repeatable, of("python", retries=1).is_repeatable, of("puppet").is_repeatable] == [
        False,
        True,
        True,
    ]
    assert of("shell", retries=0).operation().implementation.endswith(".shell_once")
    assert of("python", timeout=5).operation().timeout_s == 5
    assert of("shell", timeout=5, retries=1, interval=2).operation().timeout_s is None
