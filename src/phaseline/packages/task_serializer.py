"""Convert enabled packages to the data that is stored with an execution.

Tasks are put in order, defaults are filled in, limits of roles are computed and conditions are evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.packages.package import GranularTask, Package, Roles, StageTask, Strategy
from phaseline.model.packages.role_limits import SHAPING, RoleLimits
from phaseline.model.packages.stage_tasks import ExecutionTask, Stages, TaskOrigin, Ties
from phaseline.model.problems.problem import ProblemsError
from phaseline.packages.applicability import limits_of
from phaseline.packages.format.settings_values import as_model
from phaseline.packages.task_order import granular, ordered
from phaseline.packages.task_yaql import YaqlOfTasks

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.packages.languages.slow_languages import Slow

FIRST_FORMAT = "1.0.0"
"""The format in which a role includes its primary instance, so that tasks need not name it separately."""
PRIMARY = "primary-"
STEP = 100
"""Difference between the priorities of two consecutive tasks."""
DEFAULTS: Mapping[str, Mapping[str, Value]] = {
    "shell": {"cwd": ".", "retries": 3, "interval": 1, "timeout": 300},
    "puppet": {"cwd": ".", "retries": 2, "interval": 1, "timeout": 300},
    "reboot": {"timeout": 300},
}
"""{type of a task: default parameters}; a relative ``cwd`` is relative to the folder of its scripts."""
GRANULAR_TIMEOUTS: Mapping[str, Value] = {"puppet": 5400, "reboot": 900}
"""{type of task: time limit in seconds} for granular tasks whose limit differs from that of stage tasks."""
FALSE = "its condition is false"
NO_MASTER = "tasks of the role master are off: set plugins.allow_master"

Holds: TypeAlias = Callable[[str, Mapping[str, "Value"]], bool]
"""Function that returns whether a condition is true for the given models."""


class EnabledPackage(Protocol):
    """A package that is enabled for a deployment."""

    @property
    def package(self) -> Package:
        """The package as read from its files."""
        ...

    @property
    def settings(self) -> Mapping[str, Value]:
        """The deployment's settings of the package, including defaults."""
        ...

    @property
    def folder(self) -> str:
        """The folder that contains the package's files."""
        ...


@frozen
class SerializerInput:
    """The deployment for which tasks are serialized. ``cluster`` is the data about it that conditions read.

    ``work``: folder for the work folders of instances on this machine. ``allows_master``: tasks may change this
    machine. ``stored``: {package: its settings as stored}, for packages whose stored settings differ from ``settings``.
    ``slow``: evaluates YAQL; without it, conditions in YAQL count as true and dependencies as empty. ``roles``: {node:
    the roles of its instances}.
    """

    workflow: str
    holds: Holds
    cluster: Mapping[str, Value] = {}
    work: str = ""
    allows_master: bool = False
    stored: Mapping[str, Mapping[str, Value]] = {}
    slow: Slow | None = None
    roles: Mapping[str, Sequence[str]] = {}


def serialized(chosen: Sequence[EnabledPackage], given: SerializerInput) -> Stages:
    """Return the tasks of these packages for the workflow, in the order in which they run (F27), and the limits of roles.

    Raises: ``ProblemsError`` for limits (PL-F069) and expressions in YAQL (PL-F018) that cannot be evaluated.
    """
    return _Serializing(chosen, given).stages()


