"""The store on a database: the whole, with what only its owner and its operators do, and the part of a tenant (RF4).

It is the same for SQLite and PostgreSQL.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakSet

from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import ONLY_SHARD, Turn
from phaseline.store.codec.topologies import KnownTopologies
from phaseline.store.database.schema import SCHEMA_VERSION
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.relational.connections import Transaction
from phaseline.store.relational.store import SqlRows
from phaseline.store.sql import deployments as writes
from phaseline.store.sql import errors as failures
from phaseline.store.sql import requests as asking
from phaseline.store.sql import resource_clusters as growing
from phaseline.store.sql.turn_writer import TurnWriter

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Owner
    from phaseline.ports.clock import Clock
    from phaseline.ports.lease import Lease
    from phaseline.store.database.connection import Connection
    from phaseline.store.relational.copying import CopySource
    from phaseline.store.relational.incarnations import SqlIncarnations
    from phaseline.store.sql.estate.firings import SqlFirings

MOST_TENANTS = 1_000
"""Most tenants of which numbers are remembered; all are forgotten when there would be more."""


class SqlStore(SqlRows):
    """Implements ``ports.store.Store`` on a database; the protocol describes each method."""

    def __init__(self, path: str, clock: Clock, turns: TurnWriter, notices: Sequence[str] = ()) -> None:
        """``path`` names the store in problems; ``turns`` writes the owner's turns."""
        self.path = path
        self.notices = notices
        self.read_only_version = 0
        """Version of the tables, if they are newer and this version of the program may only read them (UP1); else 0."""
        self._epoch = 0
        """Epoch in which this process owns the store; 0 if it does not."""
        self.has_waits = False
        """True if an entry waited for an execution when this process became the owner."""
        self.next_schedule_at: int | None = None
        """When the next schedule is due, as of the last look at requests as the owner; None if none is."""
        self._has_rest = False
        """True if an upgrade has left something to do, as far as the owner knows."""
        self._tenants: dict[str, SqlTenant] = {}
        self._made: WeakSet[SqlTenant] = WeakSet()
        """All objects that ``of`` has returned and that are still in use."""
        super().__init__(clock, KnownTopologies(), turns, ALL)
        self.connections.on_undone = self._undone

    @abstractmethod
    def own(self, command: str) -> AbstractContextManager[Lease]:
        """Become the owner, the only process that writes for an engine, named ``command``; yield the lease."""

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[CopySource]:
        """Return a context with a connection of its own, whose reads all see one state of the store."""

    @abstractmethod
    def close(self) -> None:
        """Close what is open. Safe to call twice."""

    @abstractmethod
    def owner(self) -> Owner | None:
        """Return the process that owns the store now, or None."""

    @abstractmethod
    def listen(self, wake: Callable[[], None]) -> AbstractContextManager[int]:
        """Return a context in which ``wake`` is called after a request was stored, by any process."""

    @abstractmethod
    def somebody_waits(self) -> bool:
        """Return True while another process waits to become the owner."""

    @property
    def is_owner(self) -> bool:
        """True while this process owns the store."""
        return bool(self._epoch)

    def of(self, tenant: str) -> SqlTenant:
        """Return what a tenant has in this store."""
        found = self._tenants.get(tenant)
        if found is None:
            if len(self._tenants) >= MOST_TENANTS:
                self._tenants.clear()
            parts = self._clock, self._topologies, self._turns
            found = self._tenants[tenant] = self._tenant_type(self, tenant, parts, self._writing, self._transaction)
            found.is_alone = not self._made
            for other in list(self._made):
                other.is_alone = False
            self._made.add(found)
        return found

    @property
    def _tenant_type(self) -> type[SqlTenant]:
        """The class of what ``of`` returns."""
        return SqlTenant

    def _undone(self) -> None:
        """Forget what may not have been stored, after a transaction that was not committed."""
        self._turns.forget()
        for tenant in list(self._made):
            tenant.forget()

    def commit(self, turn: Turn) -> None:
        """Write one turn of the engine's loop. Only the owner may: a call by any other process is a bug."""
        with self._turn() as db:
            self._turns.write(db, turn)
            versions = [(row, growing.version(db, row.deployment)) for row in turn.payload.reshaped]
        for row, version in versions:
            self._topologies.keep(row.deployment, version, row.topology)
        if turn.payload.answers:
            self.connections.tell_askers()

    @cached_property
    def incarnations(self) -> SqlIncarnations:
        """What restores have begun."""
        from phaseline.store.relational.incarnations import SqlIncarnations

        return SqlIncarnations(self._reading, lambda: self._transaction(asks=True))

    @cached_property
    def firings(self) -> SqlFirings:
        """What schedules start."""
        from phaseline.store.sql.estate.firings import SqlFirings

        return SqlFirings(self._reading, self._owned)

    def _looked(self, db: Connection) -> None:
        """Read when the next schedule is due, which other processes may have changed."""
        if self._epoch:
            self.next_schedule_at = asking.next_schedule_at(db)

    def refresh_lists(self) -> bool:
        """Write some of what lists read of deployments whose executions have ended; return True if there may be more.

        What fails is done later.
        """
        with suppress(ProblemsError):
            self._refresh_lists()
            return bool(self._epoch and (self._turns.has_summaries_to_write or self._has_rest))
        return False

    def _refresh_lists(self) -> None:
        if self._epoch and self._turns.has_summaries_to_write:
            with self.connections.write_guard, self.connections.not_waiting(), self._owned() as db:
                self._turns.write_summaries(db)
        elif self._epoch and self._has_rest:
            self._has_rest = self.continue_upgrade()

    def continue_upgrade(self) -> bool:
        """Do one step of what an upgrade has left. Return True if there may be another."""
        ours = self.connections
        with ours.write_guard, ours.brief(), ours.not_waiting(), self._writing() as db:
            return self._steps.step(db, self._clock.now())

    def _refresh_all_lists(self) -> None:
        """Do the same for all of them, if they are many, before another process becomes the owner."""
        with suppress(ProblemsError):
            with self._reading() as db:
                is_worth_it = bool(self._epoch) and self._turns.has_many_summaries_to_write(db)
            while is_worth_it and self._turns.has_summaries_to_write:
                self._refresh_lists()

    def counters(self, shard: int = ONLY_SHARD) -> tuple[int, int]:
        """Return (the id of the next graph of a shard, the id of its next batch)."""
        with self._reading() as db:
            return writes.counters(db, shard)

    def deleted(self, deployments: Collection[int], since: int = 0) -> tuple[int, Sequence[int]]:
        """Return (number of deployments ever deleted, which of the given deployments are deleted)."""
        with self._reading() as db:
            count, found = writes.deleted(db, deployments, since)
        with self.connections.write_guard:
            self._turns.drop(found)
        return count, found

    def last_reload(self) -> int:
        """Return the number of the latest request to reload plugins; 0 if there is none."""
        with self._reading() as db:
            return asking.last_reload(db)

    def set_process_group(self, batch: int, process_group: int) -> None:
        """Store the process group of a batch's call, which the next engine ends if this engine dies.

        Do not wait for the disk: a crash of the machine ends these processes too.
        """
        with self.connections.write_guard, self.connections.not_waiting(), self._owned() as db:
            db.execute("update batch set process_group = ? where id = ?", (process_group, batch))

    def know_phases(self, known: Mapping[str, str]) -> None:
        """Replace the stored list of known phases, {name in lower case: description}."""
        with self._writing() as db:
            growing.know(db, known)

    def _writing(self, *, asks: bool = False) -> Transaction:
        return self._owned(asks=asks) if self._epoch else self._transaction(asks=asks)

    def _owned(self, *, asks: bool = False) -> Transaction:
        """Return a transaction that is refused (PL-S004) if another process has become the owner."""
        return Transaction(self.connections, self._refuse_strangers, asks=asks)

    def _turn(self) -> Transaction:
        """Return the transaction of a turn of the owner."""
        return self._owned()

    def _transaction(self, *, asks: bool = False) -> Transaction:
        """Return a transaction that is stored as a whole or not at all, and is on the disk when it ends.

        Raises: PL-S002 if this version of the program may only read the store.
        """
        if self.read_only_version:
            raise failures.newer(self.path, self.read_only_version, SCHEMA_VERSION)
        return Transaction(self.connections, asks=asks)

    def _refuse_strangers(self, db: Connection) -> None:
        if not self._epoch:
            raise RuntimeError("only the owner of a store writes to it: use own() first")
        epoch = self._present_epoch(db)
        if epoch != self._epoch:
            raise failures.taken_over(self.path, self._epoch, epoch)

    def _present_epoch(self, db: Connection) -> int:
        """Return the epoch of the store in the caller's transaction."""
        return writes.epoch(db)


