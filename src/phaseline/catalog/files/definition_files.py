"""Finds a plugin's definition files, with names and versions, in a file, folder, wheel, wagon or another archive."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from phaseline.catalog.files.archives import LIMITS, ArchiveLimits, read_members
from phaseline.catalog.files.type_catalog import Definition, TypeFile, fits, plain_name
from phaseline.model.problems.problem import Place, Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

DEFINITION = re.compile(r"(v[0-9]+_)?plugin(_[0-9]+_[0-9]+)?\.ya?ml")
"""Pattern of the names of definition files: ``plugin.yaml``, and ``plugin_1_4.yaml`` for version
1.4 of the language.
"""
WAGON = ArchiveLimits(members=20_000, member_bytes=256 * 1024**2, total_bytes=1024**3)
"""Limits of a wagon. They are high because a wagon contains the wheels of everything that its plugin needs."""
MAX_DEPTH = 3
"""Number of folder levels in which definition files are searched; files deeper down belong to examples and tests."""
_INNER = (".wgn", ".whl")
_SOURCE = re.compile(
    r"/(?P<name>[^/]+)/(?:archive|zipball|tarball)/(?:refs/tags/)?(?P<version>[^/]+?)(?:\.zip|\.tar\.gz)?/?$"
)
_FILE_NAME = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9._-]*?)[-_]v?(?P<version>[0-9]+(?:\.[0-9A-Za-z]+)*)(?:[-_.].*)?")


def read_definitions(path: Path, *, name: str = "", version: str = "") -> list[Definition]:
    """Return the definitions at a path, sorted by name and version. Any unreadable definition file is an error.

    ``name`` and ``version`` are given by the user, because a file may not contain them.

    Raises: ProblemsError (PL-B120 … PL-B122 as ``archives.read_members``; PL-B123 there is no definition; PL-B124 name
    or version is unknown; errors in the text of any file).
    """
    found, problems = read_sound(path, name=name, version=version)
    if problems:
        raise ProblemsError(problems)
    return found


def read_sound(path: Path, *, name: str = "", version: str = "") -> tuple[list[Definition], list[Problem]]:
    """Return (the readable definitions at a path, the problems of the unreadable files).

    Raises: ProblemsError as ``read_definitions``, if the path or archive itself is wrong.
    """
    problems: list[Problem] = []
    texts: dict[str, str | None] = {}
    for file, content in _texts(path):
        try:
            texts[file] = _text(content, _shown(path, file))
        except ProblemsError as error:
            texts[file] = None
            problems += error.problems
    if not texts:
        mend = "name a plugin.yaml, or an archive or folder with one, at most three folders deep"
        raise _refusal("PL-B123", f"there is no definition file in '{path}'", mend, str(path))
    least = min(len(PurePosixPath(file).parts) for file in texts)
    found: dict[tuple[str, str, PurePosixPath], dict[str, str]] = {}
    broken = {PurePosixPath(file).parent for file, text in texts.items() if text is None}
    for file, text in sorted(texts.items()):
        if len(PurePosixPath(file).parts) != least or text is None:
            continue
        shown = _shown(path, file)
        try:
            for key in _owners(_root(text, shown), (name, version), path, shown):
                found.setdefault((*key, PurePosixPath(file).parent), {})[PurePosixPath(file).name] = text
        except ProblemsError as error:
            problems += error.problems
            broken.add(PurePosixPath(file).parent)
    sound = {key: files for key, files in found.items() if key[2] not in broken}
    merged: dict[tuple[str, str], dict[str, str]] = {}
    for (named, of_version, _), files in sorted(sound.items()):
        merged.setdefault((named, of_version), {}).update(files)
    return [Definition(*key, files) for key, files in merged.items()], problems


def _shown(path: Path, file: str) -> str:
    """Return the text by which messages name ``file``, a file within ``path``."""
    return str(path) if path.is_file() and path.name == file else f"{path}/{file}"


def find_in_folders(folders: Sequence[Path], name: str, version: str) -> TypeFile | None:
    """Return the first definition files in these folders or their subfolders that belong to the plugin ``name`` and fit
    ``version``, or None.

    A plugin is identified by its ``package_name``, by its name in the file, or by its folder's name. Definition files
    without a version fit any wanted version: the user has chosen the content by naming the folder. Unreadable files are
    skipped.
    """
    for folder in folders:
        for place in (folder, *_folders_in(folder)):
            files = [file.name for file in sorted(place.glob("*plugin*.y*ml")) if DEFINITION.fullmatch(file.name)]
            for file in files:
                said = _names_in(place / file)
                versions = [one for called, one in said if plain_name(called) == plain_name(name)]
                if said and not versions and plain_name(place.name) == plain_name(name):
                    versions = [said[0][1]]
                if any(not one or fits(one, version) for one in versions):
                    return TypeFile(name, versions[0], str(place), tuple(files))
    return None


def _folders_in(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError:
        return []


def _names_in(file: Path) -> list[tuple[str, str]]:
    """Return (name, version) of each plugin in a definition file, once for each of its names; an empty list if the file
    is unreadable.

    A plugin's names are its ``package_name`` and its key in the file. An unknown version is an empty text.
    """
    try:
        plugins = _root(_text(_bytes(file), str(file)), str(file)).get("plugins")
    except ProblemsError:
        return []
    declared = plugins if isinstance(plugins, dict) else {}
    return [
        (str(called), str(item.get("package_version") or ""))
        for key, item in declared.items()
        if isinstance(item, dict)
        for called in (item.get("package_name") or key, key)
    ]


# -- places ---------------------------------------------------------------------------------------------------------


def _texts(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path within the given path, content) of every definition file."""
    if path.is_dir():
        for depth in range(MAX_DEPTH + 1):
            for file in sorted(path.glob("*/" * depth + "*plugin*.y*ml")):
                if DEFINITION.fullmatch(file.name) and file.is_file():
                    yield file.relative_to(path).as_posix(), file.read_bytes()
    elif path.suffix in {".yaml", ".yml"}:
        yield path.name, _bytes(path)
    else:
        yield from _packed(path, str(path))


