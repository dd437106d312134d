"""Groups the files of phase plugins to packages: folders with ``lib/python``, distributions, and zip files.

A package is loaded as a whole or not at all. Each plugin outside a package counts as a package of its own.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from phaseline.catalog.code.search_path import PACKAGE_MARKS, find_installed
from phaseline.catalog.phases.phase_files import Folder, PhaseFileContents, PhaseFileOrigin, read_folder
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.state_paths import ResourceType, StatePath
from phaseline.model.phases.definitions import PhasePlugin
from phaseline.model.problems.problem import Place, Problem

GROUP = "phaseline.phases"
"""Entry-point group of distributions with phases. An entry point's value is a module; its name is the first part of the
names of the module's plugins.
"""
LIBRARY = ("lib", "python")
"""Path of the folder in a package whose modules the package's plugins may import."""
SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages"})
MAX_DEPTH = 20
MAX_FILES = 20_000
"""Largest number of files in a folder that is searched.

A larger folder was probably named by mistake, such as a whole disk.
"""


@frozen
class PhasePackage:
    """A package of phase plugins, loaded as a whole or not at all. ``place`` is the path of its folder or file.

    ``name`` is empty for a single plugin outside a package.
    """

    name: str
    place: str
    plugins: tuple[PhasePlugin, ...] = ()
    types: tuple[ResourceType, ...] = ()
    paths: tuple[StatePath, ...] = ()
    problems: tuple[Problem, ...] = ()
    folders: tuple[str, ...] = ()

    def all_problems(self) -> tuple[Problem, ...]:
        """Return the problems of the package itself, followed by those of its plugins."""
        return (*self.problems, *(problem for plugin in self.plugins for problem in plugin.problems))


def packages_at(place: Path) -> list[PhasePackage]:
    """Return all packages of a folder, or the package of a zip file or of a plugin's file. Nothing in them is run.

    If the file belongs to a pair of ``.cfg`` and ``.py``, the pair is read; if it belongs to a package, the package is
    read.
    """
    try:
        if place.is_dir():
            return (
                [_folder_package(place)]
                if is_package(place)
                else list(_loose(place, PhaseFileOrigin(folders=(str(place),)), 0))
            )
        if place.is_file():
            return [_zip_package(place)] if place.suffix == ".zip" else _file_packages(place)
    except OSError as error:
        message = f"the folder cannot be read: {error.strerror or error}"
        mend = "correct its permissions, or name another one"
        problem = Problem("PL-D050", message, mend, Place(str(error.filename or place)))
        return [PhasePackage("", str(place), problems=(problem,))]
    message = f"there is no file or folder '{place}'"
    return [
        PhasePackage("", str(place), problems=(Problem("PL-D050", message, "correct the path", Place(str(place))),))
    ]


def _file_packages(place: Path) -> list[PhasePackage]:
    around = next((folder for folder in list(place.parents)[:MAX_DEPTH] if folder.joinpath(*LIBRARY).is_dir()), None)
    if around is not None:
        return [_folder_package(around)]
    pair = dict.fromkeys(
        file for file in (place.with_suffix(".cfg"), place.with_suffix(".py"), place) if file.is_file()
    )
    folders = (str(place.parent),)
    found = [_alone(one, folders) for one in read_folder(pair, PhaseFileOrigin(folders=folders))]
    return found or [_nothing(place)]


def _nothing(place: Path) -> PhasePackage:
    mend = "a plugin is a pair Name.cfg and Name.py, a module with @phase, or a file of records (.rec)"
    return PhasePackage(
        "", str(place), problems=(Problem("PL-D050", "there is no plugin in this file", mend, Place(str(place))),)
    )


def installed_packages() -> Iterator[PhasePackage]:
    """Yield the packages of installed distributions, sorted by the names of their entry points; no
    module is imported.
    """
    from importlib.metadata import entry_points

    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        module = point.value.partition(":")[0].strip()
        spec = find_installed(module)
        origin = PhaseFileOrigin(point.name, (point.name,), tuple(module.split(".")))
        if spec is not None and spec.submodule_search_locations:
            folder = Path(next(iter(spec.submodule_search_locations)))
            yield _package(point.name, folder, folder, origin)
        elif spec is not None and spec.origin is not None and Path(spec.origin).is_file():
            single = Path(spec.origin)
            parent = PhaseFileOrigin(point.name, (), tuple(module.split("."))[:-1])
            yield _together(point.name, str(single), list(read_folder([single], parent)), ())
        else:
            message = f"the entry point '{point.name}' names the module '{module}', which is not found"
            problem = Problem("PL-D005", message, "correct the entry point, or install the package again")
            yield PhasePackage(point.name, module, problems=(problem,))


