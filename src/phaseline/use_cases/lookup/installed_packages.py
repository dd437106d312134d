"""Find installed packages: their documents, their settings in a deployment, and the folders with their files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app.store_location import has_store, part_of_tenant, place_of_copies
from phaseline.catalog.files import blueprint_trees, package_files
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.packages import reader
from phaseline.packages.format import settings_values
from phaseline.packages.languages import installed_languages
from phaseline.use_cases.lookup import secret_settings

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.installed import PackageRow, PackageUse
    from phaseline.model.packages.package import Package


ENDING = ".packages"
"""Suffix that is added to the store's name to name the folder with the files of packages."""


@frozen
class InstalledPackage:
    """An installed package. ``folder`` is the absolute path of the folder with its installed files.

    ``settings`` are the settings of a deployment with defaults, and with secrets encrypted or decrypted as the caller
    gave them. They are empty without a deployment.
    """

    row: PackageRow
    package: Package
    folder: str
    settings: Mapping[str, Value]

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders in which the package's modules are found."""
        return tuple(str(Path(self.folder, path)) for path in self.package.code.paths)


def installed(ctx: RequestContext) -> list[InstalledPackage]:
    """Return all installed packages, by name and version."""
    return [known(ctx, row) for row in installed_rows(ctx)]


def enabled(ctx: RequestContext, deployment: int) -> list[InstalledPackage]:
    """Return the packages that are enabled for a deployment, by name, with its settings."""
    if not has_store(ctx.app) or not ctx.store.has_packages:
        return []

    found: list[InstalledPackage] = []
    by_number: dict[int, PackageRow] = {}
    for use in ctx.store.packages.uses(deployment):
        if use.is_enabled:
            by_number = by_number or {row.number: row for row in ctx.store.packages.all()}
            found.append(_enabled(ctx, by_number[use.package], use))
    return found


def enabled_anywhere(ctx: RequestContext) -> list[tuple[int, InstalledPackage]]:
    """Return (deployment, package) of all packages that are enabled for any deployment, by deployment and name."""
    if not has_store(ctx.app) or not ctx.store.has_packages:
        return []
    uses = [use for use in ctx.store.packages.all_uses() if use.is_enabled]
    by_number = {row.number: row for row in ctx.store.packages.all()} if uses else {}
    read_all(ctx, [by_number[number] for number in {use.package for use in uses}])
    return [(use.deployment, _enabled(ctx, by_number[use.package], use)) for use in uses]


def _enabled(ctx: RequestContext, row: PackageRow, use: PackageUse) -> InstalledPackage:
    restore_package(ctx, row.digest, row.number)
    return known(ctx, row, secret_settings.opened(ctx, use.settings))


def newest(found: Sequence[InstalledPackage]) -> list[InstalledPackage]:
    """Return the newest version of each package."""
    return list({one.row.name: one for one in found}.values())


def installed_rows(ctx: RequestContext) -> list[PackageRow]:
    """Return the rows of all installed packages, by name and version, or [] if there is no store."""
    if not has_store(ctx.app) or not ctx.store.has_packages:
        return []
    return by_version(ctx.store.packages.all())


def by_version(rows: Iterable[PackageRow]) -> list[PackageRow]:
    """Return packages by name and version."""
    return sorted(rows, key=lambda row: (row.name, numbers_of(row.version)))


def packages_version(ctx: RequestContext) -> tuple[tuple[int, str], ...]:
    """Return a value that changes when a package is installed, replaced or removed, for use as a cache key."""
    return tuple((row.number, row.digest) for row in installed_rows(ctx))


def phase_places(ctx: RequestContext, rows: Sequence[PackageRow] | None = None) -> list[str]:
    """Return the folders and files with phases, of the newest version of each package in Phaseline's own format.

    ``rows``: all installed packages, if the caller has read them.
    """
    installed = installed_rows(ctx) if rows is None else by_version(rows)
    latest = {row.name: row for row in installed if row.is_native}
    read_all(ctx, latest.values())
    found: list[str] = []
    for row in latest.values():
        package = read_stored(ctx, row)
        if package.code.phases:
            restore_package(ctx, row.digest, row.number)
            found += [str(folder_of(ctx, row) / path) for path in package.code.phases]
    return found


