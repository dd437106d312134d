"""Packages of a deployment: which version, with which settings; and whether they are for it at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.actions import action_of
from phaseline.model.frozen import altered, frozen
from phaseline.model.package_rows import PackageUse
from phaseline.model.packages import Roles
from phaseline.model.problem import Place, Problem, ProblemsError, fail
from phaseline.model.status import ExecutionStatus
from phaseline.use_cases.finding import find_deployment
from phaseline.use_cases.packages.checking import product_problems
from phaseline.use_cases.packages.installing import tell_engine
from phaseline.use_cases.packages.known import known, lay_out_package, rows
from phaseline.use_cases.packages.naming import find_package, read_name
from phaseline.use_cases.packages.secrecy import opened, sealed, shown

if TYPE_CHECKING:
    from phaseline.model.blueprint import Value
    from phaseline.model.package_rows import PackageRow
    from phaseline.model.packages import Package
    from phaseline.model.rows import DeploymentRow
    from phaseline.model.topology import Topology
    from phaseline.use_cases.packages.known import Known
    from phaseline.use_cases.workplace import Workplace

MAKING = frozenset({"CREATE", "REINSTALL", "ADOPT", "RESTORE"})
"""Actions behind which a deployment is installed."""
UNMAKING = frozenset({"DELETE", "ABANDON"})
"""Actions behind which it is not any more."""


@frozen
class EnabledView:
    """A package as a deployment has it. ``settings``: all of them, defaults included, secrets hidden.

    ``state``: ``enabled``; ``imported``: only its code is used; ``available``: it could be enabled; ``unfit``, with the
    reason in ``why``. ``replaced``: another version that was enabled until now.
    """

    deployment: str
    package: str
    version: str
    title: str
    state: str
    settings: Mapping[str, Value]
    is_hotpluggable: bool
    why: str = ""
    replaced: str = ""
    warnings: Sequence[Problem] = ()


def enable(
    place: Workplace, name: str, package: str, *, settings: Mapping[str, Value] | None = None, switch: bool = False
) -> EnabledView:
    """Have the tasks of a package run in the deployment's workflows; or set other settings of one that is enabled.

    ``package``: ``NAME==VERSION``, or ``NAME`` for the version that is enabled, otherwise the newest. ``switch``: it comes in
    the place of another version.

    Raises: ProblemsError with everything that is against it: PL-F062, PL-F066 to PL-F069, PL-F016, PL-F017, PL-F032 to
    PL-F034; PL-C016 while an execution of the deployment is open.
    """
    deployment = find_deployment(place.store, name, to_change=True)
    uses = _uses(place, deployment)
    row = _meant(place, package, list(uses.values()))
    before, use = uses.get(row.name, (None, None))
    given = {**(opened(place, use.settings) if use is not None else {}), **(settings or {})}
    asked = _Asked(place, deployment)
    chosen = known(place, row, given)
    is_same = use is not None and use.is_enabled and use.package == row.number
    problems = [] if is_same else [*_refusals(row, before, use, switch=switch), *asked.against(chosen)]
    problems += [*asked.wrong_settings(chosen.package, given), *_missing_secrets(place, given)]
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise ProblemsError(errors)
    lay_out_package(place, row.digest, row.number)
    place.store.packages.use(
        PackageUse(
            deployment.number,
            row.number,
            is_enabled=True,
            is_imported=use is not None and use.is_imported,
            settings=sealed(place, chosen.package.form, given),
            folders=chosen.folders,
            at=place.clock.now(),
            by=place.actor.name,
        )
    )
    tell_engine(place)
    replaced = str(before) if before is not None and before.number != row.number else ""
    return altered(_view(deployment, chosen, "enabled"), replaced=replaced, warnings=problems)


def disable(place: Workplace, name: str, package: str) -> EnabledView:
    """Have its tasks run no more. Code that the deployment's blueprint imports stays.

    Raises: PL-F070 if it is not enabled, PL-F071 while instances have roles that it brings, PL-C016 while an execution of
    the deployment is open.
    """
    deployment = find_deployment(place.store, name, to_change=True)
    wanted = read_name(package) or (package, "")
    row, use = _uses(place, deployment).get(wanted[0], (None, None))
    if row is None or use is None or not use.is_enabled or wanted[1] not in {"", row.version}:
        mend = f"See what is: phaseline deployments plugins list {deployment.name}"
        message = f"the package '{package}' is not enabled for the deployment '{deployment.name}'"
        raise fail("PL-F070", message, mend, subject=package)
    found = known(place, row, use.settings)
    _refuse_roles_in_use(found.package, _Asked(place, deployment), deployment.name)
    if use.is_imported:
        place.store.packages.use(altered(use, is_enabled=False))
    else:
        place.store.packages.leave(deployment.number, row.number)
    tell_engine(place)
    return _view(deployment, found, "imported" if use.is_imported else "available")


def list_enabled(place: Workplace, name: str, *, everything: bool = False) -> list[EnabledView]:
    """The packages of a deployment by name; ``everything``: also those that could be enabled, or why they cannot."""
    deployment = find_deployment(place.store, name)
    uses = _uses(place, deployment)
    found = [
        _view(deployment, known(place, row, use.settings), "enabled" if use.is_enabled else "imported")
        for row, use in uses.values()
    ]
    if everything:
        used, asked = {row.number for row, _ in uses.values()}, _Asked(place, deployment)
        for row in rows(place):
            if row.number not in used:
                other = known(place, row, {})
                against = [problem for problem in asked.against(other) if problem.severity == "error"]
                view = _view(deployment, other, "unfit" if against else "available")
                found.append(altered(view, why=against[0].message if against else ""))
    return sorted(found, key=lambda view: (view.package, view.state != "enabled"))


def _view(deployment: DeploymentRow, found: Known, state: str) -> EnabledView:
    package = found.package
    return EnabledView(
        deployment.name,
        package.name,
        package.version,
        package.title,
        state,
        shown(package.form, found.settings),
        package.is_hotpluggable,
    )


def _missing_secrets(place: Workplace, given: Mapping[str, Value]) -> Sequence[Problem]:
    """PL-B079 if settings name secrets that there are not."""
    from phaseline.dsl.functions.scopes import no_secrets
    from phaseline.packages.settings import secret_named

    names = {name for name in map(secret_named, given.values()) if name}
    missing = place.vault.missing(names) if names else ()
    return no_secrets(missing).problems if missing else ()


def _uses(place: Workplace, deployment: DeploymentRow) -> dict[str, tuple[PackageRow, PackageUse]]:
    """{name: the package that the deployment uses, and how}."""
    by_number = {row.number: row for row in place.store.packages.all()}
    used = ((by_number[use.package], use) for use in place.store.packages.uses(deployment.number))
    return {row.name: (row, use) for row, use in used}


def _meant(place: Workplace, text: str, used: Sequence[tuple[PackageRow, PackageUse]]) -> PackageRow:
    return next((row for row, _ in used if row.name == text), None) or find_package(place, text)


def _refusals(row: PackageRow, before: PackageRow | None, use: PackageUse | None, *, switch: bool) -> list[Problem]:
    """PL-F068 if another version is used, unless it is to be replaced."""
    if before is None or use is None or before.number == row.number or switch:
        return []
    message = f"{before} is {'enabled' if use.is_enabled else 'imported by the blueprint'} already"
    mend = f"Repeat this with --switch if {row} is to come in its place, with its settings."
    return [Problem("PL-F068", message, mend, Place(subject=str(row)))]


class _Asked:
    """What is asked of a deployment by packages that want to be enabled for it; each thing is read once."""

    def __init__(self, place: Workplace, deployment: DeploymentRow) -> None:
        self._place = place
        self._deployment = deployment
        self._topology: Topology | None = None
        self._counts: dict[str, int] = {}
        self._others: list[Known] | None = None

    @property
    def others(self) -> list[Known]:
        """What is enabled already."""
        if self._others is None:
            uses = _uses(self._place, self._deployment).values()
            self._others = [
                known(self._place, row, opened(self._place, use.settings)) for row, use in uses if use.is_enabled
            ]
        return self._others

    def against(self, found: Known) -> list[Problem]:
        """Everything that is against enabling a package, with what it says to those that are enabled."""
        from phaseline.packages.fitting import beyond_limits, unfit
        from phaseline.packages.together import misfits, overlaps

        package = found.package
        beside = [other.package for other in self.others if other.row.name != package.name]
        problems = [*product_problems(package), *unfit(package, self.labels), *self._not_now(package)]
        before = {*overlaps(beside), *misfits(beside)}
        problems += [one for one in (*overlaps([*beside, package]), *misfits([*beside, package])) if one not in before]
        problems += beyond_limits(package, self.count, self.models(found))
        return problems

    def wrong_settings(self, package: Package, given: Mapping[str, Value]) -> list[Problem]:
        """What is wrong with settings, and with setting any of them."""
        from phaseline.packages.settings import chosen

        models = {"settings": self._settings_of_others(package.name), "cluster": self.cluster}
        return list(chosen(str(package), package.form, given, models).problems)

    def models(self, found: Known) -> dict[str, object]:
        """What conditions may ask: settings of all packages, and the deployment."""
        from phaseline.packages.settings import as_model

        own = as_model(str(found.package), found.package.form, found.settings)
        return {"settings": {**self._settings_of_others(found.row.name), **own}, "cluster": self.cluster}

    def _settings_of_others(self, name: str) -> dict[str, object]:
        from phaseline.packages.settings import as_model

        found: dict[str, object] = {}
        for other in self.others:
            if other.row.name != name:
                found |= as_model(str(other.package), other.package.form, other.settings)
        return found

    @property
    def labels(self) -> Mapping[str, Sequence[str]]:
        """Those of the deployment, by key."""
        from phaseline.use_cases.labels import by_key

        return by_key(self._place.store.labels.of(self._deployment.number))

    @property
    def cluster(self) -> Mapping[str, object]:
        """The deployment as conditions see it: the first value of each of its labels."""
        return {key: values[0] for key, values in self.labels.items()}

    @property
    def topology(self) -> Topology:
        """Its instances."""
        if self._topology is None:
            self._topology = self._place.store.topology(self._deployment.number)
        return self._topology

    def count(self, role: str) -> int:
        """How many of its instances have a role."""
        from phaseline.plan.roles import RoleMasks

        if role not in self._counts:
            mask = RoleMasks(self.topology).of(Roles(names=(role,)))
            self._counts[role] = int(np.count_nonzero(mask))
        return self._counts[role]

    def _not_now(self, package: Package) -> list[Problem]:
        """PL-F067 if something is installed and the package does not say that it may come later."""
        from phaseline.use_cases.deployments import living_count

        if package.is_hotpluggable or not living_count(self._place.store, self._deployment) or self._is_begun_only():
            return []
        message = (
            f"{package} cannot be enabled for '{self._deployment.name}', which is installed: it is not hot-pluggable"
        )
        mend = "Enable it before the deployment is installed; or use a version with is_hotpluggable: true."
        return [Problem("PL-F067", message, mend, Place(subject=str(package)))]

    def _is_begun_only(self) -> bool:
        """Whether an install was begun, and none has completed since there was nothing; True is said only of what is on record."""
        is_begun = False
        for row in reversed(self._place.store.executions(self._deployment.number)):
            action = action_of(row.request.workflow)
            if row.status is ExecutionStatus.COMPLETED and action in MAKING:
                return False
            if row.status is ExecutionStatus.COMPLETED and action in UNMAKING:
                return is_begun
            is_begun = is_begun or action in MAKING
        return is_begun


def _refuse_roles_in_use(package: Package, asked: _Asked, deployment: str) -> None:
    """Raise PL-F071 for each role of the package that instances have."""
    used = [(role.id, asked.count(role.id)) for role in package.node_roles]
    mend = f"Give these instances another role first, or remove them from '{deployment}'."
    problems = [
        Problem(
            "PL-F071",
            f"{count} instance{'s' * (count != 1)} of '{deployment}' {'has' if count == 1 else 'have'} the role '{role}' of {package}",
            mend,
            Place(subject=str(package)),
        )
        for role, count in used
        if count
    ]
    if problems:
        raise ProblemsError(problems)