class _Serializing:
    def __init__(self, chosen: Sequence[EnabledPackage], given: SerializerInput) -> None:
        self._packages = [one.package for one in chosen]
        self._given = given
        self._origins = {(one.package.name, one.package.version): _origin(one, given) for one in chosen}
        self._first = {(one.name, one.version) for one in self._packages if one.format == FIRST_FORMAT}
        self._split = frozenset(role.id for one in self._packages for role in one.node_roles if role.has_primary)
        self._models: Mapping[str, Value] = {"settings": settings_model(chosen), "cluster": dict(given.cluster)}
        self._yaql = YaqlOfTasks(given.slow, chosen, given.cluster, given.roles)

    def stages(self) -> Stages:
        tasks: list[ExecutionTask] = []
        count = dict.fromkeys((task.stage for one in self._packages for task in one.stage_tasks), 0)
        for task in ordered(self._packages):
            if self._given.workflow in task.on:
                count[task.stage] += STEP
                tasks.append(self._stage_task(task, count[task.stage]))
        tasks += [self._granular(task) for task in granular(self._packages) if self._given.workflow in task.on]
        return Stages(tuple(tasks), self._split, self._limits() if self._given.workflow in SHAPING else ())

    def _limits(self) -> tuple[RoleLimits, ...]:
        """Return the limits of roles. Raises: ``ProblemsError`` for limits that cannot be evaluated (PL-F069)."""
        looked = [limits_of(one, self._models) for one in self._packages]
        problems = [problem for _, wrong in looked for problem in wrong]
        if problems:
            raise ProblemsError(problems)
        return tuple(one for found, _ in looked for one in found)

    def _stage_task(self, task: StageTask, priority: int) -> ExecutionTask:
        return ExecutionTask(
            f"{task.plugin}#{task.index + 1}",
            task.type,
            self._origins[task.plugin, task.version],
            task.index,
            self._roles(task),
            {**DEFAULTS.get(task.type, {}), **task.parameters},
            task.stage,
            task.written,
            priority,
            task.id,
            task.diagnostic_name or f"{task.plugin}-{task.version}",
            task.fail_on_error,
            self._skipped(task),
            bool(task.reexecute_on),
        )

    def _granular(self, task: GranularTask) -> ExecutionTask:
        false_on = self._yaql.false_on(task)
        is_nowhere = false_on is None or (len(false_on) > 0 and len(false_on) == len(self._given.roles))
        defaults = dict(DEFAULTS.get(task.type, {}))
        if task.type in GRANULAR_TIMEOUTS:
            defaults["timeout"] = GRANULAR_TIMEOUTS[task.type]
        return ExecutionTask(
            f"{task.plugin}/{task.id}",
            task.type,
            self._origins[task.plugin, task.version],
            task.index,
            self._roles(task),
            {**defaults, **{name: value for name, value in task.parameters.items() if name != "strategy"}},
            id=task.id,
            title=f"{task.plugin}-{task.version}",
            fail_on_error=task.fail_on_error,
            skipped=self._skipped(task) or (FALSE if is_nowhere else ""),
            reexecutes=bool(task.reexecute_on or task.refresh_on),
            at_once=_at_once(task.strategy),
            fault_tolerance=task.fault_tolerance,
            ties=self._ties(task),
            not_on=false_on if false_on and not is_nowhere else (),
        )

    def _ties(self, task: GranularTask) -> Ties:
        """Return the dependencies of a task, with YAQL expressions evaluated."""
        written = {
            "requires": task.requires,
            "required_for": task.required_for,
            "cross-depends": task.cross_depends,
            "cross-depended-by": task.cross_depended_by,
        }
        said: dict[str, Any] = {
            key: self._yaql.dependencies(task, key) if key in task.yaql else value for key, value in written.items()
        }
        return Ties(
            said["requires"],
            said["required_for"],
            said["cross-depends"],
            said["cross-depended-by"],
            task.tasks,
            task.stage,
        )

    def _skipped(self, task: StageTask | GranularTask) -> str:
        if task.condition and not self._given.holds(task.condition, self._models):
            return FALSE
        return NO_MASTER if task.roles.scope == "master" and not self._given.allows_master else ""

    def _roles(self, task: StageTask | GranularTask) -> Roles:
        """Return the roles of a task. In the first format, a role also includes its primary instance."""
        if (task.plugin, task.version) not in self._first:
            return task.roles
        primary = tuple(PRIMARY + name for name in task.roles.names if name in self._split)
        return altered(task.roles, names=(*task.roles.names, *primary)) if primary else task.roles


def _origin(one: EnabledPackage, given: SerializerInput) -> TaskOrigin:
    package = one.package
    scripts = next((release.scripts for release in package.releases if release.scripts), "")
    settings = dict(given.stored.get(package.name, one.settings))
    return TaskOrigin(package.name, package.version, one.folder, scripts, given.work, settings)


def settings_model(chosen: Sequence[EnabledPackage]) -> dict[str, Value]:
    """Return the settings that conditions can read, such as ``settings:net.port.value``."""
    found: dict[str, Value] = {}
    for one in chosen:
        found |= as_model(str(one.package), one.package.form, one.settings)
    return found


def _at_once(strategy: Strategy) -> int:
    return 1 if strategy.type == "one_by_one" else strategy.amount or 0