def numbers_of(version: str) -> tuple[int, ...]:
    """Return the numbers in a version, for comparison."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def known(ctx: RequestContext, row: PackageRow, given: Mapping[str, Value] | None = None) -> InstalledPackage:
    """Return one installed package. ``given`` are the settings of a deployment, or None without a deployment."""
    package = read_stored(ctx, row)
    settings: Mapping[str, Value] = {}
    if given is not None:
        settings = settings_values.chosen(str(package), package.form, given).values
    return InstalledPackage(row, package, str(folder_of(ctx, row)), settings)


def package_of(ctx: RequestContext, number: int) -> Package:
    """Return the contents of the installed package ``number``. Raises: PL-F062 if it was removed meanwhile."""
    row = next((row for row in installed_rows(ctx) if row.number == number), None)
    if row is None:
        message = "a plugin package that this needs was removed or replaced meanwhile"
        raise problem_error("PL-F062", message, "list the packages, then repeat this command: phaseline plugins list")
    return read_stored(ctx, row)


def read_stored(ctx: RequestContext, row: PackageRow) -> Package:
    """Return the contents of an installed package. Each process reads them once."""
    return read_all(ctx, [row])[row.digest]


def read_all(ctx: RequestContext, rows: Iterable[PackageRow]) -> Mapping[str, Package]:
    """Return {digest: contents} of installed packages, including those read before. Each process reads them once."""
    known: dict[str, Package] = ctx.app.cache("packages read", dict)  # by content, which never changes
    unread = {row.digest: row for row in rows if row.digest not in known}
    stored = ctx.store.packages.documents([row.number for row in unread.values()]) if unread else {}
    for digest, row in unread.items():
        documents = {path: body[: package_files.TEXT_BYTES] for path, body in stored[row.number].items()}
        read = reader.read_package(documents, str(row), installed_languages.LOOKED_AT)
        if read.package is None:
            raise ProblemsError(read.problems)
        known[digest] = read.package
    return known


def folder_of(ctx: RequestContext, row: PackageRow) -> Path:
    """Return the folder with the files of a package."""
    return work_folder(ctx) / row.digest


def restore_packages(ctx: RequestContext) -> None:
    """Write the files of all packages into their folders, which are beside the store.

    This includes replaced packages that an execution may still need. If the store was moved, deployments that use
    packages get the new folders.
    """
    kept = ctx.store.packages.kept() if has_store(ctx.app) else {}
    if not kept:
        return
    for digest, number in kept.items():
        restore_package(ctx, digest, number)
    folder = str(folder_of_packages(ctx))
    used = {old for deployment in ctx.store.deployments() for old in deployment.code.packages}
    moved = {old: folder + old.partition(ENDING)[2] for old in used if not old.startswith(f"{folder}/")}
    if moved:
        ctx.store.packages.find_again(moved)


def work_folder(ctx: RequestContext) -> Path:
    """Return the folder for files of the tenant's packages."""
    return part_of_tenant(folder_of_packages(ctx), ctx.actor.tenant)


def folder_of_packages(ctx: RequestContext) -> Path:
    """Return the folder for files of packages, beside the store; for a store in memory, a temporary folder."""
    file = place_of_copies(ctx.settings.store_url)
    return Path(f"{file}{ENDING}") if file is not None else Path(f"{ctx.app.passing_folder}{ENDING}")


def collect(ctx: RequestContext) -> None:
    """Delete replaced or removed packages that no execution can need any more, with their folders."""
    import shutil

    for digest in ctx.store.packages.collect():
        shutil.rmtree(work_folder(ctx) / digest, ignore_errors=True)


def restore_package(ctx: RequestContext, digest: str, number: int, *, anew: bool = False) -> None:
    """Write the files of a package into its folder if the folder is missing.

    With ``anew``, write them even if the folder exists, which undoes changes in it.
    """
    folder = work_folder(ctx) / digest
    if folder.is_dir() and not anew:
        return

    shelf = ctx.store.packages
    try:
        blueprint_trees.materialize_tree(folder, shelf.files(number), shelf.content)
    except OSError as error:
        message = f"the files of a plugin package cannot be written to '{folder}': {error.strerror or error}"
        raise problem_error("PL-F060", message, "make room on the disk, and see that the folder is yours") from error
