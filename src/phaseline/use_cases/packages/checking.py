"""Whether packages at a path are good: everything that is wrong with them, before anybody installs one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.frozen import frozen
from phaseline.model.problem import Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.catalog.phases.packages import Package as PhasePackage

ARCHIVES = (".tar.gz", ".tgz", ".fp", ".rpm", ".whl", ".tar")
"""How the names of archives of packages end; a zip may hold plugins with phases as well."""


@frozen
class CheckedPackages:
    """The packages at a path. ``phases``: plugins with phases in them, to be compared with all others."""

    titles: Sequence[str]
    problems: Sequence[Problem]
    phases: Sequence[PhasePackage] = ()


def check_packages(path: str) -> CheckedPackages | None:
    """What there is to be said of the packages at a path: one, or those in a folder. None if there is none."""
    from phaseline.catalog.package_files import package_folders

    where = Path(path)
    if where.is_file() and _is_archive(where):
        return _checked([where])
    folders = package_folders(where)
    return _checked(folders) if folders else None


def _checked(paths: Sequence[Path]) -> CheckedPackages:
    from phaseline.catalog.package_files import opened
    from phaseline.packages.reading import read_package
    from phaseline.use_cases.packages.installing import product_problems

    titles: list[str] = []
    problems: list[Problem] = []
    phases: list[PhasePackage] = []
    for path in paths:
        try:
            with opened(path) as files:
                read = read_package(files.documents, path.name)
                titles.append(str(read.package or path.name))
                problems += read.problems
                if read.package is not None:
                    problems += product_problems(read.package)
                    phases += _phases([str(Path(files.tree.folder, below)) for below in read.package.code.phases])
        except ProblemsError as error:
            titles.append(path.name)
            problems += error.problems
    return CheckedPackages(titles, problems, phases)


def _phases(paths: Sequence[str]) -> list[PhasePackage]:
    """The plugins with phases at these paths."""
    if not paths:
        return []
    from phaseline.catalog.phases.packages import packages_at

    return [found for path in paths for found in packages_at(Path(path))]


def _is_archive(path: Path) -> bool:
    name = path.name.lower()
    if not name.endswith(".zip"):
        return name.endswith(ARCHIVES)
    from phaseline.catalog.archives import read_members
    from phaseline.catalog.package_files import MARK

    try:
        names = [member.name for member in read_members(path, str(path), wanted=lambda name: name.endswith(MARK))]
    except ProblemsError:
        return False  # said by those who look for plugins with phases in it
    return bool(names)
