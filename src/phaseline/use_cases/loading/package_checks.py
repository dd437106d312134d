"""Check packages at a path and report all their problems, before a package is installed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.catalog.files import archives, definition_files, package_files
from phaseline.catalog.phases import phase_packages
from phaseline.compat.fuel import judge as fuel_judge
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.packages import reader
from phaseline.use_cases.loading import package_code_names

if TYPE_CHECKING:
    from phaseline.catalog.files.package_files import PackageFiles
    from phaseline.catalog.phases.phase_packages import PhasePackage
    from phaseline.model.packages.package import Package

ARCHIVES = (".tar.gz", ".tgz", ".fp", ".rpm", ".whl", ".tar")
"""Endings of the names of package archives. ``.zip`` is missing because a zip may also contain phase plugins."""


@frozen
class CheckedPackages:
    """The packages found at a path, with their problems.

    ``phases`` are their plugins with phases, which are then compared with all other plugins.
    """

    titles: Sequence[str]
    problems: Sequence[Problem]
    phases: Sequence[PhasePackage] = ()


def check_packages(path: str) -> CheckedPackages | None:
    """Check the package at a path, or all packages in a folder. Return None if there is no package."""
    where = Path(path)
    if where.is_file() and _is_archive(where):
        return _checked([where])
    folders = package_files.package_folders(where)
    return _checked(folders) if folders else None


def _checked(paths: Sequence[Path]) -> CheckedPackages:
    titles: list[str] = []
    problems: list[Problem] = []
    phases: list[PhasePackage] = []
    for path in paths:
        try:
            with package_files.opened(path) as files, fuel_judge.YaqlJudge() as judge:
                read = reader.read_package(files.documents, path.name, judge)
                titles.append(str(read.package or path.name))
                problems += read.problems
                if read.package is not None:
                    problems += what_else(files, read.package)
                    phases += _phases([str(Path(files.tree.folder, below)) for below in read.package.code.phases])
        except ProblemsError as error:
            titles.append(path.name)
            problems += error.problems
    return CheckedPackages(titles, problems, phases)


def _phases(paths: Sequence[str]) -> list[PhasePackage]:
    """Return the plugins with phases at these paths."""
    if not paths:
        return []

    return [found for path in paths for found in phase_packages.packages_at(Path(path))]


def what_else(files: PackageFiles, package: Package) -> list[Problem]:
    """Return the problems of a package that are not in its documents: product version, code and types."""
    return [
        *product_problems(package),
        *type_problems(files, package),
        *package_code_names.code_problems(files, package),
    ]


def product_problems(package: Package) -> list[Problem]:
    """Return PL-F066 if a package is for other versions of Phaseline."""
    if not package.requires_product:
        return []
    from packaging.specifiers import SpecifierSet

    from phaseline import __version__

    if SpecifierSet(package.requires_product, prereleases=True).contains(__version__):
        return []
    message = f"{package} is for Phaseline {package.requires_product}, and this is {__version__}"
    mend = "get a version of the package that is for this one"
    return [Problem("PL-F066", message, mend, Place(subject=str(package)))]


def type_problems(files: PackageFiles, package: Package) -> list[Problem]:
    """Return the problems of the package's type definitions that can be found without a blueprint."""
    if not package.code.types:
        return []

    found: list[Problem] = []
    for path in package.code.types:
        try:
            definition_files.names_in(Path(files.tree.folder, path), ("node_types",))
        except ProblemsError as error:
            found += [altered(problem, place=altered(problem.place, file=path)) for problem in error.problems]
    return found


def _is_archive(path: Path) -> bool:
    name = path.name.lower()
    if not name.endswith(".zip"):
        return name.endswith(ARCHIVES)

    try:
        names = [
            member.name
            for member in archives.read_members(path, str(path), wanted=lambda name: name.endswith(package_files.MARK))
        ]
    except ProblemsError:
        return False  # reported by the search for plugins with phases
    return bool(names)
