"""Check whether a package may be enabled for a deployment.

The checks look at labels, other enabled packages and limits of roles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from phaseline.model.execution.lifecycle_actions import action_of
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.model.rows.details import DetailQuery
from phaseline.packages import applicability, compatibility, task_serializer
from phaseline.packages.format.condition_language import holds
from phaseline.packages.format.settings_values import chosen
from phaseline.plan.rounds import role_limits
from phaseline.plan.stages import task_listing
from phaseline.use_cases.loading.package_checks import product_problems
from phaseline.use_cases.lookup import enabled_tasks, label_syntax
from phaseline.use_cases.lookup.installed_packages import known
from phaseline.use_cases.lookup.read_ahead import ReadAhead
from phaseline.use_cases.lookup.secret_settings import opened
from phaseline.use_cases.queries import deployments

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.installed import PackageRow, PackageUse
    from phaseline.model.packages.package import Package
    from phaseline.model.packages.role_limits import Count
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.use_cases.lookup.installed_packages import InstalledPackage

MAKING = frozenset({"CREATE", "REINSTALL", "ADOPT", "RESTORE"})
"""Actions whose completion leaves the deployment installed."""
INSTALL = "install"
UNMAKING = frozenset({"DELETE", "ABANDON"})
"""Actions whose completion leaves the deployment not installed."""


Uses = Mapping[str, tuple["PackageRow", "PackageUse"]]
"""{name: (package, its use)} of the packages that a deployment uses"""


def uses_of(ctx: RequestContext, deployment: DeploymentRow, rows: Sequence[PackageRow] | None = None) -> Uses:
    """Return the packages that the deployment uses. ``rows``: all installed packages, if the caller has read them."""
    by_number = {row.number: row for row in (ctx.store.packages.all() if rows is None else rows)}
    used = ((by_number[use.package], use) for use in ctx.store.packages.uses(deployment.number))
    return {row.name: (row, use) for row, use in used}


class Eligibility:
    """Checks whether packages may be enabled for one deployment; the data for the checks is read only once."""

    def __init__(self, ctx: RequestContext, deployment: DeploymentRow, uses: Uses) -> None:
        """``uses``: the packages that the deployment uses."""
        self._ctx = ctx
        self._deployment = deployment
        self._uses = uses

    @cached_property
    def others(self) -> list[InstalledPackage]:
        """The packages that are enabled for the deployment."""
        return [
            known(self._ctx, row, opened(self._ctx, use.settings)) for row, use in self._uses.values() if use.is_enabled
        ]

    @cached_property
    def _reads(self) -> ReadAhead:
        """The instances and executions of the deployment."""
        reads, here = ReadAhead(self._ctx.store), [self._deployment.number]
        reads.read(DetailQuery(topologies_of=here, states_of=here, executions_of=here))
        return reads

    def against(self, found: InstalledPackage) -> list[Problem]:
        """Return all problems of enabling a package, including conflicts with other enabled packages."""
        package = found.package
        beside = [other.package for other in self._beside(package.name)]
        problems = [*product_problems(package), *applicability.unfit(package, self.labels), *self._not_now(package)]
        before = {*compatibility.overlaps(beside), *compatibility.misfits(beside)}
        problems += [
            one
            for one in (*compatibility.overlaps([*beside, package]), *compatibility.misfits([*beside, package]))
            if one not in before
        ]
        return [*problems, *self.beyond_limits(found), *self._circles(found)]

    def beyond_limits(self, found: InstalledPackage, former: InstalledPackage | None = None) -> list[Problem]:
        """Return a problem for each role whose limit the deployment exceeds with this and its other enabled packages.

        ``former``: the same package with its present settings; problems that exist already with it are left out.
        """
        beside = self._beside(found.row.name)
        before = self._beyond([*beside, *([former] if former is not None else [])])
        return [problem for problem in self._beyond([*beside, found]) if problem not in before]

    def _circles(self, found: InstalledPackage) -> list[Problem]:
        """Return the problems PL-F015 for tasks that would wait for each other in a circle if this package were enabled."""
        chosen = [*self._beside(found.row.name), found]
        if not any(one.package.granular_tasks for one in chosen) or self._deployment.kind == "resources":
            return []
        number = self._deployment.number
        labels = {key: value for key, value in self.cluster.items() if isinstance(value, str)}
        roles = enabled_tasks.roles_by_node(self._ctx, number, chosen)
        given = task_serializer.SerializerInput(INSTALL, holds, labels, slow=self._ctx.app.judge, roles=roles)
        try:
            task_listing.task_rows(task_serializer.serialized(chosen, given), self._reads.topology(number), INSTALL)
        except ProblemsError as error:
            return list(error.problems)
        return []

    def _beyond(self, chosen: Sequence[InstalledPackage]) -> list[Problem]:
        models = self._models(chosen)
        return [problem for one in chosen for problem in applicability.beyond_limits(one.package, self.count, models)]

    def wrong_settings(self, package: Package, given: Mapping[str, Value]) -> list[Problem]:
        """Return the problems of the given settings: invalid values, and settings that must not be changed."""
        return list(
            chosen(
                str(package), package.form, given, self._models(self._beside(package.name)), self._ctx.app.judge
            ).problems
        )

    def _models(self, packages: Sequence[InstalledPackage]) -> dict[str, object]:
        """Return the data that conditions refer to: the settings of these packages, and the deployment's labels."""
        return {"settings": task_serializer.settings_model(packages), "cluster": self.cluster}

    def _beside(self, name: str) -> list[InstalledPackage]:
        """Return the enabled packages that have other names than ``name``."""
        return [other for other in self.others if other.row.name != name]

    @cached_property
    def labels(self) -> Mapping[str, Sequence[str]]:
        """The labels of the deployment: {key: values}."""
        return label_syntax.by_key(self._ctx.store.labels.of(self._deployment.number))

    @property
    def cluster(self) -> Mapping[str, object]:
        """The deployment as conditions of packages see it: {key of a label: its first value}."""
        return {key: values[0] for key, values in self.labels.items()}

    @cached_property
    def count(self) -> Count:
        """A function that counts the instances of the deployment that have a role."""
        return role_limits.counting(self._reads.topology(self._deployment.number))

    def _not_now(self, package: Package) -> list[Problem]:
        """Return the problem PL-F067 if instances are installed and the package must be enabled before that."""
        if (
            package.is_hotpluggable
            or not deployments.living_count(self._reads, self._deployment)
            or self._is_begun_only()
        ):
            return []
        message = (
            f"{package} cannot be enabled for '{self._deployment.name}', which is installed: it is not hot-pluggable"
        )
        mend = "enable it before the deployment is installed; or use a version with is_hotpluggable: true"
        return [Problem("PL-F067", message, mend, Place(subject=str(package)))]

    def _is_begun_only(self) -> bool:
        """Return whether no install has completed since the last completed uninstall, although one has begun.

        Return False if the stored executions do not show this, for example because some were purged.
        """
        is_begun = False
        for row in reversed(self._reads.executions(self._deployment.number)):
            action = action_of(row.request.workflow)
            if row.status is ExecutionStatus.COMPLETED and action in MAKING:
                return False
            if row.status is ExecutionStatus.COMPLETED and action in UNMAKING:
                return is_begun
            is_begun = is_begun or action in MAKING
        return is_begun
