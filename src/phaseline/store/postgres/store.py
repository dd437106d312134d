"""The store in a PostgreSQL database."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import psycopg

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.maintenance import Compacted
from phaseline.store.codec.limits import HOLDER_BYTES, IDENTITY_BYTES
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.postgres import connections as links
from phaseline.store.postgres import lease, schema
from phaseline.store.postgres.url import shown
from phaseline.store.relational.connections import Problems
from phaseline.store.relational.store import SqlRows
from phaseline.store.relational.whole_store import SqlStore, SqlTenant
from phaseline.store.sql import deployments as writes
from phaseline.store.sql import errors as failures
from phaseline.store.sql import requests as asking
from phaseline.store.sql.turn_writer import TurnWriter

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.maintenance import StoreFinding
    from phaseline.model.rows.rows import Owner, RequestRow, Turn
    from phaseline.ports.clock import Clock
    from phaseline.store.database.connection import Connection
    from phaseline.store.postgres.connection import PostgresConnection
    from phaseline.store.relational.connections import Transaction

Found = TypeVar("Found")
VACUUMING = f"set statement_timeout = 0; set lock_timeout = '{links.LOCK_PATIENCE_S}s'"
"""Settings of the session that vacuums: a large table takes long."""
COPYING = "set statement_timeout = 0; set client_min_messages = warning"
"""Settings of the session that reads all rows."""
_TABLES = "select tablename from pg_tables where schemaname = current_schema() order by tablename"


class PostgresRows(SqlRows):
    """Rows of a store in PostgreSQL: those of one tenant or all. What processes read while they wait takes one round trip."""

    connections: links.PostgresConnections

    def answer_of(self, request: int) -> Mapping[str, Value] | None:
        """Return the answer to a request, or None while it is unanswered."""
        return self._read_at_once(lambda db: asking.answer_of(db, request, self._rows))

    def requests(self, after: int = 0) -> Sequence[RequestRow]:
        """Return the requests with numbers above ``after`` that have no answer, oldest first."""

        def look(db: Connection) -> Sequence[RequestRow]:
            rows = asking.unanswered(db, after, self._rows)
            self._looked(db)
            return rows

        return self._read_at_once(look)

    def _read_at_once(self, read: Callable[[Connection], Found]) -> Found:
        """Return what is read without a transaction, because processes that wait for one another read often."""
        try:
            with self.connections.single(), self._reading() as db:
                return read(db)
        except ProblemsError as problem:
            if not links.may_come_back(problem):
                raise
        with self._reading() as db:
            return read(db)


class PostgresTenant(PostgresRows, SqlTenant):
    """Implements ``ports.tenant_store.TenantStore`` in a PostgreSQL database; the protocol describes each method."""


class PostgresStore(PostgresRows, SqlStore):
    """Implements ``ports.store.Store`` in a PostgreSQL database; the protocol describes each method."""

    def __init__(self, url: str, clock: Clock) -> None:
        """Do not call: ``open`` makes these objects."""
        turns = TurnWriter()
        self._url = url
        self.connections = links.PostgresConnections(url, shown(url), turns.forget)
        super().__init__(self.connections.path, clock, turns)
        self._fence = links.Fence(0)
        self._stand_by = lease.StandBy(self.connections, self._write)

    @property
    def _tenant_type(self) -> type[PostgresTenant]:
        return PostgresTenant

    @classmethod
    def open(cls, url: str, clock: Clock, *, makes: bool = True) -> PostgresStore:
        """Open the store in a database. ``makes``: create missing tables. Raises: PL-S001, S002, S007, S030 to S038."""
        store = cls(url, clock)
        try:
            store._make_ready(makes=makes)
        except BaseException:
            store.close()
            raise
        return store

    def _make_ready(self, *, makes: bool) -> None:
        db = self.connections.connect(links.WRITER)
        try:
            name = os.urandom(IDENTITY_BYTES).hex()
            found = schema.make_ready(db, self.path, name, self._clock.now(), makes=makes)
            if found < SCHEMA_VERSION:
                from phaseline.store.postgres.upgrade import upgrade
                from phaseline.store.relational.filling import begin_steps

                notice = upgrade(self.connections, self._url)
                self.notices = (notice + begin_steps(self.continue_upgrade),) if notice else ()
            elif found > SCHEMA_VERSION:
                self.read_only_version = found
        except BaseException as error:
            problem = self.connections.problem_of(error)
            if problem is not None:
                raise problem from error
            raise
        finally:
            db.close()

    @contextmanager
    def own(self, command: str) -> Iterator[lease.ServerLease]:
        """Become the owner, the only process that writes for an engine, named ``command``; yield the lease."""
        name = os.urandom(HOLDER_BYTES).hex()
        self._free_lock()
        with self.connections.write_guard, self._transaction() as db:
            present = lease.holder(db)
            if present is not None:
                raise failures.owned(self.path, str(present))
            written_at = lease.now()
            lease.take(db, name, command, self._clock.now())
            epoch, self._has_rest, self.has_waits = writes.raise_epoch(db)
            db.execute("update write_count set turn = 0")
            self._turns.forget()  # others have owned the store since
        self._epoch, self._fence = epoch, links.Fence(epoch)
        taken = lease.ServerLease(self.connections, epoch, name, written_at)
        try:
            yield taken
        finally:
            if not taken.is_lost():
                self._refresh_all_lists()
            taken.stop()
            with self.connections.write_guard:
                self._epoch = 0
                self._turns.forget()
            if not taken.is_lost():
                with suppress(ProblemsError), self._transaction() as db:  # what is not released runs out by itself
                    lease.release(db, name)

    def _free_lock(self) -> None:
        """End sessions of a former owner that was stopped, unless there is an owner."""
        with self._reading() as db:
            if lease.holder(db) is None:
                self.connections.end_stalled(cast("PostgresConnection", db))

    def owner(self) -> Owner | None:
        """Return the process that owns the store now, or None."""
        return self._read_at_once(lease.holder)

    def changed(self, since: int = 0) -> int:
        """Return 0 if nothing was written since the call that returned ``since``; otherwise the next ``since``."""
        version = self.version()
        return 0 if version == since else version

    @contextmanager
    def listen(self, wake: Callable[[], None]) -> Iterator[int]:
        """Return a context in which ``wake`` is called after a request was stored, by any process."""
        from phaseline.store.postgres.notices import UNNOTICED_MS, Notices

        with self.connections.listeners().on_requests(wake), Notices(self.connections, wake):
            yield UNNOTICED_MS

    def version(self) -> int:
        """Return a number above 0 that changes whenever another process has written."""
        return self.connections.version()

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context that registers this process as waiting to become the owner."""
        return self._stand_by.inside()

    def somebody_waits(self) -> bool:
        """Return True while another process waits to become the owner."""
        with self._reading() as db:
            return lease.somebody_waits(db, self._stand_by.name)

    def commit(self, turn: Turn) -> None:
        """Write one turn of the engine's loop; on a new connection if the present one is lost, as long as the lease holds.

        A process that was stopped in a commit finds its connection lost: the attempt after that shows whether there is
        another owner.
        """
        begun, is_repeated = time.monotonic(), False
        while True:
            waited_s = time.monotonic() - begun
            try:
                return super().commit(turn)
            except ProblemsError as problem:
                if is_repeated and self.connections.was_late(problem, self._fence):
                    self._fence.turn += 1
                    self.connections.tell_askers()
                    return None
                if not self.connections.may_repeat(problem, waited_s):
                    raise
                is_repeated = True

    def _turn(self) -> Transaction:
        if not self._epoch:
            return self._owned()
        return links.TurnTransaction(self.connections, self._fence, self._refuse_in_parts)

    def _refuse_in_parts(self, db: Connection) -> None:
        """Check the owner of a turn that is a part of another transaction; otherwise the server checks it."""
        if self.connections.one is not None:
            self._refuse_strangers(db)

    def _present_epoch(self, db: Connection) -> int:
        return cast("PostgresConnection", db).epoch

    def sizes(self) -> tuple[int, int]:
        """Return (size of the store's tables with their indexes, 0) in bytes."""
        with self._reading() as db:
            total = "select cast(sum(pg_total_relation_size(relid)) as bigint) from pg_stat_user_tables"
            row = db.execute(f"{total} where schemaname = current_schema()").fetchone()
        return int(row[0] or 0), 0

    def server_checks(self) -> Sequence[tuple[Literal["ok", "warn", "fail"], str, str, str]]:
        """Return findings about the database server."""
        from phaseline.store.postgres.server_health import examine

        with self._reading() as db:
            return list(examine(db, self._clock.now()))

    def check(self) -> Sequence[StoreFinding]:
        """Return all inconsistencies in the store."""
        from phaseline.store.relational.integrity import inconsistencies

        with self._reading() as db:
            return list(inconsistencies(db, psycopg.Error))

    @contextmanager
    def snapshot(self) -> Iterator[PostgresConnection]:
        """Return a context with a connection of its own, whose reads all see one state of the store."""
        with Problems(self.connections), closing(self.connections.connect(COPYING)) as db:
            db.script(f"{links.BEGIN_READING}; select 1 from store")  # the state is that of the first read
            yield db

    def backup(self, path: str) -> int:
        """Copy the store's present state into a new file of SQLite; return its size in bytes."""
        from phaseline.store.relational.copying import UncopiedRowsError, copy_all, raise_if_newer
        from phaseline.store.sqlite.backup import write
        from phaseline.store.sqlite.copied_store import fill_part

        try:
            with self.snapshot() as db:
                raise_if_newer(db, self.path)
                return write(path, lambda part: fill_part(part, lambda target: copy_all(db, target)))
        except UncopiedRowsError as error:
            raise failures.cannot_copy(path, str(error)) from error

    def compact(self) -> Compacted:
        """Let the server reuse the space of old rows, and return free space at the end of tables, by ``vacuum``."""
        before, _ = self.sizes()
        with Problems(self.connections), closing(self.connections.connect(VACUUMING)) as db:
            for (name,) in db.execute(_TABLES).fetchall():
                db.script(f'vacuum (analyze) "{name}"')
        return Compacted(before, self.sizes()[0])

    def close(self) -> None:
        """Close the connections. Safe to call twice."""
        with self.connections.read_guard, self.connections.write_guard:
            self.connections.close()

    def _write(self, statement: str, values: tuple[Any, ...]) -> None:
        with self._transaction() as db:
            db.execute(statement, values)
