"""The store in one SQLite file, which is the default."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.relational.connections import Problems
from phaseline.store.relational.store import SqlStore
from phaseline.store.sql import deployments as writes
from phaseline.store.sql.turn_writer import TurnWriter
from phaseline.store.sqlite import database_file as file
from phaseline.store.sqlite import waiters
from phaseline.store.sqlite.connections import FileConnections
from phaseline.store.sqlite.database_file import size_of
from phaseline.store.sqlite.owner_lock import OwnerLock

if TYPE_CHECKING:
    from phaseline.model.rows.maintenance import Compacted, StoreFinding
    from phaseline.model.rows.rows import Owner, Turn
    from phaseline.ports.clock import Clock


class SqliteStore(SqlStore):
    """Implements ``ports.store.Store`` in an SQLite file; the protocol describes each method."""

    connections: FileConnections

    def __init__(self, path: str, clock: Clock, notices: Sequence[str] = ()) -> None:
        """Do not call: ``open`` makes these objects."""
        turns = TurnWriter()
        self.connections = FileConnections(path, turns.forget)
        super().__init__(path, clock, turns, notices)
        self._lock = OwnerLock(path + ".lock")
        self._is_noted = False

    @cached_property
    def _waiting(self) -> waiters.WaitingRoom:
        """The register of waiting processes, which most commands do not need."""
        return waiters.WaitingRoom(self.path + ".waiting")

    @classmethod
    def open(cls, path: str | os.PathLike[str], clock: Clock, *, makes: bool = True) -> SqliteStore:
        """Open the store in a file. ``makes``: create a missing file. Raises: PL-S001, S002, S003, S005, S007."""
        whole = str(Path(path).resolve())  # one file, one lock, whatever leads to it
        if not makes:
            file.raise_if_missing(whole)
        ready = file.make_ready(whole, clock.now())
        store = cls(whole, clock, ready.notices)
        store.read_only_version = ready.read_only_version
        return store

    @contextmanager
    def own(self, command: str) -> Iterator[int]:
        """Become the owner, the only process that writes for an engine, named ``command``; yield the epoch."""
        try:
            self._lock.take(command, self._clock.now())
        except ProblemsError:
            self.connections.refuse_gone()  # its folder was removed: that is the reason
            raise
        try:
            with self.connections.write_guard, self.connections.not_waiting(), self._transaction() as db:
                epoch = writes.raise_epoch(db)
                self._turns.forget()  # others have owned the store since
            self._epoch, self._is_noted = epoch, False
            yield epoch
        finally:
            self._refresh_all_lists()
            with self.connections.write_guard:
                self._epoch = 0
                self._turns.forget()
                self._lock.release()

    def owner(self) -> Owner | None:
        """Return the process that owns the store now, or None."""
        return self._lock.holder()

    def changed(self, since: int = 0) -> int:
        """Return 0 if nothing was written since the call that returned ``since``; otherwise the next ``since``."""
        version = self.connections.version()
        self.connections.refuse_gone()
        return 0 if version == since else version

    def version(self) -> int:
        """Return a number above 0 that changes whenever another process has written."""
        return self.connections.version()

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context that registers this process as waiting to become the owner."""
        return self._waiting.inside()

    def somebody_waits(self) -> bool:
        """Return True while another process waits to become the owner."""
        return self._waiting.somebody_else()

    def commit(self, turn: Turn) -> None:
        """Write one turn of the engine's loop. Only the owner may: a call by any other process is a bug."""
        super().commit(turn)
        if not self._is_noted:  # from now on the epoch is on the disk
            self._is_noted = True
            self._lock.remember(self.identity(), self._epoch)

    def sizes(self) -> tuple[int, int]:
        """Return the sizes of the file and of its write-ahead log, in bytes."""
        return size_of(Path(self.path)), size_of(Path(f"{self.path}-wal"))

    def server_checks(self) -> Sequence[tuple[Literal["ok", "warn", "fail"], str, str, str]]:
        """Return findings about the database server; there is none."""
        return ()

    def check(self) -> Sequence[StoreFinding]:
        """Return all inconsistencies in the store."""
        from phaseline.store.sqlite import integrity as checking

        with Problems(self.connections), closing(file.open_reader(self.path)) as db:
            return checking.check(db)

    def backup(self, path: str) -> int:
        """Copy the store's present state into a new file; return its size in bytes."""
        from phaseline.store.sqlite.backup import copy

        with Problems(self.connections), closing(file.open_reader(self.path)) as db:
            return copy(db, path)

    def compact(self) -> Compacted:
        """Return free space of the file to the operating system."""
        from phaseline.store.sqlite import compaction as compacting

        with Problems(self.connections), compacting.owned(self, is_owner=bool(self._epoch)) as alone:
            return compacting.compact(self.path, self.connections.patience_s, alone=alone)

    def close(self) -> None:
        """Close the store's files. Safe to call twice."""
        with self.connections.read_guard, self.connections.write_guard:
            self.connections.close()
            if "_waiting" in vars(self):
                self._waiting.close()
            self._lock.release()
