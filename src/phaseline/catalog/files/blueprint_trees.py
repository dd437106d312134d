"""All files of the folder of a blueprint or package: collected and hashed, and written to disk again for calls."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.stored_blueprints import StoredFile
from phaseline.model.problems.problem import Place, Problem, ProblemsError

MAX_FILES = 10_000
MAX_BYTES = 256 * 1024**2
"""Largest total size of the files of a folder, in bytes."""
NOT_TAKEN = frozenset({".git", ".hg", ".svn", "__pycache__"})
"""Folders of development tools, which are left out at any depth."""
NOTHING = hashlib.sha256().hexdigest()
"""Digest of an empty file, also used for an empty folder."""
READ, RUN = 0o444, 0o555
"""File modes of materialized files (without and with the executable bit): read-only, against changes by mistake."""


@frozen
class Whose:
    """Options for collecting the folder of a blueprint or package. ``noun`` names the folder in messages, ``code`` is
    the code of its problems.

    ``keeps_empty``: empty folders are kept, too. ``follows_folders``: a link to a folder inside is followed, and the
    files of that folder appear a second time below the link.
    """

    noun: str = "blueprint"
    code: str = "PL-C057"
    keeps_empty: bool = False
    follows_folders: bool = False


A_BLUEPRINT = Whose()


@frozen
class BlueprintTree:
    """The files of a folder. ``digest`` is computed from ``main_file`` and all paths, contents and executable bits.

    If empty folders are kept, an empty folder is a file without content whose path ends with ``/``.
    """

    folder: str
    main_file: str
    files: tuple[StoredFile, ...]
    digest: str
    whose: Whose = A_BLUEPRINT

    @property
    def size_bytes(self) -> int:
        """The total size of all files in bytes."""
        return sum(file.size_bytes for file in self.files)

    def content(self, file: StoredFile) -> bytes:
        """Return the content of a file. Raises: PL-C057 if the file has changed since its digest was computed."""
        path = Path(self.folder, file.path)
        body = b"" if file.is_folder else path.read_bytes()
        if hashlib.sha256(body).hexdigest() != file.digest:
            _Taking(path, self.whose).refuse(
                path,
                f"'{file.path}' was changed while it was read",
                "repeat this command when no other program writes into the folder",
            )
        return body


def take_up(
    main: str,
    *,
    leave_out: Callable[[str], bool] = lambda _: False,
    max_files: int = MAX_FILES,
    max_bytes: int = MAX_BYTES,
) -> BlueprintTree:
    """Collect the files of the folder that contains ``main``, sorted by path. ``leave_out``: true for a path to skip.

    Raises: PL-C057 for members that are neither files nor folders, for links that lead out of the folder, and if there
    are too many files or bytes.
    """
    whole = Path(main).absolute()
    return take_up_folder(
        whole.parent, A_BLUEPRINT, main_file=whole.name, leave_out=leave_out, max_files=max_files, max_bytes=max_bytes
    )


def take_up_folder(
    folder: Path,
    whose: Whose,
    *,
    main_file: str = "",
    leave_out: Callable[[str], bool] = lambda _: False,
    max_files: int = MAX_FILES,
    max_bytes: int = MAX_BYTES,
) -> BlueprintTree:
    """Collect the files of a folder, sorted by path. ``leave_out``: true for an absolute path to skip.

    Raises: the code of ``whose`` for what is not allowed in the folder (see ``take_up``).
    """
    folder = folder.absolute()
    taking = _Taking(folder, whose, leave_out)
    files: list[StoredFile] = []
    total = 0
    for path in taking.files(folder):
        if len(files) == max_files:
            taking.refuse(folder, f"it has more than {max_files:,} files", taking.too_much)
        found = path.stat()
        is_folder = path.is_dir()
        total += 0 if is_folder else found.st_size
        if total > max_bytes:
            taking.refuse(folder, f"its files have more than {max_bytes:,} bytes", taking.too_much)
        name = path.relative_to(folder).as_posix()
        if is_folder:
            files.append(StoredFile(f"{name}/", NOTHING, 0))
        else:
            runs = bool(found.st_mode & stat.S_IXUSR)
            files.append(StoredFile(name, taking.digest(path), found.st_size, runs))
    files.sort(key=lambda file: file.path)
    return BlueprintTree(str(folder), main_file, tuple(files), digest_of(main_file, files), whose)


def digest_of(main_file: str, files: Sequence[StoredFile]) -> str:
    """Return the digest of a tree; two trees have equal digests if they have equal files and the same main file."""
    whole = hashlib.sha256(f"{main_file}\0".encode("utf-8", "surrogateescape"))
    for file in sorted(files, key=lambda each: each.path):
        told = f"{file.path}\0{file.digest}\0{int(file.is_executable)}\0"
        whole.update(told.encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


class _Taking:
    """One walk through a folder that collects its files and refuses what is not allowed."""

    def __init__(self, folder: Path, whose: Whose, leave_out: Callable[[str], bool] = lambda _: False) -> None:
        self._root = folder.resolve()
        self._whose = whose
        self._leave_out = leave_out
        self._open: list[Path] = []
        self.too_much = f"remove what the {whose.noun} does not need"

    def files(self, folder: Path) -> Iterator[Path]:
        """Yield the path of every file below a folder, and of every empty folder if empty folders are kept.

        Links are followed if they stay inside the folder.
        """
        self._open.append(folder.resolve())
        yield from self._below(folder)
        self._open.pop()

    def _below(self, folder: Path) -> Iterator[Path]:
        is_empty = True
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self.refuse(folder, f"it cannot be read: {error.strerror}", "give yourself the right to read it")
        for entry in entries:
            path = Path(entry.path)
            if self._leave_out(entry.path):
                continue
            if entry.is_symlink():
                self._refuse_link(path)
            if entry.is_dir():
                if entry.name not in NOT_TAKEN:
                    is_empty = False
                    yield from self.files(path)
            elif entry.is_file():
                self._refuse_name(path, entry.name)
                is_empty = False
                yield path
            else:
                self.refuse(path, f"'{entry.name}' is neither a file nor a folder", "remove it from the folder")
        if is_empty and self._whose.keeps_empty and folder.resolve() != self._root:
            self._refuse_name(folder, folder.name)
            yield folder

    def _refuse_link(self, path: Path) -> None:
        """Refuse a link that leads out of the folder, and a link to a folder that is not to be followed or contains the
        link.
        """
        target = path.resolve()
        if not target.is_relative_to(self._root):
            message = f"'{path.name}' is a link that leads out of the {self._whose.noun}'s folder"
            self.refuse(path, message, "put a copy of what is needed into the folder")
        if target.is_dir() and not self._whose.follows_folders:
            self.refuse(path, f"'{path.name}' is a link to a folder", "put a copy of the folder there")
        if target in self._open:
            self.refuse(path, f"'{path.name}' is a link to a folder that contains it", "remove the link")

    def _refuse_name(self, path: Path, name: str) -> None:
        try:
            name.encode()
        except UnicodeEncodeError:
            self.refuse(path, f"the name of the file {os.fsencode(name)!r} is not UTF-8", "rename it")

    def digest(self, path: Path) -> str:
        """Return the digest of a file's content."""
        try:
            return _digest(path)
        except OSError as error:
            message = f"'{path.name}' cannot be read: {error.strerror}"
            self.refuse(path, message, "give yourself the right to read it")

    def refuse(self, path: Path, message: str, mend: str) -> NoReturn:
        """Raise a problem about a path, with the problem code that the options (``Whose``) define."""
        shown = os.fsencode(path).decode("utf-8", "replace")
        raise ProblemsError([Problem(self._whose.code, message, mend, Place(shown))])


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def materialize_tree(folder: Path, files: Sequence[StoredFile], content: Callable[[str], bytes]) -> None:
    """Write these files to the folder. A file that exists with another content is replaced.

    ``content``: returns the content that has a digest. A new folder appears only when it is complete, even if several
    processes write it at once.
    """
    if folder.is_dir():
        for file in files:
            path = folder / file.path
            if file.is_folder:
                path.mkdir(parents=True, exist_ok=True)
            elif not path.is_file() or path.is_symlink() or _digest(path) != file.digest:
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, file, content(file.digest))
        return
    beside = folder.with_name(f"{folder.name}.new-{os.getpid()}-{os.urandom(4).hex()}")
    beside.mkdir(mode=0o700, parents=True)
    try:
        for file in files:
            path = beside / file.path
            (path if file.is_folder else path.parent).mkdir(parents=True, exist_ok=True)
            if not file.is_folder:
                _write(path, file, content(file.digest))
        beside.rename(folder)
    except OSError:
        _forget(beside)
        if not folder.is_dir():  # otherwise another process was faster
            raise


def _write(path: Path, file: StoredFile, body: bytes) -> None:
    """Write one file beside its path and rename it, so that readers see either the old or the new file."""
    beside = path.with_name(f".{path.name[:100]}.{os.urandom(4).hex()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as opened:
        opened.write(body)
        os.fchmod(opened.fileno(), RUN if file.is_executable else READ)
    beside.replace(path)


def _forget(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
