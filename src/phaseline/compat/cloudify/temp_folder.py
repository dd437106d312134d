"""The temporary folder of this process: it holds the ctx socket, the program ``ctx`` and copies of scripts.

It exists while it is used, and is removed after the last use, even if the process then ends abruptly. If the process is
killed during the use, the next process that needs such a folder removes it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PREFIX = "phaseline-"
ELSEWHERE = ("CFY_EXEC_TEMP", "CFY_EXEC_TEMPDIR")
"""Environment variables that name another folder for executable files, for systems that mount the
usual one ``noexec``.
"""


@dataclass
class _Shared:
    """The temporary folder, the id of its process, and the number of its current users."""

    path: Path
    process: int
    users: int = 0


_shared: list[_Shared] = []
_lock = threading.Lock()


@contextmanager
def own_folder() -> Iterator[Path]:
    """Provide this process's temporary folder during a ``with`` block; only this user can enter it."""
    shared = _enter()
    try:
        yield shared.path
    finally:
        _leave(shared)


def place_for_executables() -> Path:
    """Return the folder for temporary files that may be executed.

    As in Cloudify, an environment variable (``ELSEWHERE``) that names no existing folder is ignored.
    """
    named = (os.environ.get(name) for name in ELSEWHERE)
    return next((Path(path).absolute() for path in named if path and Path(path).is_dir()), Path(tempfile.gettempdir()))


def _enter() -> _Shared:
    process = os.getpid()
    with _lock:
        if not _shared or _shared[0].process != process:  # a forked child leaves its parent's folder alone
            _sweep()
            _shared[:] = [
                _Shared(Path(tempfile.mkdtemp(prefix=f"{PREFIX}{process}-", dir=place_for_executables())), process)
            ]
        _shared[0].users += 1
        return _shared[0]


def _leave(shared: _Shared) -> None:
    with _lock:
        shared.users -= 1
        if shared.users == 0 and shared.process == os.getpid():
            shutil.rmtree(shared.path, ignore_errors=True)
            _shared.clear()


def _sweep() -> None:
    """Remove temporary folders of this user whose process has ended."""
    for entry in place_for_executables().glob(f"{PREFIX}*-*"):
        number = entry.name[len(PREFIX) :].split("-", 1)[0]
        if number.isdigit() and not _is_alive(int(number)) and _is_ours(entry):
            shutil.rmtree(entry, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    try:
        return folder.stat().st_uid == os.getuid() and not folder.is_symlink()
    except OSError:
        return False


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
