"""Packages as whoever uses them needs them: what they say, what a deployment says to them, and where their files lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.app.store_location import has_store, store_file
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import ProblemsError, fail

if TYPE_CHECKING:
    from phaseline.app.app_context import Workplace
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.installed import PackageRow
    from phaseline.model.packages.package import Package


ENDING = ".packages"
"""How the name of the folder with the files of packages ends; it begins as that of the store."""


@frozen
class Known:
    """An installed package. ``folder``: absolute, with its files as they were installed.

    ``settings``: what a deployment says to it, with defaults, sealed or opened as they were given; nothing where no deployment is asked about.
    """

    row: PackageRow
    package: Package
    folder: str
    settings: Mapping[str, Value]

    @property
    def folders(self) -> tuple[str, ...]:
        """Where its modules are found."""
        return tuple(str(Path(self.folder, path)) for path in self.package.code.paths)


def installed(place: Workplace) -> list[Known]:
    """All that are installed, by name and version."""
    return [known(place, row) for row in rows(place)]


def enabled(place: Workplace, deployment: int) -> list[Known]:
    """Those that are enabled for a deployment, by name, with its settings."""
    if not has_store(place) or not place.store.has_packages:
        return []
    from phaseline.use_cases.lookup.secret_settings import opened

    found: list[Known] = []
    by_number: dict[int, PackageRow] = {}
    for use in place.store.packages.uses(deployment):
        if use.is_enabled:
            by_number = by_number or {row.number: row for row in place.store.packages.all()}
            row = by_number[use.package]
            lay_out_package(place, row.digest, row.number)
            found.append(known(place, row, opened(place, use.settings)))
    return found


def newest(found: Sequence[Known]) -> list[Known]:
    """Of each name the newest version."""
    return list({one.row.name: one for one in found}.values())


def rows(place: Workplace) -> list[PackageRow]:
    """What is installed, by name and version; nothing where there is no store."""
    if not has_store(place) or not place.store.has_packages:
        return []
    return sorted(place.store.packages.all(), key=lambda row: (row.name, numbers_of(row.version)))


def phase_places(place: Workplace) -> list[str]:
    """Folders and files with phases, of the newest version of each package of our own format."""
    latest = {row.name: row for row in rows(place) if row.is_native}
    found: list[str] = []
    for row in latest.values():
        package = read_stored(place, row)
        if package.code.phases:
            lay_out_package(place, row.digest, row.number)
            found += [str(folder_of(place, row) / path) for path in package.code.phases]
    return found


def numbers_of(version: str) -> tuple[int, ...]:
    """A version as numbers, by which versions are compared."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def known(place: Workplace, row: PackageRow, given: Mapping[str, Value] | None = None) -> Known:
    """One of them. ``given``: settings of a deployment; None: it is not asked about one."""
    package = read_stored(place, row)
    settings: Mapping[str, Value] = {}
    if given is not None:
        from phaseline.packages.format.settings_values import chosen

        settings = chosen(str(package), package.form, given).values
    return Known(row, package, str(folder_of(place, row)), settings)


def package_of(place: Workplace, number: int) -> Package:
    """What the installed package of this number says. Raises: PL-F062 if it was removed meanwhile."""
    row = next((row for row in rows(place) if row.number == number), None)
    if row is None:
        message = "a plugin package that this needs was removed or replaced meanwhile"
        raise fail("PL-F062", message, "Look what there is: phaseline plugins list. Then repeat this.")
    return read_stored(place, row)


def read_stored(place: Workplace, row: PackageRow) -> Package:
    """What an installed package says; read once by a process."""
    package = place.packages_read.get(row.digest)
    if package is None:
        from phaseline.catalog.files.package_files import documents_of
        from phaseline.packages.languages.installed_languages import LOOKED_AT
        from phaseline.packages.reader import read_package

        shelf = place.store.packages
        documents = documents_of(shelf.files(row.number), lambda file: shelf.content(file.digest))
        read = read_package(documents, str(row), LOOKED_AT)
        if read.package is None:
            raise ProblemsError(read.problems)
        package = place.packages_read[row.digest] = read.package
    return package


def folder_of(place: Workplace, row: PackageRow) -> Path:
    """The folder with the files of a package."""
    return work_folder(place) / row.digest


def lay_out_packages(place: Workplace) -> None:
    """See that the files of all packages are where their calls look for them, also those that somebody may go on with.

    A store that has been moved has its packages beside it: then those who use them look there.
    """
    kept = place.store.packages.kept() if has_store(place) else {}
    if not kept:
        return
    for digest, number in kept.items():
        lay_out_package(place, digest, number)
    folder = str(work_folder(place))
    used = {old for deployment in place.store.deployments() for old in deployment.code.packages}
    moved = {old: folder + old.partition(ENDING)[2] for old in used if not old.startswith(f"{folder}/")}
    if moved:
        place.store.packages.find_again(moved)


def work_folder(place: Workplace) -> Path:
    """Where packages are laid out: beside the store; of one in memory in a folder that goes with it."""
    file = store_file(place.settings.store_url)
    return Path(f"{file}{ENDING}") if file is not None else Path(f"{place.passing_folder}{ENDING}")


def collect(place: Workplace) -> None:
    """Forget what was replaced or removed and nobody may go on with, and the folders with its files."""
    import shutil

    for digest in place.store.packages.collect():
        shutil.rmtree(work_folder(place) / digest, ignore_errors=True)


def lay_out_package(place: Workplace, digest: str, number: int, *, anew: bool = False) -> None:
    """See that the files of a package are in their folder. ``anew``: also what somebody may have changed there."""
    folder = work_folder(place) / digest
    if folder.is_dir() and not anew:
        return
    from phaseline.catalog.files.blueprint_trees import lay_out

    shelf = place.store.packages
    try:
        lay_out(folder, shelf.files(number), shelf.content)
    except OSError as error:
        message = f"the files of a plugin package cannot be laid out in '{folder}': {error.strerror or error}"
        raise fail("PL-F060", message, "Make room on the disk, and see that the folder is yours.") from error
