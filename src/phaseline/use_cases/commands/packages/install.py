"""Install packages into the store, update them, or register them from their folders.

A line is all versions ``x.y.*`` of one package. Only one version of a line is installed at a time; several lines can be
installed side by side. Each package of format 1.0.0 is a line of its own, because Fuel, from which this format comes,
also keeps each such package in a folder of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn

from phaseline.catalog.files import package_files
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.packages.installed import PackageRow
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.packages import reader
from phaseline.use_cases.loading.package_checks import what_else
from phaseline.use_cases.lookup.installed_packages import (
    ENDING,
    collect,
    folder_of_packages,
    installed_rows,
    numbers_of,
    restore_package,
    work_folder,
)
from phaseline.use_cases.lookup.running_engine import request_reload

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.catalog.files.blueprint_trees import BlueprintTree
    from phaseline.catalog.files.package_files import PackageFiles
    from phaseline.model.packages.package import Package

FIRST_FORMAT = "1.0.0"
ATTEMPTS = 10
"""Number of attempts before an install gives up because other processes keep changing the same packages."""
Way = Literal["install", "update"]


@frozen
class Installed:
    """The result of an install. ``is_new`` False: the same files were installed already, and nothing was stored.

    ``replaced``: the version that was replaced, which may have the same number but other files; "" if none. ``serves``:
    deployments that had the replaced version enabled and now have the new one.
    """

    package: PackageRow
    is_new: bool
    replaced: str = ""
    warnings: Sequence[Problem] = ()
    serves: Sequence[str] = ()


@frozen
class PackageInstallation:
    """Options of an install.

    ``force`` allows other files for an installed version, ``allow_downgrade`` an older version. ``renews``: number of
    the installed package to replace, whatever its version is. ``origin``: the folder with which later syncs compare the
    package.
    """

    way: Way = "install"
    force: bool = False
    allow_downgrade: bool = False
    renews: int = 0
    origin: str = ""


def install(ctx: RequestContext, path: str, wanted: PackageInstallation | None = None) -> Installed:
    """Install the package in a folder or an archive, or update one; installing the same files again changes nothing.

    If there is a problem, nothing is stored. Raises: ProblemsError with all problems of the package; PL-F060, PL-F061,
    PL-F063, PL-F064; PL-B120 to PL-B122 for an archive that cannot be read, or could do harm.
    """
    if not Path(path).exists():
        raise problem_error("PL-F060", f"there is no file or folder '{path}'", "correct the path", subject=path)
    with package_files.opened(Path(path), leave_out=_is_of_store(ctx)) as files:
        read = reader.read_package(files.documents, Path(path).name, ctx.app.judge)
        if read.package is None:
            raise ProblemsError(read.problems)
        problems = what_else(files, read.package)
        if any(problem.severity == "error" for problem in problems):
            raise ProblemsError(problems)
        return _stored(ctx, files, read.package, (*read.problems, *problems), wanted or PackageInstallation())


def _stored(
    ctx: RequestContext, files: PackageFiles, package: Package, warnings: Sequence[Problem], wanted: PackageInstallation
) -> Installed:
    tree = files.tree
    new = PackageRow(
        number=0,
        name=package.name,
        version=package.version,
        format=package.format,
        digest=tree.digest,
        title=package.title,
        origin=wanted.origin,
        file_count=len(tree.files),
        size_bytes=tree.size_bytes,
        installed_at=ctx.clock.now(),
        installed_by=ctx.actor.name,
    )
    modules = tuple(str(work_folder(ctx) / tree.digest / path) for path in package.code.paths)
    for _ in range(ATTEMPTS):
        before = in_whose_place(new, installed_rows(ctx), wanted)
        if before is not None and (before.version, before.digest) == (new.version, new.digest):
            restore_package(ctx, before.digest, before.number, anew=True)
            return Installed(before, is_new=False, warnings=warnings)
        row = _add(ctx, new, tree, 0 if before is None else before.number, modules)
        if row is not None:
            restore_package(ctx, row.digest, row.number, anew=True)
            collect(ctx)
            request_reload(ctx)
            serves = [user.deployment for user in ctx.store.packages.users(row.number) if user.is_enabled]
            return Installed(
                row, is_new=True, replaced="" if before is None else str(before), warnings=warnings, serves=serves
            )
    message = f"other commands install and remove '{new.name}' all the time"
    raise problem_error("PL-F062", message, "repeat this command when they have ended", subject=new.name)


def _add(
    ctx: RequestContext, new: PackageRow, tree: BlueprintTree, replaces: int, modules: Sequence[str]
) -> PackageRow | None:
    """Store a package and return it; return None if another process keeps deleting file contents that it shares."""
    shelf = ctx.store.packages
    by_digest = {file.digest: file for file in tree.files}
    lacking = shelf.lacking(list(by_digest))
    for digests in (lacking, list(by_digest)):
        contents = {digest: tree.content(by_digest[digest]) for digest in digests}
        try:
            return shelf.add(new, tree.files, contents, replaces=replaces, folders=modules)
        except LookupError:
            continue  # contents that were there a moment ago were deleted: pass them again
    return None


def in_whose_place(new: PackageRow, known: Sequence[PackageRow], wanted: PackageInstallation) -> PackageRow | None:
    """Return the installed package that a new package replaces or equals.

    Return None if the new package is added beside the others. Raises: PL-F063 for other files of the same version,
    PL-F064 for a refused update or downgrade.
    """
    if wanted.renews:
        return next((row for row in known if row.number == wanted.renews), None)
    named = [row for row in known if row.name == new.name]
    same = next((row for row in named if row.version == new.version), None)
    if same is not None:
        if same.digest != new.digest and not wanted.force:
            message = f"{new} is installed already, with other files"
            mend = "give the new files another version, or replace the installed files: phaseline plugins install FILE --force"
            raise problem_error("PL-F063", message, mend, subject=str(new))
        return same
    near = next((row for row in named if _line(row) == _line(new)), None)
    if wanted.way == "update":
        _raise_if_no_update(new, near, named)
    elif near is not None:
        is_older = numbers_of(new.version) < numbers_of(near.version)
        if is_older and not wanted.allow_downgrade:
            mend = "to replace it with the older version: phaseline plugins install FILE --allow-downgrade"
            raise problem_error("PL-F064", f"{new} is older than {near}, which is installed", mend, subject=str(new))
        if not is_older:
            mend = "update it, also for the deployments that use it: phaseline plugins update FILE"
            raise problem_error("PL-F064", f"{near} is installed, and {new} is an update of it", mend, subject=str(new))
    return near


def _line(row: PackageRow) -> tuple[object, ...]:
    """Return a key that is equal for packages of one line; only one version of a line is installed at a time."""
    numbers = numbers_of(row.version)
    return (row.format == FIRST_FORMAT, numbers if row.format == FIRST_FORMAT else numbers[:2])


def _raise_if_no_update(new: PackageRow, near: PackageRow | None, named: Sequence[PackageRow]) -> None:
    """Raise PL-F064 unless ``near``, the installed package of the same line, is an older version."""

    def refuse(message: str, mend: str) -> NoReturn:
        raise problem_error("PL-F064", message, mend, subject=str(new))

    if any(row.format == FIRST_FORMAT for row in (new, *named)):
        message = f'{new} cannot update another version: one of them has the package version "{FIRST_FORMAT}"'
        refuse(message, "install it beside the other: phaseline plugins install FILE")
    if near is None and named:
        there = ", ".join(map(str, named))
        message = f"{new} is no update of {there}: the first two numbers of the version differ"
        refuse(message, "install it beside them: phaseline plugins install FILE")
    if near is None:
        refuse(f"'{new.name}' is not installed", "install it: phaseline plugins install FILE")
    if numbers_of(new.version) < numbers_of(near.version):
        message = f"{new} is older than {near}, which is installed"
        refuse(message, "to replace it with the older version: phaseline plugins install FILE --allow-downgrade")


def _is_of_store(ctx: RequestContext) -> Callable[[str], bool]:
    """Return a function that recognizes paths of the store's files, which are never part of a package."""
    beginning = str(folder_of_packages(ctx)).removesuffix(ENDING)
    return lambda path: path.startswith(beginning)
