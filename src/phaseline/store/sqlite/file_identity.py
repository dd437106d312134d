"""Detection of copies: whether the file of a store is the one written last, or a copy put there or moved elsewhere.

The store records the place and inode of its file. A backup is marked as one. The lock file beside the store records the
epoch of the last owner that stored anything: a file with a lower epoch is an older state of the same store, even if
its bytes were written into the same file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    import sqlite3

    from phaseline.store.sqlite.owner_lock import Memory

COPY = -1
"""In the place of the inode: the file was written as a backup."""
LARGEST = (1 << 63) - 1
"""The largest integer of SQLite."""
FLEETING = ("9p", "cifs", "smb3", "smbfs", "overlay")
"""File systems, beside those of FUSE, that give a file another inode number after a while."""


@frozen
class FileIdentity:
    """The place of a file. ``device`` may change with a restart of the machine."""

    place: str
    inode: int
    device: int


def spot_of(file: str, path: str = "") -> FileIdentity:
    """Where the file is now, or will be once it has got the name ``path``. Raises: OSError."""
    found = Path(file).stat()
    place = os.fsencode(path or file).decode("utf-8", "backslashreplace")
    return FileIdentity(place, found.st_ino & LARGEST, found.st_dev & LARGEST)


def remembered(db: sqlite3.Connection) -> tuple[str, int, FileIdentity]:
    """(identity, epoch, place of the store when they were last written; inode 0: never written)."""
    identity, epoch, *spot = db.execute("select identity, epoch, place, inode, device from store").fetchone()
    return identity, epoch, FileIdentity(*spot)


def remember(db: sqlite3.Connection, spot: FileIdentity) -> None:
    """Write down where the store is, in a transaction of the caller."""
    db.execute("update store set place = ?, inode = ?, device = ?", (spot.place, spot.inode, spot.device))


def mark_as_copy(db: sqlite3.Connection) -> None:
    """Mark this file as a copy for later opens; a store of an older schema cannot be marked."""
    columns = {row[1] for row in db.execute("pragma table_info(store)")}
    if "inode" in columns:
        remember(db, FileIdentity("", COPY, 0))


def copied(spot: FileIdentity, now: FileIdentity, epoch: int, memory: Memory | None) -> str:
    """Why the file is not the one that was written last; empty if it is, be it that it was moved.

    ``memory``: what the lock file knows of this store, None: nothing.
    """
    if spot.inode == COPY:
        return "it is a backup"
    if memory is not None and memory.epoch > epoch:
        return "it is an older state of the store that was here"
    if spot.inode in (0, now.inode) and (spot.inode == 0 or spot.place == now.place or spot.device == now.device):
        return ""
    if spot.place != now.place:
        return f"it is a copy of {spot.place}"
    if memory is not None and is_fleeting(now.place):
        return ""
    return "another file was put in its place"


def is_fleeting(place: str) -> bool:
    """Whether the file system gives a file another inode number after a while."""
    from phaseline.store.sqlite.mounts import kind_of_file_system

    kind = kind_of_file_system(Path(place))
    return kind in FLEETING or kind.startswith("fuse")
