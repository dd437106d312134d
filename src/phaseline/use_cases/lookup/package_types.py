"""Find node types of installed packages for the import ``plugin:NAME``, and record which packages are used.

A deployment then needs the code of these packages.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.catalog.files import type_catalog
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.packages.installed import PackageUse
from phaseline.use_cases.lookup import running_engine
from phaseline.use_cases.lookup.installed_packages import installed_rows, known, restore_package

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.use_cases.lookup.installed_packages import InstalledPackage


class PackageTypes:
    """Finds types for one reading of a blueprint, and records the packages that it uses."""

    def __init__(self, ctx: RequestContext) -> None:
        """Start without any used package."""
        self._ctx = ctx
        self._used: dict[int, InstalledPackage] = {}

    def find(self, name: str, version: str) -> str | None:
        """Return the file with the types of the newest package of this name and version, or None.

        If the package has several such files, return the first.
        """
        for row in reversed(installed_rows(self._ctx)):
            is_meant = row.is_native and type_catalog.plain_name(row.name) == type_catalog.plain_name(name)
            if is_meant and type_catalog.fits(row.version, version):
                found = known(self._ctx, row)
                if found.package.code.types:
                    restore_package(self._ctx, row.digest, row.number)
                    self._used[row.number] = found
                    return str(Path(found.folder, found.package.code.types[0]))
        return None

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders with the modules of the used packages."""
        return tuple(folder for found in self._used.values() for folder in found.folders)

    @property
    def uses(self) -> tuple[PackageUse, ...]:
        """Return the packages that a deployment of the blueprint needs; the number of the deployment is not set."""
        now, actor = self._ctx.clock.now(), self._ctx.actor.name
        return tuple(
            PackageUse(0, number, is_enabled=False, is_imported=True, folders=found.folders, at=now, by=actor)
            for number, found in self._used.items()
        )


def uses_of_new(ctx: RequestContext, name: str, imported: Sequence[PackageUse]) -> tuple[PackageUse, ...]:
    """Return the packages that a new deployment uses.

    These are the packages that its blueprint imports, and the packages that were enabled for a former deployment of
    the same name. If one version of a package was enabled and another version is imported, the imported version
    becomes the enabled one.
    """
    replaced = ctx.store.deployment(name)
    if replaced is None:
        return tuple(imported)
    before = [use for use in ctx.store.packages.uses(replaced.number) if use.is_enabled]
    names = {row.number: row.name for row in ctx.store.packages.all()}
    return (*_apart(before, imported, names), *_together(before, imported, names))


def bring_imports(ctx: RequestContext, deployment: int, imported: Sequence[PackageUse]) -> None:
    """Add the packages that a deployment's next blueprint imports to the packages that the deployment uses.

    Raises: PL-C016 if this changes its packages while one of its executions is open, PL-F062 if a package was
    removed.
    """
    used = {use.package: use for use in ctx.store.packages.uses(deployment)}
    names = {row.number: row.name for row in ctx.store.packages.all()}
    before = [use for use in used.values() if use.is_enabled]
    for use in _together(before, imported, names):
        if (same := used.get(use.package)) is None or not same.is_imported:
            ctx.store.packages.use(_of(use, deployment))
    running_engine.request_reload(ctx)


def moved_imports(ctx: RequestContext, imported: Sequence[PackageUse]) -> Iterable[str]:
    """Yield a sentence if packages that the blueprint of a plan imports were removed or replaced since the planning."""
    there = {row.number for row in ctx.store.packages.all()}
    gone = len({use.package for use in imported} - there)
    if gone:
        what = "a package" if gone == 1 else f"{gone} packages"
        yield f"{what} that the new blueprint imports {'was' if gone == 1 else 'were'} removed or replaced"


def _of(use: PackageUse, deployment: int) -> PackageUse:
    """Return a copy of the use for the given deployment."""
    return altered(use, deployment=deployment)


def _apart(before: Iterable[PackageUse], imported: Iterable[PackageUse], names: dict[int, str]) -> list[PackageUse]:
    taken = {names.get(use.package) for use in imported}
    return [altered(use, is_imported=False) for use in before if names.get(use.package) not in taken]


def _together(before: Iterable[PackageUse], imported: Iterable[PackageUse], names: dict[int, str]) -> list[PackageUse]:
    enabled = {names.get(use.package): use for use in before}
    return [
        use
        if (old := enabled.get(names.get(use.package))) is None
        else altered(use, is_enabled=True, settings=old.settings)
        for use in imported
    ]
