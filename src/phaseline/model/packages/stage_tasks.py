"""Package data of one execution, stored with it: ordered, serialized tasks and limits of roles (source document 4).

The execution uses this copy, whatever happens to the packages later. Conditions are evaluated and defaults filled in.
The instances of a task are given by its roles, because instances are added and removed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import as_dict, field_defaults, frozen
from phaseline.model.blueprint.blueprint import Operation
from phaseline.model.packages.package import NOBODY, CrossDependency, Roles
from phaseline.model.packages.role_limits import RoleLimits

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

SYNC, GROUP, SKIPPED = "stage", "group", "skipped"
"""Types of tasks that call nothing: a point between stages, a group of instances, a skipped task."""
REBOOT, OPERATION, SHELL, PYTHON = "reboot", "operation", "shell", "python"
RUNNERS = "phaseline.tasks.task_types."
"""The module of the functions that run tasks; most are named like the task type."""
NOTING, AWAITING = " note", " await"
"""Suffixes of the first and the last call of a task that reboots."""


@frozen
class TaskOrigin:
    """The package of a task. ``folder``: its location; ``scripts``: the folder of its scripts in it.

    ``work``: the folder with the work folders of instances on this machine. ``settings``: the deployment's values for it.
    """

    plugin: str
    version: str
    folder: str = ""
    scripts: str = ""
    work: str = ""
    settings: Mapping[str, Value] = {}


@frozen
class Ties:
    """Dependencies of a task of ``deployment_tasks.yaml``, as written: names of tasks, or ``/regular expressions/``.

    ``stage``: the stage in the old form. ``tasks``: for a group, the tasks that its instances run.
    """

    requires: tuple[str, ...] = ()
    required_for: tuple[str, ...] = ()
    depends: tuple[CrossDependency, ...] = ()
    depended_by: tuple[CrossDependency, ...] = ()
    tasks: tuple[str, ...] = ()
    stage: str = ""


@frozen
class ExecutionTask:
    """One task. ``phase``: the name of what it calls, different from that of all others of the execution.

    ``stage``: the stage of a task of ``tasks.yaml``, in which it runs, with its ``priority`` in it (100, 200, ...) and its stage as
    ``written``; empty for one of ``deployment_tasks.yaml``, which has ``ties``. ``skipped``: why it is not carried out,
    such as a false condition; others then find it done. ``at_once``: how many instances may run it at a time, 0: any number. ``reexecutes``: it runs
    again on instances that were there before. ``fault_tolerance``: the fault tolerance of a group, as written. ``not_on``: nodes for whose instances
    its condition is false.
    """

    phase: str
    type: str
    origin: TaskOrigin
    index: int
    roles: Roles = NOBODY
    parameters: Mapping[str, Value] = {}
    stage: str = ""
    written: str = ""
    priority: int = 0
    id: str = ""
    title: str = ""
    fail_on_error: bool = True
    skipped: str = ""
    reexecutes: bool = False
    at_once: int = 0
    fault_tolerance: int | str | None = None
    ties: Ties | None = None
    not_on: tuple[str, ...] = ()

    @property
    def is_called(self) -> bool:
        """True when it calls anything at all."""
        return not self.skipped and self.type not in {SYNC, GROUP, SKIPPED}

    @property
    def file(self) -> str:
        """The file of its package that declares it."""
        return "tasks.yaml" if self.ties is None else "deployment_tasks.yaml"

    @property
    def retries(self) -> int:
        """The number of retries after a failure."""
        found = self.parameters.get("retries")
        return found if isinstance(found, int) else 0

    @property
    def is_repeatable(self) -> bool:
        """What may be tried again after a failure may be called again after a crash; of a reboot only what is round it."""
        return self.type not in {SHELL, PYTHON} or self.retries > 0

    def operation(self, phase: str = "") -> Operation:
        """Return the operation that one of the task's own phases calls, on instances or on the engine's machine."""
        interval = self.parameters.get("interval")
        return Operation(
            phase or self.phase,
            "function",
            implementation=RUNNERS + self._runner(phase),
            inputs=self._inputs(),
            max_retries=self.retries,
            retry_interval_s=float(interval) if isinstance(interval, int | float) else 0.0,
            timeout_s=self._timeout_s,
        )

    @property
    def _timeout_s(self) -> float | None:
        """How long one call may take where that is not for the runner to see to: a function is ended with its process."""
        found = self.parameters.get("timeout")
        return float(found) if self.type == PYTHON and isinstance(found, int | float) and found else None

    def _runner(self, phase: str) -> str:
        if self.type == REBOOT:
            return "note_boot" if phase.endswith(NOTING) else "await_boot"
        return "shell_once" if self.type == SHELL and not self.is_repeatable else self.type

    def _inputs(self) -> dict[str, Value]:
        origin = self.origin
        task: dict[str, Value] = {
            "package": origin.plugin,
            "version": origin.version,
            "file": self.file,
            "index": self.index,
            "stage": self.written,
            "id": self.id,
            "title": self.title,
        }
        return {
            "task": task,
            "parameters": dict(self.parameters),
            "package_folder": origin.folder,
            "scripts": origin.scripts,
            "work": origin.work,
            "settings": dict(origin.settings),
        }


@dataclass(frozen=True)
class Stages:
    """The tasks of one execution: those of ``tasks.yaml`` in the order in which they run, then the others by package and place.

    ``split``: roles that have a primary instance, which their name alone does not mean (F19). ``limits``: how many instances
    may have a role, where the workflow brings the deployment to a number of them.
    """

    tasks: tuple[ExecutionTask, ...] = ()
    split: frozenset[str] = frozenset()
    limits: tuple[RoleLimits, ...] = ()

    def __len__(self) -> int:
        """Return how many tasks there are."""
        return len(self.tasks)

    def __bool__(self) -> bool:
        """Return True when there is anything in it that the execution has to look at."""
        return bool(self.tasks or self.limits)

    def __iter__(self) -> Iterator[ExecutionTask]:
        """Return the tasks in order."""
        return iter(self.tasks)

    def operation(self, phase: str) -> Operation | None:
        """Return the operation that a phase of a task calls; None for any other phase."""
        task = self._by_phase.get(phase)
        return None if task is None else task.operation(phase)

    @cached_property
    def _by_phase(self) -> Mapping[str, ExecutionTask]:
        return {phase: task for task in self.tasks for phase in own_phases(task)}


NO_STAGES = Stages()


def own_phases(task: ExecutionTask) -> tuple[str, ...]:
    """Return the names of the phases under which a task is called, in order; operations of instances have other names."""
    if task.type == OPERATION:
        return ()
    return (task.phase + NOTING, task.phase + AWAITING) if task.type == REBOOT else (task.phase,)


def to_json(stages: Stages) -> dict[str, Value]:
    """Return the tasks as JSON has them: an origin once for all tasks in a row, otherwise what differs from the defaults.

    >>> from_json(to_json(Stages((ExecutionTask("net#1", "shell", TaskOrigin("net", "1.0.0"), 0, priority=100),)))).tasks[0].priority
    100
    """
    origins: list[TaskOrigin] = []
    tasks: list[Value] = []
    for task in stages.tasks:
        if not origins or task.origin != origins[-1]:
            origins.append(task.origin)
        tasks.append({**_differing(task), "origin": len(origins) - 1})
    found: dict[str, Value] = {
        "origins": [_differing(origin) for origin in origins],
        "tasks": tasks,
        "split": [*sorted(stages.split)],
    }
    return {**found, "limits": [as_dict(one) for one in stages.limits]} if stages.limits else found


def from_json(stored: Mapping[str, Any]) -> Stages:
    """Return the tasks of ``to_json``."""
    origins = [TaskOrigin(**one) for one in stored["origins"]]
    tasks = tuple(ExecutionTask(**{**_read(one), "origin": origins[one["origin"]]}) for one in stored["tasks"])
    limits = tuple(RoleLimits(**one) for one in stored.get("limits", ()))
    return Stages(tasks, frozenset(stored["split"]), limits)


_DEFAULTS: Mapping[type, Mapping[str, Any]] = {
    kind: field_defaults(kind) for kind in (ExecutionTask, TaskOrigin, Ties, Roles, CrossDependency)
}
_KINDS: Mapping[str, type] = {"roles": Roles, "ties": Ties}
_MANY: Mapping[str, type] = {"depends": CrossDependency, "depended_by": CrossDependency}


def _differing(one: Any) -> dict[str, Value]:
    defaults = _DEFAULTS[type(one)]
    return {name: _plain(value) for name, value in as_dict(one).items() if value != defaults[name]}


def _plain(value: Any) -> Value:
    if type(value) in _DEFAULTS:
        return _differing(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    found: Value = dict(value) if isinstance(value, Mapping) else value
    return found


def _read(stored: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in stored.items():
        if name in _KINDS:
            found[name] = _KINDS[name](**_read(value))
        elif name in _MANY:
            found[name] = tuple(_MANY[name](**_read(item)) for item in value)
        else:
            found[name] = tuple(value) if isinstance(value, list) else value
    return found