def _packed(archive: Path | io.BytesIO, shown: str, depth: int = 0) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of the definition files in an archive, including those in wheels and wagons inside."""

    def wanted(name: str) -> bool:
        return _is_definition(name) or (depth < 2 and name.endswith(_INNER))

    for member in read_members(archive, shown, limits=WAGON if depth < 2 else LIMITS, wanted=wanted):
        if _is_definition(member.name):
            yield member.name, member.content
        else:
            for name, content in _packed(io.BytesIO(member.content), f"{shown}/{member.name}", depth + 1):
                yield f"{member.name}/{name}", content


def _is_definition(name: str) -> bool:
    path = PurePosixPath(name)
    return len(path.parts) <= MAX_DEPTH + 1 and DEFINITION.fullmatch(path.name) is not None


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(LIMITS.member_bytes + 1)
    except OSError as error:
        message = f"'{path}' cannot be read: {error.strerror}"
        raise _refusal("PL-B001", message, "check the path, and the permission to read it", str(path)) from error
    if len(content) > LIMITS.member_bytes:
        message = f"'{path}' has more than {LIMITS.member_bytes:,} bytes"
        raise _refusal("PL-B003", message, "name the definition file of a plugin", str(path))
    return content


def _text(content: bytes, shown: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"'{shown}' is not UTF-8 text: byte {error.start + 1} is no part of a character"
        raise _refusal("PL-B002", message, "save the file as UTF-8", shown) from error


# -- content --------------------------------------------------------------------------------------------------------


def _root(text: str, shown: str) -> Mapping[str, Value]:
    from phaseline.dsl.text.document import read_document
    from phaseline.dsl.text.problem_report import ProblemReport

    report = ProblemReport()
    document = read_document(shown, text, report)
    if report.errors_count:
        raise ProblemsError(report.problems())
    root = document.root if document is not None else None
    if not isinstance(root, dict) or not root.keys() & {"plugins", "node_types", "relationships", "data_types"}:
        mend = "name the file that has the sections 'plugins' and 'node_types'"
        raise _refusal("PL-B123", f"'{shown}' defines neither plugins nor types", mend, shown)
    return root


def _owners(root: Mapping[str, Value], given: tuple[str, str], path: Path, shown: str) -> Iterator[tuple[str, str]]:
    """Yield (name, version) of the plugins of a definition file.

    They are taken from ``given``, else from the file's text, else from the source address, else from the archive's
    name.
    """
    plugins = root.get("plugins")
    declared = [item for item in plugins.values() if isinstance(item, dict)] if isinstance(plugins, dict) else []
    said = {
        (str(item["package_name"]), str(item.get("package_version") or ""))
        for item in declared
        if item.get("package_name")
    }
    if not said:
        matches = [_SOURCE.search(str(item.get("source") or "")) for item in declared]
        said = {(match["name"], match["version"]) for match in matches if match is not None}
    called = _FILE_NAME.fullmatch(path.name if path.is_dir() else path.name.removesuffix(".tar.gz")) or {
        "name": "",
        "version": "",
    }
    for name, version in said or {(called["name"], "")}:
        key = (given[0] or name, given[1] or version or (called["version"] if _same(called["name"], name) else ""))
        for part, option in zip(key, ("--name", "--version"), strict=True):
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+!-]*", part):
                message = f"'{shown}' has no {option[2:]} of the package it belongs to"
                raise _refusal("PL-B124", message, f"give it: {option} {option[2:].upper()}", shown)
        yield key


def _same(one: str, other: str) -> bool:
    return plain_name(one) == plain_name(other)


def _refusal(code: str, message: str, mend: str, file: str) -> ProblemsError:
    return ProblemsError([Problem(code, message, mend, Place(file))])


def names_in(file: Path, sections: Sequence[str]) -> dict[str, Sequence[str]]:
    """Return {section: names of its elements} of a definition file, without empty sections."""
    root = _root(_text(_bytes(file), str(file)), str(file))
    found = {section: tuple(items) for section in sections if isinstance(items := root.get(section), dict)}
    return {section: names for section, names in found.items() if names}
