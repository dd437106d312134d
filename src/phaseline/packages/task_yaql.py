"""Conditions and dependencies of granular tasks in YAQL: the data that they read, and the results that they may give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.packages.format.deployment_tasks import check_relations, crossing
from phaseline.packages.format.problem_report import FileElement, Findings, PackageFile
from phaseline.packages.format.value_forms import ID, ID_ALLOWED, rows, text
from phaseline.packages.languages.slow_languages import ConditionError

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.package import GranularTask, Package
    from phaseline.packages.languages.slow_languages import Slow


class ConfiguredPackage(Protocol):
    """A package that is enabled, with its settings."""

    @property
    def package(self) -> Package:
        """The package as read from its files."""
        ...

    @property
    def settings(self) -> Mapping[str, Value]:
        """The deployment's settings of the package."""
        ...


class YaqlOfTasks:
    """Evaluates YAQL expressions for one deployment. In an expression, ``$`` is the data that Fuel gives a node.

    This data is {package: its settings}, the labels of the deployment, and ``roles``, the roles of the node. In Fuel,
    an expression can also compare the data with an earlier state; here there is none, so everything counts as changed.
    """

    def __init__(
        self,
        slow: Slow | None,
        chosen: Sequence[ConfiguredPackage],
        cluster: Mapping[str, Value],
        roles: Mapping[str, Sequence[str]],
    ) -> None:
        """Prepare the data. Without ``slow`` nothing is evaluated. ``roles`` is {node: the roles of its instances}."""
        self._slow, self._roles = slow, roles
        self._data: dict[str, Value] = dict(cluster)
        for one in chosen:
            about: dict[str, Value] = {"enabled": True, "label": one.package.form.label}
            self._data[one.package.name] = {**one.settings, "metadata": about}

    def false_on(self, task: GranularTask) -> tuple[str, ...] | None:
        """Return the nodes for which the condition of a task is false.

        If no roles of nodes are known, return None for a false condition, which means all nodes. Raises:
        ``ProblemsError`` PL-F018 for an expression that cannot be evaluated.
        """
        condition = task.yaql.get("condition")
        if condition is None or self._slow is None:
            return ()
        if not self._roles:
            return () if self._value(task, "condition", ()) else None
        return tuple(node for node, roles in self._roles.items() if not self._value(task, "condition", roles))

    def dependencies(self, task: GranularTask, key: str) -> Any:
        """Return the dependencies that the YAQL expression under ``key`` gives, after the checks that dependencies
        written in a file get. Raises: PL-F018.
        """
        if self._slow is None:
            return ()
        roles = sorted({role for some in self._roles.values() for role in some})
        found = self._value(task, key, roles)
        findings = Findings()
        form = check_relations if key.startswith("cross") else rows(text(ID, ID_ALLOWED), of="ids of tasks")
        form(
            [] if found is None else found,
            FileElement(findings, PackageFile("deployment_tasks.yaml"), (task.index, key)),
        )
        if findings.errors_count:
            raise ProblemsError(findings.problems(f"{task.plugin}-{task.version}"))
        said: Any = found or ()
        return crossing(said) if key.startswith("cross") else tuple(said)

    def _value(self, task: GranularTask, key: str, roles: Sequence[str]) -> Value:
        assert self._slow is not None
        try:
            return self._slow.yaql(task.yaql[key], {**self._data, "roles": list(roles)})
        except ConditionError as error:
            title = f"{task.plugin}-{task.version}"
            message = f"{title}: deployment_tasks.yaml task {task.index + 1}, {key}: the YAQL cannot be evaluated: {error.reason}"
            place = Place("deployment_tasks.yaml", path=f"[{task.index}].{key}", subject=title)
            raise ProblemsError([Problem("PL-F018", message, error.mend, place)]) from error