class SqlTenant(SqlRows):
    """Implements ``ports.tenant_store.TenantStore`` on a database; the protocol describes each method."""

    def __init__(
        self,
        whole: SqlStore,
        tenant: str,
        parts: tuple[Clock, KnownTopologies, TurnWriter],
        writing: Callable[..., Transaction],
        transaction: Callable[[], Transaction],
    ) -> None:
        """``parts`` are those of the whole store. ``writing`` and ``transaction`` begin its transactions."""
        self.tenant = tenant
        self.connections = whole.connections
        self._whole = whole
        self._begin_writing, self._begin = writing, transaction
        super().__init__(*parts, TenantRows(tenant))

    @property
    def incarnations(self) -> SqlIncarnations:
        """What restores have begun."""
        return self._whole.incarnations

    @property
    def is_owner(self) -> bool:
        """True while this process owns the store."""
        return self._whole.is_owner

    def owner(self) -> Owner | None:
        """Return the process that owns the store now, or None."""
        return self._whole.owner()

    def somebody_waits(self) -> bool:
        """Return True while another process waits to become the owner."""
        return self._whole.somebody_waits()

    def changed(self, since: int = 0) -> int:
        """Return 0 if nothing was written since the call that returned ``since``; otherwise the next ``since``."""
        return self._whole.changed(since)

    def version(self) -> int:
        """Return a number above 0 that changes whenever another process has written."""
        return self._whole.version()

    @property
    def is_alone(self) -> bool:
        """True if this process has asked for no other tenant. Only the choice of an index depends on it."""
        return self._rows.is_alone

    @is_alone.setter
    def is_alone(self, is_alone: bool) -> None:
        self._rows.is_alone = is_alone

    def forget(self) -> None:
        """Forget which numbers are the tenant's, after a transaction that was not committed."""
        self._rows.forget()

    def _writing(self, *, asks: bool = False) -> Transaction:
        return self._begin_writing(asks=asks)

    def _transaction(self) -> Transaction:
        return self._begin()
