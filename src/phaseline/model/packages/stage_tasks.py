"""The package data of one execution, stored with it: tasks in order, and limits of roles (see the Fuel document, source 4).

Later changes of packages do not affect this copy. Conditions are evaluated and defaults filled in. A task names roles
instead of instances, because instances may be added and removed while the execution runs.
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
"""Types of tasks that call nothing: a point between stages, a group of instances, and a skipped task."""
REBOOT, OPERATION, SHELL, PYTHON = "reboot", "operation", "shell", "python"
RUNNERS = "phaseline.tasks.task_types."
"""Prefix of the functions that run tasks; most are named like the task type."""
NOTING, AWAITING = " note", " await"
"""Suffixes of the phases of the first and the last call of a task that reboots an instance."""


@frozen
class TaskOrigin:
    """The package that a task comes from. ``folder`` is its location, ``scripts`` the folder of its scripts in it.

    ``work`` is the folder on this machine that has a work folder for each instance. ``settings`` are the deployment's
    settings of the package.
    """

    plugin: str
    version: str
    folder: str = ""
    scripts: str = ""
    work: str = ""
    settings: Mapping[str, Value] = {}


@frozen
class Ties:
    """The dependencies of a task of ``deployment_tasks.yaml``, as written: names of tasks, or ``/regular expressions/``.

    ``stage`` is the stage in the old form. ``tasks`` are the tasks that the instances of a group run.
    """

    requires: tuple[str, ...] = ()
    required_for: tuple[str, ...] = ()
    depends: tuple[CrossDependency, ...] = ()
    depended_by: tuple[CrossDependency, ...] = ()
    tasks: tuple[str, ...] = ()
    stage: str = ""


@frozen
class ExecutionTask:
    """One task of an execution. ``phase`` is the name of its phase, unique in the execution.

    A task of ``tasks.yaml`` has a ``stage``, its ``priority`` in it (100, 200, ...), and its stage as ``written``. A
    task of ``deployment_tasks.yaml`` has ``ties`` and an empty ``stage``. ``skipped`` is why it is not carried out,
    such as a false condition; tasks that need it treat it as done. ``at_once`` is how many instances may run it at a
    time (0: any number). ``reexecutes``: it runs again on instances that existed before. ``fault_tolerance`` is that of
    a group, as written. ``not_on`` are nodes for whose instances its condition is false.
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
        """True if the task calls a function."""
        return not self.skipped and self.type not in {SYNC, GROUP, SKIPPED}

    @property
    def file(self) -> str:
        """Name of the file in the package that declares the task."""
        return "tasks.yaml" if self.ties is None else "deployment_tasks.yaml"

    @property
    def retries(self) -> int:
        """The number of retries after a failure."""
        found = self.parameters.get("retries")
        return found if isinstance(found, int) else 0

    @property
    def is_repeatable(self) -> bool:
        """True if the task may be called again after a crash: if it may be retried, except for the reboot itself."""
        return self.type not in {SHELL, PYTHON} or self.retries > 0

    def operation(self, phase: str = "") -> Operation:
        """Return the operation that a phase of the task calls, on instances or on the engine's machine."""
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
        """Return the time limit (s) of one call if the engine must enforce it, or None if the runner enforces it."""
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
    """The tasks of one execution: those of ``tasks.yaml`` in the order in which they run, then the others by package and index.

    ``split`` are roles with a primary instance, which the role's name does not include (F19). ``limits`` limit how many
    instances may have a role, if the workflow changes their number.
    """

    tasks: tuple[ExecutionTask, ...] = ()
    split: frozenset[str] = frozenset()
    limits: tuple[RoleLimits, ...] = ()

    def __len__(self) -> int:
        """Return the number of tasks."""
        return len(self.tasks)

    def __bool__(self) -> bool:
        """Return True if there are tasks or limits that concern the execution."""
        return bool(self.tasks or self.limits)

    def __iter__(self) -> Iterator[ExecutionTask]:
        """Return the tasks in order."""
        return iter(self.tasks)

    def operation(self, phase: str) -> Operation | None:
        """Return the operation that a phase of a task calls, or None for any other phase."""
        task = self._by_phase.get(phase)
        return None if task is None else task.operation(phase)

    @cached_property
    def _by_phase(self) -> Mapping[str, ExecutionTask]:
        return {phase: task for task in self.tasks for phase in own_phases(task)}


NO_STAGES = Stages()


def own_phases(task: ExecutionTask) -> tuple[str, ...]:
    """Return the names of the phases under which a task is called, in order."""
    if task.type == OPERATION:
        return ()
    return (task.phase + NOTING, task.phase + AWAITING) if task.type == REBOOT else (task.phase,)


def to_json(stages: Stages) -> dict[str, Value]:
    """Return the tasks as JSON values; defaults and repeated origins are left out.

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
    """Return the tasks from the JSON values that ``to_json`` made."""
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
