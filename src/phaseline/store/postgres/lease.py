"""The lease of a store's owner: a row that its holder renews every second, compared with the database's clock (HA2).

A thread with a connection of its own renews it. A holder that has not renewed it for ``LEASE_S`` is not the owner any
more: another process may take the row. The epoch in the store, which each new owner raises, refuses what a former owner still writes.
"""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import ONLY_SHARD, Owner
from phaseline.store.codec.limits import HOLDER_BYTES
from phaseline.store.postgres.connections import LEASE_S
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.store.database.connection import Connection
    from phaseline.store.postgres.connection import PostgresConnection
    from phaseline.store.postgres.connections import PostgresConnections

RENEW_EVERY_S = 1.0
"""Seconds between two renewals."""
TRY_AGAIN_S = 0.2
"""Seconds after a failed renewal until the next attempt."""
LATE_S = LEASE_S / 2
"""Seconds without renewal after which the holder begins no further call."""
COMMAND_LENGTH = 256
"""Number of characters kept of the owner's command."""

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_UNTIL = f"clock_timestamp() + interval '{LEASE_S} seconds'"
_LIVING = f"until > clock_timestamp() and until < clock_timestamp() + interval '{2 * LEASE_S} seconds'"
"""A lease that ends later than any process takes it was taken before the clock of the database was set back."""
_HOLDER = f"select pid, command, since, holder, host from lease where shard = ? and {_LIVING}"
_TAKE = f"""insert into lease (shard, holder, command, pid, host, since, until) values (?, ?, ?, ?, ?, ?, {_UNTIL})
    on conflict (shard) do update set holder = excluded.holder, command = excluded.command, pid = excluded.pid,
    host = excluded.host, since = excluded.since, until = excluded.until"""
_RENEW = f"update lease set until = {_UNTIL} where shard = ? and holder = ?"
_STAND_BY = f"""insert into standby (holder, until) values (?, {_UNTIL})
    on conflict (holder) do update set until = excluded.until"""
SESSION = f"""set statement_timeout = {LATE_S * 1_000:.0f}; set synchronous_commit = off;
    set client_min_messages = warning"""
"""Settings of the sessions that renew. A renewal need not be on the disk: after a crash of the server, leases may end early."""


def now() -> float:
    """Return the time in seconds of a clock that also runs while this process is stopped or the machine sleeps."""
    return time.clock_gettime(_CLOCK)


def holder(db: Connection) -> Owner | None:
    """Return the process that holds the lease now, or None."""
    row = db.execute(_HOLDER, (ONLY_SHARD,)).fetchone()
    if row is None:
        return None
    pid, command, since, name, host = row
    return Owner(pid, command, since, name, "" if host == socket.gethostname() else host)


def take(db: Connection, name: str, command: str, since: int) -> None:
    """Make ``name`` the holder, in the caller's transaction that has found no other one."""
    db.execute(_TAKE, (ONLY_SHARD, name, command[:COMMAND_LENGTH], os.getpid(), socket.gethostname(), since))


def release(db: Connection, name: str) -> None:
    """Remove the lease of a holder, in the caller's transaction, so that the next owner need not wait."""
    db.execute("delete from lease where shard = ? and holder = ?", (ONLY_SHARD, name))


def somebody_waits(db: Connection, but: str) -> bool:
    """Return True if a process other than ``but`` waits to become the owner."""
    return db.execute(f"select 1 from standby where holder <> ? and {_LIVING} limit 1", (but,)).fetchone() is not None


class Renewal:
    """Renews a row every second, in a thread with a connection of its own, until ``stop``."""

    def __init__(
        self, connections: PostgresConnections, statement: str, values: tuple[Any, ...], written_at: float
    ) -> None:
        """``statement`` renews the row, last written at ``written_at`` or later; if it changes no row, the row was lost."""
        self._connections = connections
        self._statement, self._values = statement, values
        self._ended = threading.Event()
        self._renewed_at = written_at
        self._is_lost = False
        self._thread = threading.Thread(target=self._run, name="phaseline-lease", daemon=True)
        self._thread.start()

    def is_late(self) -> bool:
        """Return True if the row was lost, or not renewed for ``LATE_S``."""
        return self._is_lost or now() - self._renewed_at > LATE_S

    def is_lost(self) -> bool:
        """Return True if the row belongs to another process, or was not renewed for ``LEASE_S``; from then on always."""
        if now() - self._renewed_at > LEASE_S:
            self._is_lost = True
        return self._is_lost

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        db: PostgresConnection | None = None
        wait_s = 0.0
        while not self._ended.wait(wait_s):
            begun_at = now()
            wait_s = TRY_AGAIN_S
            try:
                if db is None or db.is_lost:
                    db = self._connections.connect(SESSION)
                if not db.execute(self._statement, self._values).rowcount:
                    self._is_lost = True
                    break
                self._renewed_at = begun_at
                wait_s = RENEW_EVERY_S
            except (psycopg.Error, ProblemsError):
                continue  # ``is_late`` becomes True if no attempt succeeds
        if db is not None:
            with suppress(psycopg.Error):
                db.close()


class ServerLease:
    """Implements ``ports.lease.Lease`` for a store in a database on a server."""

    def __init__(self, connections: PostgresConnections, epoch: int, name: str, written_at: float) -> None:
        """Begin to renew the lease that ``name`` has taken at ``written_at`` or later."""
        self.epoch, self.holder = epoch, name
        self._path = connections.path
        self._renewal = Renewal(connections, _RENEW, (ONLY_SHARD, name), written_at)

    def is_late(self) -> bool:
        """Return True if the lease was not renewed for ``LATE_S``, or is lost."""
        return self._renewal.is_late()

    def is_lost(self) -> bool:
        """Return True if another process has the lease, or may have it."""
        return self._renewal.is_lost()

    def loss(self) -> ProblemsError:
        """Return PL-S004."""
        return failures.lease_lost(self._path)

    def stop(self) -> None:
        """Renew the lease no more."""
        self._renewal.stop()


class StandBy:
    """Registers this process as waiting to become the owner; several threads may use it."""

    def __init__(self, connections: PostgresConnections, write: Callable[[str, tuple[Any, ...]], None]) -> None:
        """``write`` executes one statement in a transaction of its own."""
        self.name = os.urandom(HOLDER_BYTES).hex()
        """Name under which this process waits."""
        self._connections, self._write = connections, write
        self._count = 0
        self._guard = threading.Lock()
        self._renewal: Renewal | None = None

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Return a context in which this process is registered."""
        with self._guard:
            self._count += 1
            if self._count == 1:
                self._write(_STAND_BY, (self.name,))
                self._renewal = Renewal(self._connections, _STAND_BY, (self.name,), now())
        try:
            yield
        finally:
            with self._guard:
                self._count -= 1
                if not self._count and self._renewal is not None:
                    self._renewal.stop()
                    self._write("delete from standby where holder = ? or until < clock_timestamp()", (self.name,))
