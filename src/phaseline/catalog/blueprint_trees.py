"""All files of a blueprint's folder: taken up as they are at this moment, and laid out again where calls find them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from phaseline.model.frozen import frozen
from phaseline.model.problem import Place, Problem, ProblemsError
from phaseline.model.stored_blueprints import StoredFile

MAX_FILES = 10_000
MAX_BYTES = 256 * 1024**2
"""All files together."""
NOT_TAKEN = frozenset({".git", ".hg", ".svn", "__pycache__"})
"""Folders that belong to tools and not to the blueprint; they are left out wherever they lie."""
READ, RUN = 0o444, 0o555
"""Files that are laid out are for reading, so that nobody changes them by mistake."""


@frozen
class Tree:
    """The files of a folder. ``digest`` is that of their paths, contents and executable bits, and of ``main_file``."""

    folder: str
    main_file: str
    files: tuple[StoredFile, ...]
    digest: str

    @property
    def size_bytes(self) -> int:
        """All files together."""
        return sum(file.size_bytes for file in self.files)

    def content(self, file: StoredFile) -> bytes:
        """What is in a file. Raises: PL-C057 if it has changed since."""
        path = Path(self.folder, file.path)
        body = path.read_bytes()
        if hashlib.sha256(body).hexdigest() != file.digest:
            _refuse(path, f"'{file.path}' was changed while it was read", "Repeat this when nobody writes there.")
        return body


def take_up(
    main: str,
    *,
    leave_out: Callable[[str], bool] = lambda _: False,
    max_files: int = MAX_FILES,
    max_bytes: int = MAX_BYTES,
) -> Tree:
    """The files of the folder in which ``main`` lies, by path. ``leave_out``: absolute paths that do not belong to it.

    Raises: PL-C057 for what is no file or folder, a link that leads out, and too much.
    """
    folder = Path(main).absolute().parent
    files: list[StoredFile] = []
    total = 0
    for path in _files(folder, folder.resolve(), leave_out):
        if len(files) == max_files:
            _refuse(folder, f"it has more than {max_files:,} files", "Take out what the blueprint does not need.")
        found = path.stat()
        total += found.st_size
        if total > max_bytes:
            message = f"its files have more than {max_bytes:,} bytes"
            _refuse(folder, message, "Take out what the blueprint does not need.")
        digest = _digest(path)
        runs = bool(found.st_mode & stat.S_IXUSR)
        files.append(StoredFile(path.relative_to(folder).as_posix(), digest, found.st_size, runs))
    files.sort(key=lambda file: file.path)
    name = Path(main).name
    return Tree(str(folder), name, tuple(files), digest_of(name, files))


def digest_of(main_file: str, files: Sequence[StoredFile]) -> str:
    """The digest of a tree; equal ones have equal files and the same main file."""
    whole = hashlib.sha256(f"{main_file}\0".encode("utf-8", "surrogateescape"))
    for file in sorted(files, key=lambda each: each.path):
        told = f"{file.path}\0{file.digest}\0{int(file.is_executable)}\0"
        whole.update(told.encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def _files(folder: Path, root: Path, leave_out: Callable[[str], bool]) -> Iterator[Path]:
    """Every file below, links followed where they stay inside."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        _refuse(folder, f"it cannot be read: {error.strerror}", "Give yourself the right to read it.")
    for entry in entries:
        path = Path(entry.path)
        if leave_out(entry.path):
            continue
        shown = f"'{entry.name}'"
        if entry.is_symlink():
            target = path.resolve()
            if not target.is_relative_to(root):
                mend = "Put a copy of what is needed into the folder."
                _refuse(path, f"{shown} is a link that leads out of the blueprint's folder", mend)
            if target.is_dir():
                _refuse(path, f"{shown} is a link to a folder", "Put a copy of the folder there.")
        if entry.is_dir():
            if entry.name not in NOT_TAKEN:
                yield from _files(path, root, leave_out)
        elif entry.is_file():
            _refuse_name(path, entry.name)
            yield path
        else:
            _refuse(path, f"{shown} is neither a file nor a folder", "Take it out.")


def _refuse_name(path: Path, name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        _refuse(path, f"the name of the file {os.fsencode(name)!r} is not UTF-8", "Rename it.")


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        _refuse(path, f"'{path.name}' cannot be read: {error.strerror}", "Give yourself the right to read it.")


def _refuse(path: Path, message: str, mend: str) -> NoReturn:
    shown = os.fsencode(path).decode("utf-8", "replace")
    raise ProblemsError([Problem("PL-C057", message, mend, Place(shown))])


def lay_out(folder: Path, files: Sequence[StoredFile], content: Callable[[str], bytes]) -> None:
    """See that the folder has these files as they were taken up; whatever was changed in one of them is undone.

    A new folder appears whole or not at all, also where several processes make it at once. ``content``: of a digest.
    """
    if folder.is_dir():
        for file in files:
            path = folder / file.path
            if not path.is_file() or path.is_symlink() or _digest(path) != file.digest:
                path.parent.mkdir(parents=True, exist_ok=True)
                _write(path, file, content(file.digest))
        return
    beside = folder.with_name(f"{folder.name}.new-{os.getpid()}-{os.urandom(4).hex()}")
    beside.mkdir(mode=0o700, parents=True)
    try:
        for file in files:
            path = beside / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, file, content(file.digest))
        beside.rename(folder)
    except OSError:
        _forget(beside)
        if not folder.is_dir():  # otherwise somebody else was faster
            raise


def _write(path: Path, file: StoredFile, body: bytes) -> None:
    """Replace one file, at once."""
    beside = path.with_name(f".{path.name[:100]}.{os.urandom(4).hex()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as opened:
        opened.write(body)
        os.fchmod(opened.fileno(), RUN if file.is_executable else READ)
    beside.replace(path)


def _forget(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
