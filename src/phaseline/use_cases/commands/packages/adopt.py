"""Packages of an adopted deployment: packages that its document names are used again if they are installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.packages.installed import PackageUse
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.use_cases.lookup import secret_settings
from phaseline.use_cases.lookup.installed_packages import installed_rows, known, restore_package

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.packages.installed import PackageRow


@frozen
class FoundAgain:
    """The package uses of an adopted deployment; the number of the deployment is filled in later.

    ``warnings``: one for each missing package.
    """

    uses: tuple[PackageUse, ...]
    warnings: tuple[Problem, ...]


def found_again(
    ctx: RequestContext, written: Sequence[Mapping[str, Any]], imported: Sequence[PackageUse] | None
) -> FoundAgain:
    """Find the installed packages that a document names.

    ``written``: the packages in the document. ``imported``: the packages that another blueprint imports, if the
    deployment is adopted with one; None: the blueprint of the document is used. Packages that were enabled before are
    not checked: they were allowed when the instances were created. Only the version in the document is used, with one
    exception: if the other blueprint imports another version, that version is enabled, with the settings of the
    document.
    """
    there = {(row.name, row.version): row for row in installed_rows(ctx)}
    found: dict[int, PackageUse] = {use.package: use for use in imported or ()}
    brought = {row.name: row for row in there.values() if row.number in found}
    warnings: list[Problem] = []
    for said in written:
        name, version = str(said["name"]), str(said["version"])
        is_enabled, is_imported = bool(said["enabled"]), bool(said["imported"]) and imported is None
        if not is_enabled and not is_imported:
            continue
        row = brought.get(name) or there.get((name, version))
        if row is None:
            warnings.append(_not_here(f"{name}=={version}"))
            continue
        use = _use(ctx, row, dict(said["settings"]), is_enabled=is_enabled)
        if use is None:
            warnings.append(_sealed_elsewhere(f"{name}=={version}"))
            continue
        found[row.number] = altered(use, is_imported=is_imported or name in brought)
    return FoundAgain(tuple(found.values()), tuple(warnings))


def _use(ctx: RequestContext, row: PackageRow, settings: Mapping[str, Any], *, is_enabled: bool) -> PackageUse | None:
    """Return the record that the adopted deployment uses a package, with the deployment's settings of the package.

    Return None if another store has encrypted the settings, so that they cannot be read here.
    """
    try:
        given = secret_settings.opened(ctx, settings)
    except ProblemsError:
        return None
    package = known(ctx, row)
    restore_package(ctx, row.digest, row.number)
    return PackageUse(
        0,
        row.number,
        is_enabled=is_enabled,
        settings=secret_settings.sealed(ctx, package.package.form, given),
        folders=package.folders,
        at=ctx.clock.now(),
        by=ctx.actor.name,
    )


def _not_here(package: str) -> Problem:
    message = f"the document names the package {package}, which is not installed here, so its tasks do not run"
    mend = "install it, and then adopt; or adopt, and afterwards: phaseline deployments plugins enable"
    return Problem("PL-F062", message, mend, severity="warning")


def _sealed_elsewhere(package: str) -> Problem:
    message = f"the secrets in the settings of {package} were sealed by another store, so it is not enabled"
    mend = f"enable it with its settings: phaseline deployments plugins enable NAME {package} --set SETTING=…"
    return Problem("PL-C086", message, mend, severity="warning")
