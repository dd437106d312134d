"""Synchronize stored packages with files in plugin folders and in distributions that announce packages.

A sync changes only packages with an ``origin``, which were registered or created by a sync. Packages that users
installed are not changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from phaseline.catalog.files import distributed_packages, package_files
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error
from phaseline.use_cases.commands.packages.install import PackageInstallation, install
from phaseline.use_cases.commands.packages.remove import in_use
from phaseline.use_cases.lookup.announced_packages import PackageSource, announced_sources, read_identity
from phaseline.use_cases.lookup.installed_packages import collect, installed_rows
from phaseline.use_cases.lookup.running_engine import request_reload
from phaseline.use_cases.queries.packages.find_package import read_name

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.packages.installed import PackageRow

DISTRIBUTIONS = "installed distributions (entry points of the group phaseline.packages)"
"""Text that stands for announced packages in the list of searched folders."""
Outcome = Literal["created", "updated", "unchanged", "removed", "kept", "broken"]


@frozen
class SyncRow:
    """The result of a sync for one folder or stored package.

    ``outcome`` "kept": its files are missing, but it stays because a deployment uses it.
    """

    package: str
    folder: str
    outcome: Outcome
    problems: Sequence[Problem] = ()


@frozen
class Synced:
    """The results of a sync, by folder and then by name. ``looked_at``: the searched folders."""

    rows: Sequence[SyncRow]
    looked_at: Sequence[str]

    @property
    def is_good(self) -> bool:
        """True if no package is broken and no files are missing."""
        return not any(row.outcome in {"broken", "kept"} for row in self.rows)


def sync(ctx: RequestContext, folders: Sequence[str] = ()) -> Synced:
    """Compare stored packages with files: register new packages, update changed ones, remove those without files.

    ``folders``: packages, or folders with packages; empty: the folders of the settings, and announced packages. A
    broken package does not stop the sync; a stored package that a deployment uses is never removed.
    """
    looked_at = _looked_at(ctx, folders)
    found: list[SyncRow] = []
    there: set[str] = set()
    for source in _sources(looked_at):
        there.add(source.origin)
        found.append(_followed(ctx, source))
    for row in installed_rows(ctx):
        if row.origin and row.origin not in there and _is_of(row.origin, looked_at):
            found.append(_without_files(ctx, row))
    return Synced(found, looked_at)


def register(ctx: RequestContext, name: str, folders: Sequence[str] = ()) -> PackageRow:
    """Register the package ``NAME==VERSION`` from a plugin folder; later syncs compare it with its files there.

    Raises: PL-F062 if there is no such package, and the errors of ``install``.
    """
    named = read_name(name)
    looked_at = _looked_at(ctx, folders)
    if named is None or not named[1]:
        raise problem_error("PL-F062", f"'{name}' has no version", "write NAME==VERSION", subject=name)
    for source in _sources(looked_at):
        if not source.problems and read_identity(Path(source.folder)) == named:
            return install(ctx, source.folder, PackageInstallation(origin=source.origin)).package
    where = ", ".join(looked_at) or "no folder (see the setting plugins.path)"
    message = f"there is no package '{name}' to be registered; it was looked for in {where}"
    raise problem_error(
        "PL-F062", message, "put its folder there, or install it: phaseline plugins install PATH", subject=name
    )


def _followed(ctx: RequestContext, source: PackageSource) -> SyncRow:
    """Synchronize one folder that contains a package, and return the result."""
    origin, folder = source.origin, source.folder
    before = next((row for row in installed_rows(ctx) if row.origin == origin), None)
    try:
        if source.problems:
            raise ProblemsError(source.problems)
        if before is not None and (said := read_identity(Path(folder))) is not None and said[0] != before.name:
            raise _renamed(before, said[0], folder)
        came = install(ctx, folder, _wanted(before, origin))
    except ProblemsError as error:
        return SyncRow(str(before or Path(folder or origin).name), folder or origin, "broken", error.problems)
    if came.package.origin != origin:
        ctx.store.packages.rename(came.package.number, origin)
    outcome: Outcome = "unchanged" if not came.is_new else "updated" if came.replaced else "created"
    return SyncRow(str(came.package), folder, outcome, came.warnings)


def _wanted(before: PackageRow | None, origin: str) -> PackageInstallation:
    """Return the options of an install that replaces the former files by the present ones, whatever their version."""
    return PackageInstallation(renews=0 if before is None else before.number, origin=origin)


def _without_files(ctx: RequestContext, row: PackageRow) -> SyncRow:
    users = ctx.store.packages.remove(row.number)
    if users:
        return SyncRow(str(row), row.origin, "kept", in_use(row, users).problems)
    collect(ctx)
    request_reload(ctx)
    return SyncRow(str(row), row.origin, "removed")


def _looked_at(ctx: RequestContext, folders: Sequence[str]) -> list[str]:
    """Return the folders to search: the named ones, otherwise those of the settings and ``DISTRIBUTIONS``."""
    named = [str(Path(folder).absolute()) for folder in folders or ctx.settings.plugin_folders]
    return named if folders else [*named, DISTRIBUTIONS]


def _sources(looked_at: Sequence[str]) -> Iterator[PackageSource]:
    for where in dict.fromkeys(looked_at):
        if where == DISTRIBUTIONS:
            yield from announced_sources()
        else:
            yield from (
                PackageSource(str(folder), str(folder)) for folder in package_files.package_folders(Path(where))
            )


def _is_of(origin: str, looked_at: Sequence[str]) -> bool:
    """Return whether a package with this origin would be found in the searched folders."""
    if origin.startswith(distributed_packages.ORIGIN):
        return DISTRIBUTIONS in looked_at
    return any(Path(origin).is_relative_to(folder) for folder in looked_at)


def _renamed(before: PackageRow, name: str, folder: str) -> ProblemsError:
    message = f"the package in '{folder}' was called '{before.name}' and is called '{name}' now"
    mend = f"a package keeps its name; put '{name}' into a folder of its own, or remove {before} first"
    return ProblemsError([Problem("PL-F063", message, mend, Place(folder))])