def is_package(folder: Path) -> bool:
    """Return True for a folder with ``lib/python``, and for a source distribution."""
    return folder.joinpath(*LIBRARY).is_dir() or any((folder / mark).is_file() for mark in PACKAGE_MARKS)


def _folder_package(folder: Path) -> PhasePackage:
    inside = folder / "src"
    is_distribution = not folder.joinpath(*LIBRARY).is_dir() and inside.is_dir()
    top = inside if is_distribution else folder
    return _package(folder.name, folder, top, PhaseFileOrigin(folder.name, folders=_folders(top)))


def _zip_package(file: Path) -> PhasePackage:
    try:
        top = zipfile.Path(file)
        found = _package(file.stem, file, top, PhaseFileOrigin(file.stem, folders=_folders(top)))
        with zipfile.ZipFile(file) as opened:
            names = set(opened.namelist())
        folders = {f"{PurePosixPath(name).parent!s}/" for name in names if "/" in name.rstrip("/")}
        if folders - names:
            message = (
                f"the zip file has no entry for its folder '{min(folders - names)}', so Python cannot import from it"
            )
            mend = "pack it with a program that keeps folders, such as zip -r or python -m zipfile -c"
            problem = Problem("PL-D050", message, mend, Place(str(file)))
            return altered(found, problems=(*found.problems, problem))
        return found
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        problem = Problem("PL-D050", f"the zip file cannot be read: {error}", "pack it again", Place(str(file)))
        return PhasePackage(file.stem, str(file), problems=(problem,))


def _folders(top: Folder) -> tuple[str, ...]:
    """Return the folders from which a package's modules are imported."""
    library = top.joinpath(*LIBRARY)
    return tuple(str(folder).rstrip("/") for folder in ((top, library) if library.is_dir() else (top,)))


def _package(name: str, place: Path, top: Folder, origin: PhaseFileOrigin) -> PhasePackage:
    """Return one package of everything below ``top``."""
    found: list[PhaseFileContents] = []
    seen = 0
    waiting: list[tuple[Folder, PhaseFileOrigin, int]] = [(top, origin, 0)]
    while waiting:
        folder, at, depth = waiting.pop(0)
        entries = _entries(folder)
        seen += len(entries)
        if seen > MAX_FILES or depth > MAX_DEPTH:
            return PhasePackage(name, str(place), problems=(_too_large(str(place)),))
        found += read_folder([entry for entry in entries if entry.is_file()], at)
        waiting += [
            (entry, at.below(entry.name), depth + 1)
            for entry in entries
            if entry.is_dir() and not _is_skipped(entry.name) and (depth or entry.name != LIBRARY[0])
        ]
    return _together(name, str(place), found, origin.folders)


def _together(name: str, place: str, found: list[PhaseFileContents], folders: tuple[str, ...]) -> PhasePackage:
    return PhasePackage(
        name,
        place,
        tuple(plugin for one in found for plugin in one.plugins),
        tuple(kind for one in found for kind in one.types),
        tuple(path for one in found for path in one.paths),
        tuple(problem for one in found for problem in one.problems),
        folders,
    )


def _alone(found: PhaseFileContents, folders: tuple[str, ...]) -> PhasePackage:
    return _together("", found.place, [found], folders)


def _loose(folder: Path, origin: PhaseFileOrigin, depth: int) -> Iterator[PhasePackage]:
    """Yield the packages below a folder that is no package itself.

    A plugin outside these packages is a package of its own.
    """
    entries = [entry for entry in _entries(folder) if isinstance(entry, Path)]
    if depth > MAX_DEPTH or len(entries) > MAX_FILES:
        yield PhasePackage("", str(folder), problems=(_too_large(str(folder)),))
        return
    files = [entry for entry in entries if entry.is_file()]
    for one in read_folder(files, origin):
        yield _alone(one, origin.folders)
    for file in files:
        if file.suffix == ".zip":
            yield _zip_package(file)
    for entry in entries:
        if entry.is_dir() and not _is_skipped(entry.name):
            if is_package(entry):
                yield _folder_package(entry)
            else:
                yield from _loose(entry, origin.below(entry.name), depth + 1)


def _entries(folder: Folder) -> list[Folder]:
    """Return the entries of a folder, sorted by name."""
    found: list[Folder] = list(folder.iterdir())
    return sorted(found, key=lambda entry: entry.name)


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name in SKIPPED


def _too_large(place: str) -> Problem:
    message = f"there are more than {MAX_FILES:,} files, or folders are nested deeper than {MAX_DEPTH}"
    return Problem("PL-D051", message, "name the folder with the plugins, not one around it", Place(place))
