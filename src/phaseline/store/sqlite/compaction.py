"""Return of the file's free space to the operating system, in steps between which an engine can commit."""

from __future__ import annotations

import sqlite3
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.maintenance import Compacted
from phaseline.store.sqlite import database_file as file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phaseline.ports.store import Store

COMMAND = "phaseline store compact"
PAGES_TOGETHER = 1_000
"""Number of pages that one transaction returns to the operating system."""
GIVE_WAY_S = 0.003
"""Pause in seconds between two transactions, so that a waiting engine can write its turn."""
CHECKPOINT_PATIENCE_MS = 200
"""How long, in ms, readers may delay copying the write-ahead log into the file; then only a part is copied."""
NOT_WHILE_OWNED = "it was made by an earlier version: compact it once while no engine runs"
READERS = "others are reading: what is free is given back when they have read"
_INCREMENTAL = 2


@contextmanager
def owned(store: Store, *, is_owner: bool) -> Iterator[bool]:
    """Become the owner of the store within the context, unless a process owns it. Yield whether that succeeded.

    ``is_owner``: this process already owns the store and has a running engine.
    """
    with ExitStack() as stack:
        alone = not is_owner and store.owner() is None
        if alone:
            try:
                stack.enter_context(store.own(COMMAND))
            except ProblemsError:
                alone = False
        yield alone


def compact(path: str, patience_s: float, *, alone: bool) -> Compacted:
    """Return free space to the operating system.

    ``alone``: no engine runs, so the file may be rewritten if necessary.
    """
    before = _size(path)
    reason = ""
    with closing(file.open_writer(path)) as db:
        if _value(db, "auto_vacuum") == _INCREMENTAL:
            _give_back(db, patience_s)
        elif alone:
            db.execute(f"pragma busy_timeout = {int(patience_s * 1000)}")
            db.execute("pragma auto_vacuum = incremental")
            db.execute("vacuum")
        else:
            reason = NOT_WHILE_OWNED
        db.execute(f"pragma busy_timeout = {CHECKPOINT_PATIENCE_MS}")
        (busy, *_) = db.execute("pragma wal_checkpoint(truncate)").fetchone()
        if busy:
            reason = reason or READERS
            db.execute("pragma wal_checkpoint(passive)")
        left = _value(db, "freelist_count") * _value(db, "page_size")
    return Compacted(before, _size(path), left, reason)


def _give_back(db: sqlite3.Connection, patience_s: float) -> None:
    """Remove from the file the pages that are free at the start; pages freed later wait for the next compaction.

    ``patience_s``: for how many seconds each step is retried while another process writes.
    """
    # A page is given back at each step of the statement: a script is stepped to its end, a query only once.
    script = f"pragma incremental_vacuum({PAGES_TOGETHER})"
    for _ in range(0, _value(db, "freelist_count"), PAGES_TOGETHER):
        file.in_turn(lambda: db.executescript(script), patience_s)
        time.sleep(GIVE_WAY_S)


def _value(db: sqlite3.Connection, pragma: str) -> int:
    return int(file.in_turn(lambda: db.execute(f"pragma {pragma}").fetchone()[0], file.BUSY_TIMEOUT_S))


def _size(path: str) -> int:
    """Return the size in bytes of the file and its write-ahead log."""
    size = 0
    for each in (path, f"{path}-wal"):
        with suppress(FileNotFoundError):
            size += Path(each).stat().st_size
    return size
