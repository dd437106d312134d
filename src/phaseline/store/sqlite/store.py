"""The store in one SQLite file, which is the default."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from phaseline.model.problems.problem import ProblemsError
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.relational.connections import Problems
from phaseline.store.relational.whole_store import SqlStore
from phaseline.store.sql import deployments as writes
from phaseline.store.sql.turn_writer import TurnWriter
from phaseline.store.sqlite import database_file as file
from phaseline.store.sqlite import waiters
from phaseline.store.sqlite.connections import FileConnections
from phaseline.store.sqlite.database_file import size_of
from phaseline.store.sqlite.owner_lock import FileLease, OwnerLock

if TYPE_CHECKING:
    from phaseline.model.rows.maintenance import Compacted, StoreFinding
    from phaseline.model.rows.rows import Owner, Turn
    from phaseline.ports.clock import Clock
    from phaseline.store.sqlite.database_file import FileConnection


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
        if ready.is_upgraded:
            from phaseline.store.relational.filling import begin_steps

            try:
                first, *others = ready.notices
                store.notices = (first + begin_steps(store.continue_upgrade), *others)
            except BaseException:
                store.close()
                raise
        return store

    @classmethod
    def open_to_copy(cls, path: str | os.PathLike[str], clock: Clock) -> SqliteStore:
        """Open the store in a file that is only read, such as a backup: it is not marked as a store in use.

        A store of an earlier version is upgraded, as by ``open``. Raises: PL-S001, PL-S002, PL-S003, PL-S005, PL-S007.
        """
        whole = str(Path(path).resolve())
        file.raise_if_missing(whole)
        store = cls(whole, clock)
        with Problems(store.connections):
            found = file.require_our_schema(whole)
        if found > SCHEMA_VERSION:
            store.read_only_version = found
        return cls.open(whole, clock) if found < SCHEMA_VERSION else store

    @contextmanager
    def own(self, command: str) -> Iterator[FileLease]:
        """Become the owner, the only process that writes for an engine, named ``command``; yield the lease."""
        from phaseline.store.codec.limits import HOLDER_BYTES  # only for an owner

        holder = os.urandom(HOLDER_BYTES).hex()
        try:
            self._lock.take(command, self._clock.now(), holder)
        except ProblemsError:
            self.connections.refuse_gone()  # its folder was removed: that is the reason
            raise
        try:
            with self.connections.write_guard, self.connections.not_waiting(), self._transaction() as db:
                epoch, self._has_rest, self.has_waits = writes.raise_epoch(db)
                self._turns.forget()  # others have owned the store since
            self._epoch, self._is_noted = epoch, False
            yield FileLease(self.connections, epoch, holder)
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

    @contextmanager
    def listen(self, wake: Callable[[], None]) -> Iterator[int]:
        """Return a context in which ``wake`` is called after a request was stored, by any process of this machine."""
        from phaseline.store.wake_ups import HEARD_MS, UNHEARD_MS

        with self.connections.listeners().on_requests(wake), self.connections.pipe.listen(wake) as hears:
            yield HEARD_MS if hears else UNHEARD_MS

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

    @contextmanager
    def snapshot(self) -> Iterator[FileConnection]:
        """Return a context with a connection of its own, whose reads all see one state of the store."""
        with Problems(self.connections), closing(file.open_reader(self.path)) as db:
            db.execute("begin")
            db.execute("select 1 from store").fetchone()  # the state is that of the first read
            yield db

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
