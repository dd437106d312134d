"""Detection of copies: whether the store's file is the one that was last written, or a copy.

The store records the path and inode of its file, and a backup is marked as one. The lock file beside the store records
the epoch of the last owner that stored anything. A file with a lower epoch is an older state of the store, even if its
bytes were written into the same file.
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
"""Value in place of the inode number that marks a file as a backup."""
LARGEST = (1 << 63) - 1
"""The largest integer of SQLite."""
FLEETING = ("9p", "cifs", "smb3", "smbfs", "overlay")
"""File systems, besides those of FUSE, that may change the inode number of a file after a while."""


@frozen
class FileIdentity:
    """Path, inode and device of a file. ``device`` may change with a restart of the machine."""

    place: str
    inode: int
    device: int


def spot_of(file: str, path: str = "") -> FileIdentity:
    """Return the identity of a file now, or with ``path`` as its path if it will be moved there. Raises: OSError."""
    found = Path(file).stat()
    place = os.fsencode(path or file).decode("utf-8", "backslashreplace")
    return FileIdentity(place, found.st_ino & LARGEST, found.st_dev & LARGEST)


def remembered(db: sqlite3.Connection) -> tuple[str, int, FileIdentity]:
    """Return (identity of the store, its epoch, path and inode of its file) as stored; inode 0 if never stored."""
    identity, epoch, *spot = db.execute("select identity, epoch, place, inode, device from store").fetchone()
    return identity, epoch, FileIdentity(*spot)


def remember(db: sqlite3.Connection, spot: FileIdentity) -> None:
    """Write the path, inode and device of the store's file into it, in the caller's transaction."""
    db.execute("update store set place = ?, inode = ?, device = ?", (spot.place, spot.inode, spot.device))


def mark_as_copy(db: sqlite3.Connection) -> None:
    """Mark this file as a copy, so that later opens detect it. A store with older tables cannot be marked."""
    columns = {row[1] for row in db.execute("pragma table_info(store)")}
    if "inode" in columns:
        remember(db, FileIdentity("", COPY, 0))


def copied(spot: FileIdentity, now: FileIdentity, epoch: int, memory: Memory | None) -> str:
    """Return why the file is a copy and not the one that was last written; empty if it is that file, even if moved.

    ``spot`` and ``epoch``: the identity and the epoch that are stored in the file. ``now``: its present identity.
    ``memory``: the lock file's data about this store, or None.
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
    """Return True if the file system may change the inode number of a file after a while."""
    from phaseline.store.sqlite.mounts import kind_of_file_system

    kind = kind_of_file_system(Path(place))
    return kind in FLEETING or kind.startswith("fuse")
