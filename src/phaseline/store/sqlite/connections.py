"""The connections to the file of a store: one writes and one reads, so that readers never wait for a commit."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from phaseline.store.relational.connections import Connections, Problems
from phaseline.store.sql import errors as failures
from phaseline.store.sqlite import database_file as file
from phaseline.store.sqlite import errors as sqlite_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from phaseline.model.problems.problem import ProblemsError
    from phaseline.store.sqlite.database_file import FileConnection
    from phaseline.store.sqlite.wake_pipe import WakePipe

PIPE = ".wake"
"""What follows the path of the store in the path of its pipe."""


class FileConnections(Connections):
    """The connections to a store's file.

    ``patience_s``: how long, in seconds, a writer waits for other writers.
    """

    def __init__(self, path: str, on_undone: Callable[[], None]) -> None:
        """``on_undone`` is called when a transaction was not committed."""
        super().__init__(path, on_undone)
        self.patience_s = file.TURN_PATIENCE_S
        self._inode = 0
        """Inode number of the opened file; 0 if no file is open."""
        self._reader: FileConnection | None = None
        self._writer: FileConnection | None = None

    def reader(self) -> FileConnection:
        """Return the read-only connection. The caller must hold ``read_guard``."""
        if self._reader is None:
            self._reader = file.open_reader(self.path)
            self._inode = self._found()
        return self._reader

    def writer(self) -> FileConnection:
        """Return the writing connection. The caller must hold ``write_guard``."""
        if self._writer is None:
            self._writer = file.open_writer(self.path)
        return self._writer

    def begin_reading(self) -> FileConnection:
        """Begin a transaction that reads; return its connection."""
        db = self.reader()
        db.execute("begin")
        return db

    def begin(self) -> FileConnection:
        """Begin a transaction that writes, as soon as no other process writes; return its connection."""
        db = self.writer()
        file.begin_writing(db, self.patience_s)
        return db

    def problem_of(self, error: BaseException | None) -> Exception | None:
        """Return the problem for an error of SQLite; None for other errors and for misuse of SQLite, which is a bug."""
        if isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.ProgrammingError):
            return sqlite_errors.as_problem(error, self.path)
        return None

    def damaged(self, reason: str) -> ProblemsError:
        """Return PL-S003 for a stored value that cannot be decoded."""
        return failures.damaged(self.path, reason)

    def version(self) -> int:
        """Return a number above 0 that changes whenever another connection has written. No table is read for it."""
        with self.read_guard, Problems(self):
            return 1 + int(self.reader().execute("pragma data_version").fetchone()[0])

    def refuse_gone(self) -> None:
        """Raise PL-S016 if the file was removed, moved or replaced since it was opened: writes to it would be lost."""
        if self._inode and self._found() != self._inode:
            from phaseline.store.sqlite.file_identity import is_fleeting

            if not self._found() or not is_fleeting(self.path):
                raise failures.gone(self.path)

    def _found(self) -> int:
        try:
            return os.stat(self.path).st_ino  # noqa: PTH116 - looked at many times a second
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError:
            return self._inode

    def close(self) -> None:
        """Close both connections. Safe to call twice."""
        for db in (self._reader, self._writer):
            if db is not None:
                db.close()
        self._reader = self._writer = None

    @contextmanager
    def not_waiting(self) -> Iterator[None]:
        """Return a context whose transactions do not wait until they are on the disk.

        The next transaction outside the context also waits until this data is on the disk.
        """
        with Problems(self):
            self.writer().execute("pragma synchronous = normal")
            try:
                yield
            finally:
                self.writer().execute("pragma synchronous = full")

    @contextmanager
    def brief(self) -> Iterator[None]:
        """Return a context whose commits copy the write-ahead log into the file when it is still small.

        A commit that copies much of the log takes long.
        """
        with self.write_guard, Problems(self):
            self.writer().execute(f"pragma wal_autocheckpoint = {file.CHECKPOINT_PAGES_OFTEN}")
            try:
                yield
            finally:
                self.writer().execute(f"pragma wal_autocheckpoint = {file.CHECKPOINT_PAGES}")

    @cached_property
    def pipe(self) -> WakePipe:
        """The pipe by which other processes wake the owner."""
        from phaseline.store.sqlite.wake_pipe import WakePipe

        return WakePipe(self.path + PIPE)

    def tell_owner(self) -> bool:
        """Wake the owner. If it is not in this process, it reads the pipe."""
        is_here = super().tell_owner()
        if not is_here and os.path.lexists(self.path + PIPE):
            self.pipe.write()
        return is_here
