"""Enable, disable and list the packages of a deployment, with their versions and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.dsl.functions import plan_and_runtime_scopes
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.packages.installed import PackageUse
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error
from phaseline.packages.format.settings_values import secret_named
from phaseline.plan.rounds import role_limits
from phaseline.use_cases.commands.packages.eligibility import Eligibility, uses_of
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.installed_packages import by_version, known, read_all, restore_package
from phaseline.use_cases.lookup.running_engine import request_reload
from phaseline.use_cases.lookup.secret_settings import opened, sealed, shown
from phaseline.use_cases.queries import deployments
from phaseline.use_cases.queries.packages.find_package import find_package, read_name

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.installed import PackageRow
    from phaseline.model.packages.package import Package
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.use_cases.lookup.installed_packages import InstalledPackage


@frozen
class EnabledView:
    """A package in a deployment. ``settings``: all settings, with defaults and with secrets hidden.

    ``state``: ``enabled``; ``imported``: only its code is used; ``available``: it could be enabled; ``unfit``: it
    cannot be enabled, for the reason in ``why``. ``replaced``: another version, which was enabled until now.
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
    ctx: RequestContext, name: str, package: str, *, settings: Mapping[str, Value] | None = None, switch: bool = False
) -> EnabledView:
    """Enable a package for a deployment, so that its tasks run in workflows; or change the settings of an enabled one.

    ``package``: ``NAME==VERSION``; or ``NAME`` for the enabled version, if there is one, otherwise for the newest.
    ``switch``: replace another enabled version by this package. Raises: ProblemsError with all problems: PL-F062,
    PL-F066 to PL-F069, PL-F016, PL-F017, PL-F032 to PL-F034; PL-C016 while an execution of the deployment is open.
    """
    deployment = find_deployment(ctx.store, name, to_change=True)
    uses = uses_of(ctx, deployment)
    row = _meant(ctx, package, list(uses.values()))
    before, use = uses.get(row.name, (None, None))
    given = {**(opened(ctx, use.settings) if use is not None else {}), **(settings or {})}
    asked = Eligibility(ctx, deployment, uses)
    chosen = known(ctx, row, given)
    if use is not None and use.is_enabled and use.package == row.number:
        problems = asked.beyond_limits(chosen, known(ctx, row, opened(ctx, use.settings)))
    else:
        problems = [*_refusals(row, before, use, switch=switch), *asked.against(chosen)]
    problems += [*asked.wrong_settings(chosen.package, given), *_missing_secrets(ctx, given)]
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise ProblemsError(errors)
    restore_package(ctx, row.digest, row.number)
    ctx.store.packages.use(
        PackageUse(
            deployment.number,
            row.number,
            is_enabled=True,
            is_imported=use is not None and use.is_imported,
            settings=sealed(ctx, chosen.package.form, given),
            folders=chosen.folders,
            at=ctx.clock.now(),
            by=ctx.actor.name,
        )
    )
    request_reload(ctx)
    replaced = str(before) if before is not None and before.number != row.number else ""
    return altered(_view(deployment, chosen, "enabled"), replaced=replaced, warnings=problems)


def disable(ctx: RequestContext, name: str, package: str) -> EnabledView:
    """Disable a package: its tasks no longer run. Its code stays if the deployment's blueprint imports it.

    Raises: PL-F070 if it is not enabled, PL-F071 while installed instances have roles that it brings, PL-C016 while an
    execution of the deployment is open.
    """
    deployment = find_deployment(ctx.store, name, to_change=True)
    wanted = read_name(package) or (package, "")
    row, use = uses_of(ctx, deployment).get(wanted[0], (None, None))
    if row is None or use is None or not use.is_enabled or wanted[1] not in {"", row.version}:
        mend = f"list the enabled packages: phaseline deployments plugins list {deployment.name}"
        message = f"the package '{package}' is not enabled for the deployment '{deployment.name}'"
        raise problem_error("PL-F070", message, mend, subject=package)
    found = known(ctx, row, use.settings)
    _raise_if_roles_in_use(ctx, found.package, deployment)
    if use.is_imported:
        ctx.store.packages.use(altered(use, is_enabled=False))
    else:
        ctx.store.packages.leave(deployment.number, row.number)
    request_reload(ctx)
    return _view(deployment, found, "imported" if use.is_imported else "available")


def list_enabled(ctx: RequestContext, name: str, *, everything: bool = False) -> list[EnabledView]:
    """Return the packages of a deployment by name.

    ``everything``: also return packages that are not enabled, with the state ``available``, or with ``unfit`` and the
    reason.
    """
    deployment = find_deployment(ctx.store, name)
    rows = ctx.store.packages.all()
    uses = uses_of(ctx, deployment, rows)
    read_all(ctx, rows if everything else [row for row, _ in uses.values()])
    found = [
        _view(deployment, known(ctx, row, use.settings), "enabled" if use.is_enabled else "imported")
        for row, use in uses.values()
    ]
    if everything:
        used, asked = {row.number for row, _ in uses.values()}, Eligibility(ctx, deployment, uses)
        for row in by_version(rows):
            if row.number not in used:
                other = known(ctx, row, {})
                against = [problem for problem in asked.against(other) if problem.severity == "error"]
                view = _view(deployment, other, "unfit" if against else "available")
                found.append(altered(view, why=against[0].message if against else ""))
    return sorted(found, key=lambda view: (view.package, view.state != "enabled"))


def _view(deployment: DeploymentRow, found: InstalledPackage, state: str) -> EnabledView:
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


def _missing_secrets(ctx: RequestContext, given: Mapping[str, Value]) -> Sequence[Problem]:
    """Return the problem PL-B079 if settings name secrets that do not exist."""
    names = {name for name in map(secret_named, given.values()) if name}
    missing = ctx.vault.missing(names) if names else ()
    return plan_and_runtime_scopes.no_secrets(missing).problems if missing else ()


def _meant(ctx: RequestContext, text: str, used: Sequence[tuple[PackageRow, PackageUse]]) -> PackageRow:
    return next((row for row, _ in used if row.name == text), None) or find_package(ctx, text)


def _refusals(row: PackageRow, before: PackageRow | None, use: PackageUse | None, *, switch: bool) -> list[Problem]:
    """Return the problem PL-F068 if another version is used, unless ``switch`` replaces that version."""
    if before is None or use is None or before.number == row.number or switch:
        return []
    message = f"{before} is {'enabled' if use.is_enabled else 'imported by the blueprint'} already"
    mend = f"repeat this command with --switch to enable {row} instead, with the same settings"
    return [Problem("PL-F068", message, mend, Place(subject=str(row)))]


def _raise_if_roles_in_use(ctx: RequestContext, package: Package, deployment: DeploymentRow) -> None:
    """Raise PL-F071 for each role of the package that installed instances have."""
    if not package.node_roles:
        return
    count_of = role_limits.counting(ctx.store.topology(deployment.number), deployments.living(ctx.store, deployment))
    used = [(role.id, count_of(role.id)) for role in package.node_roles]
    mend = f"give these instances another role first, or uninstall or remove them from '{deployment.name}'"
    problems = [
        Problem(
            "PL-F071",
            f"{count} instance{'s' * (count != 1)} of '{deployment.name}' {'has' if count == 1 else 'have'} the role '{role}' of {package}",
            mend,
            Place(subject=str(package)),
        )
        for role, count in used
        if count
    ]
    if problems:
        raise ProblemsError(problems)
