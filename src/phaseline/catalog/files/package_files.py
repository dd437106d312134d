"""Reads the files of a plugin package from a folder, or from an archive, which is not trusted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from phaseline.catalog.files.archives import ArchiveLimits, unpack
from phaseline.catalog.files.blueprint_trees import BlueprintTree, Whose, take_up_folder
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.stored_blueprints import StoredFile
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error

A_PACKAGE = Whose("package", "PL-F060", keeps_empty=True, follows_folders=True)
MARK = "metadata.yaml"
"""File whose presence makes a folder a package."""
CHECKSUMS = "checksums.sha256"
"""File with the checksums of all files of the package, written by ``plugins build``."""
LIMITS = ArchiveLimits(members=20_000, member_bytes=256 * 1024**2, total_bytes=512 * 1024**2)
"""Limits of a package. They are high because a package may contain repositories of software that it installs."""
MAX_DEPTH = 5
"""Largest number of folders above ``metadata.yaml`` in an archive; an rpm has all folders of its installation path."""
TEXT_BYTES = 5 * 1024**2 + 1
"""Bytes of a document that are read: one byte more than a document may have, to recognize one that is too long."""
_JUNK_ENDINGS = ("~", ".pyc", ".pyo", ".swp", ".orig", ".rej")
_JUNK = frozenset({".DS_Store", "Thumbs.db", ".tox", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".build"})
"""Names of files and folders that development tools leave behind, which are not part of a package."""


@frozen
class PackageFiles:
    """All files of a package. ``documents`` is {path: content}, where only YAML files have their content.

    Other files have an empty content there, because only their paths are needed to read a package.
    """

    tree: BlueprintTree
    documents: Mapping[str, bytes]


@contextmanager
def opened(path: Path, *, leave_out: Callable[[str], bool] = lambda _: False) -> Iterator[PackageFiles]:
    """Open a package for a ``with`` block: a folder, or an archive (.tar.gz, .fp, .whl, .zip, .rpm).

    An archive is unpacked into a temporary folder until the block ends.

    Raises: ProblemsError (PL-F060 it is no package, or has unusable files; PL-F061 a file does not match its checksum;
    PL-B120 … PL-B122 as ``archives.read_members``).
    """
    if path.is_dir():
        yield _taken(path, str(path), leave_out)
        return
    if path.suffix in {".yaml", ".yml"}:
        message = f"'{path}' is a single file, and a package is a folder or an archive"
        mend = "for its type definitions alone: phaseline plugins install --definition-only FILE"
        raise problem_error("PL-F060", message, mend, subject=str(path))
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="phaseline-") as passing:
        folder = Path(passing, "unpacked")
        folder.mkdir()
        unpack(path, folder, limits=LIMITS, with_folders=True, with_links=True)
        yield _taken(_root(folder, str(path)), str(path), leave_out)


def documents_of(files: Iterable[StoredFile], content: Callable[[StoredFile], bytes]) -> dict[str, bytes]:
    """Return {path: content} of a package's files, where only YAML files have their content.

    ``content`` is called for these only.
    """
    return {
        file.path: content(file)[:TEXT_BYTES] if file.path.endswith((".yaml", ".yml")) and file.size_bytes else b""
        for file in files
    }


def checksums(tree: BlueprintTree) -> bytes:
    """Return the content of a package's checksum file, in the format that ``sha256sum`` writes and checks."""
    files = (file for file in tree.files if not file.is_folder and file.path != CHECKSUMS)
    return "".join(f"{file.digest}  {file.path}\n" for file in files).encode("utf-8", "surrogateescape")


def package_folders(folder: Path) -> list[Path]:
    """Return the package folders directly inside a folder, or the folder itself if it is a package."""
    if (folder / MARK).is_file():
        return [folder]
    if not folder.is_dir():
        return []
    return sorted(below for below in folder.iterdir() if (below / MARK).is_file())


def _taken(folder: Path, shown: str, leave_out: Callable[[str], bool]) -> PackageFiles:
    tree = take_up_folder(
        folder,
        A_PACKAGE,
        leave_out=lambda path: leave_out(path) or _is_junk(path),
        max_files=LIMITS.members,
        max_bytes=LIMITS.total_bytes,
    )
    _check_sums(tree, shown)
    whole = altered(tree, files=tuple(file for file in tree.files if file.path != CHECKSUMS))
    return PackageFiles(_with_digest(whole), documents_of(whole.files, tree.content))


def _with_digest(tree: BlueprintTree) -> BlueprintTree:
    """Return the tree with a digest computed without the checksum file, so that ``plugins build`` does not change the
    digest.
    """
    from phaseline.catalog.files.blueprint_trees import digest_of

    return altered(tree, digest=digest_of(tree.main_file, tree.files))


def _is_junk(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name in _JUNK or name.endswith(_JUNK_ENDINGS)


def _root(folder: Path, shown: str) -> Path:
    """Return the package folder in an unpacked archive. Raises: PL-F060 if there is none, or more than one.

    It is the folder that a wheel announces, otherwise the folder with ``metadata.yaml`` that is nearest to the top.
    """
    from phaseline.catalog.files.distributed_packages import folders_in_wheel

    levels = (folder.glob("*/" * depth + MARK) for depth in range(MAX_DEPTH + 1))
    for files in ((place / MARK for place in folders_in_wheel(folder)), *levels):
        found = [file.parent for file in files if file.is_file()]
        if len(found) == 1:
            return found[0]
        if found:
            there = ", ".join(sorted(place.relative_to(folder).as_posix() for place in found))
            message = f"there are several packages in '{shown}': {there}"
            raise problem_error("PL-F060", message, "pack one package into one archive", subject=shown)
    message = f"there is no package in '{shown}': it has no {MARK}"
    mend = f"name an archive of a package's folder; the file {MARK} is at most {MAX_DEPTH} folders deep in it"
    raise problem_error("PL-F060", message, mend, subject=shown)


def _check_sums(tree: BlueprintTree, shown: str) -> None:
    """Raise PL-F061 for each file that was changed, added or removed since the package was built."""
    written = next((file for file in tree.files if file.path == CHECKSUMS), None)
    if written is None:
        return
    expected = dict(_lines(tree.content(written).decode("utf-8", "surrogateescape")))
    found = {file.path: file.digest for file in tree.files if not file.is_folder and file.path != CHECKSUMS}
    wrong = sorted(path for path in expected.keys() | found.keys() if expected.get(path) != found.get(path))
    if wrong:
        raise ProblemsError(_unlike(path, shown, is_there=path in found, is_told=path in expected) for path in wrong)


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield (path, digest) for each line of a checksum file."""
    for line in text.splitlines():
        digest, _, path = line.partition("  ")
        yield PurePosixPath(path).as_posix(), digest


def _unlike(path: str, shown: str, *, is_there: bool, is_told: bool) -> Problem:
    what = "is missing" if not is_there else "is not what it was when the package was built" if is_told else "is new"
    mend = f"get the package again from its vendor; if you have changed it yourself, remove {CHECKSUMS}"
    return Problem("PL-F061", f"the file '{path}' of '{shown}' {what}, according to {CHECKSUMS}", mend, Place(shown))
