"""Copies of a store in use, made by SQLite's backup function: a copy shows one consistent state of the store."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from phaseline.store.sql import errors as failures
from phaseline.store.sqlite.file_identity import mark_as_copy


def copy(source: sqlite3.Connection, path: str) -> int:
    """Copy the store to a new private file, check the copy, and return its size in bytes.

    Writers need not wait; what they write meanwhile is not in the copy. Raises: PL-S006; then no file is left.
    """
    return write(path, lambda part: fill(source, part))


def write(path: str, fill_part: Callable[[str], None]) -> int:
    """Write a new private file, which gets its name when it is whole, and return its size in bytes.

    ``fill_part`` writes the content into a file with another name. Raises: PL-S006; then no file is left.
    """
    part = f"{path}.part"
    try:
        if os.path.lexists(path):
            raise failures.cannot_copy(path, "the file exists")
        make_private(part)
        fill_part(part)
        to_disk(part)
        os.link(part, path)  # unlike a renaming, this never replaces a file
        to_disk(str(Path(path).parent))
        return Path(path).stat().st_size
    except OSError as error:
        raise failures.cannot_copy(path, error.strerror or str(error)) from error
    except sqlite3.Error as error:
        raise failures.cannot_copy(path, str(error)) from error
    finally:
        for left in (part, f"{part}-wal", f"{part}-shm"):
            with suppress(OSError):
                Path(left).unlink(missing_ok=True)


def make_private(part: str) -> None:
    """Make an empty file that only this user may read, in place of one that a killed process has left."""
    Path(part).unlink(missing_ok=True)
    os.close(os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def fill(source: sqlite3.Connection, part: str) -> None:
    """Write the whole store of a connection into the file ``part``, mark that file as a copy and check it.

    Raises: ``sqlite3.Error``.
    """
    with closing(sqlite3.connect(part, isolation_level=None)) as target:
        source.backup(target)
        mark_as_copy(target)
        raise_if_damaged(target)


def raise_if_damaged(db: sqlite3.Connection) -> None:
    """Raise ``sqlite3.Error`` if the pages of a file are damaged."""
    (found,) = db.execute("pragma quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(f"the copy is damaged: {found}")


def to_disk(path: str) -> None:
    """Wait until a file, or a folder's list of files, is on the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
