"""The lease of a store's owner: a row that its holder renews every second, compared with the database's clock (HA2).

A thread with a connection of its own renews it. A holder that has not renewed it for ``LEASE_S`` is not the owner any
more: another process may take the row. The epoch in the store, which each new owner raises, refuses what a former owner still writes.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import Owner
from phaseline.store.postgres.connections import LEASE_S, SHARD

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.store.database.connection import Connection
    from phaseline.store.postgres.connection import PostgresConnection
    from phaseline.store.postgres.connections import PostgresConnections

RENEW_EVERY_S = 1.0
"""Seconds between two renewals."""
HOLDER_BYTES = 16
"""Length of the random name of a holder, in bytes."""
COMMAND_LENGTH = 256
"""Number of characters kept of the owner's command."""

_UNTIL = f"clock_timestamp() + interval '{LEASE_S} seconds'"
_LIVING = f"until > clock_timestamp() and until < clock_timestamp() + interval '{2 * LEASE_S} seconds'"
"""A lease that ends later than any process takes it was taken before the clock of the database was set back."""
_HOLDER = f"select pid, command, since from lease where shard = ? and {_LIVING}"
_TAKE = f"""insert into lease (shard, holder, command, pid, since, until) values (?, ?, ?, ?, ?, {_UNTIL})
    on conflict (shard) do update set holder = excluded.holder, command = excluded.command, pid = excluded.pid,
    since = excluded.since, until = excluded.until"""
_RENEW = f"update lease set until = {_UNTIL} where shard = ? and holder = ?"
_STAND_BY = f"""insert into standby (holder, until) values (?, {_UNTIL})
    on conflict (holder) do update set until = excluded.until"""


def new_holder() -> str:
    """Return a random name for a process that may become the owner."""
    return os.urandom(HOLDER_BYTES).hex()


def holder(db: Connection) -> Owner | None:
    """Return the process that holds the lease now, or None."""
    row = db.execute(_HOLDER, (SHARD,)).fetchone()
    return None if row is None else Owner(*row)


def take(db: Connection, name: str, command: str, since: int) -> None:
    """Make ``name`` the holder, in the caller's transaction that has found no other one."""
    db.execute(_TAKE, (SHARD, name, command[:COMMAND_LENGTH], os.getpid(), since))


def release(db: Connection, name: str) -> None:
    """Remove the lease of a holder, in the caller's transaction, so that the next owner need not wait."""
    db.execute("delete from lease where shard = ? and holder = ?", (SHARD, name))


def somebody_waits(db: Connection, but: str) -> bool:
    """Return True if a process other than ``but`` waits to become the owner."""
    return db.execute(f"select 1 from standby where holder <> ? and {_LIVING} limit 1", (but,)).fetchone() is not None


class Renewal:
    """Renews a row every second, in a thread with a connection of its own, until ``stop``."""

    def __init__(self, connections: PostgresConnections, statement: str, values: tuple[Any, ...]) -> None:
        """``statement`` renews the row; if it changes no row, the row was lost."""
        self._connections = connections
        self._statement, self._values = statement, values
        self._ended = threading.Event()
        self._renewed_at = time.monotonic()
        self._is_taken = False
        self._thread = threading.Thread(target=self._run, name="phaseline-lease", daemon=True)
        self._thread.start()

    @property
    def is_lost(self) -> bool:
        """True if the row belongs to another process, or was not renewed for ``LEASE_S``."""
        return self._is_taken or time.monotonic() - self._renewed_at > LEASE_S

    def stop(self) -> None:
        """End the thread."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        db: PostgresConnection | None = None
        while not self._ended.wait(RENEW_EVERY_S):
            asked_at = time.monotonic()
            try:
                if db is None or db.is_lost:
                    db = self._connections.connect()
                if db.execute(self._statement, self._values).rowcount:
                    self._renewed_at = asked_at
                else:
                    self._is_taken = True
            except (psycopg.Error, ProblemsError):
                continue  # the next attempt is in a second; is_lost becomes True if none succeeds
        if db is not None:
            with suppress(psycopg.Error):
                db.close()


def kept(connections: PostgresConnections, name: str) -> Renewal:
    """Begin to renew the lease of the holder ``name``."""
    return Renewal(connections, _RENEW, (SHARD, name))


class StandBy:
    """Registers this process as waiting to become the owner; several threads may use it."""

    def __init__(self, connections: PostgresConnections, write: Callable[[str, tuple[Any, ...]], None]) -> None:
        """``write`` executes one statement in a transaction of its own."""
        self.name = new_holder()
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
                self._renewal = Renewal(self._connections, _STAND_BY, (self.name,))
        try:
            yield
        finally:
            with self._guard:
                self._count -= 1
                if not self._count and self._renewal is not None:
                    self._renewal.stop()
                    self._write("delete from standby where holder = ? or until < clock_timestamp()", (self.name,))
