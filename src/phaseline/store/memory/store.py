"""The store in this process's memory: it behaves like the store in a file, but ends with its process.

It is used for tests, simulations and rehearsals. Like a file it keeps values separate: a caller may change what it
passed in or received without changing the stored value. A turn that cannot be written is a bug. It may then be half
written, which does no harm, because no engine continues from it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import labels_of
from phaseline.model.rows.rows import ONLY_SHARD, Owner, Turn
from phaseline.model.rows.shard_ids import next_id
from phaseline.ports.clock import Clock
from phaseline.store.codec.limits import HOLDER_BYTES, IDENTITY_BYTES
from phaseline.store.memory import requests as asking
from phaseline.store.memory import turn_writer as memory_turns
from phaseline.store.memory.fileless import Fileless
from phaseline.store.memory.lease import MemoryLease
from phaseline.store.memory.requests import ThreadsWaiting
from phaseline.store.memory.store_rows import MemoryRows
from phaseline.store.memory.tables import MemoryTables
from phaseline.store.memory.tenant_rows import MemoryTenantRows
from phaseline.store.sql import errors as failures
from phaseline.store.wake_ups import UNHEARD_MS

if TYPE_CHECKING:
    from phaseline.store.memory.estate.firings import MemoryFirings

PLACE = "memory:"


class MemoryStore(Fileless, MemoryRows):
    """Implements ``ports.store.Store`` in memory; the protocol describes each method."""

    def __init__(self, clock: Clock, *, identity: str = "") -> None:
        """Make an empty store. Simulations set ``identity``, so that equal seeds give equal tokens."""
        self._identity = identity or os.urandom(IDENTITY_BYTES).hex()
        self._owner: Owner | None = None
        self._epoch = 0
        self._waiting = ThreadsWaiting()
        self._tenants: dict[str, MemoryTenant] = {}
        self.notices: Sequence[str] = ()
        held = MemoryTables()
        super().__init__(clock, threading.RLock(), held, MemoryTenantRows(held))

    @property
    def is_owner(self) -> bool:
        """True while this store has an owner."""
        return self._owner is not None

    def of(self, tenant: str) -> MemoryTenant:
        """Return what a tenant has in this store."""
        found = self._tenants.get(tenant)
        if found is None:
            found = self._tenants[tenant] = MemoryTenant(self, tenant, self._clock, self._guard, self._held)
        return found

    @contextmanager
    def own(self, command: str) -> Iterator[MemoryLease]:
        """Become the owner, the only process that writes for an engine, under the name ``command``; yield the lease."""
        with self._guard:
            if self._owner is not None:
                raise failures.owned(PLACE, str(self._owner))
            self._owner = owner = Owner(0, command, self._clock.now(), os.urandom(HOLDER_BYTES).hex())
            self._epoch += 1
            lease = MemoryLease(PLACE, self._epoch, owner.holder)
        try:
            yield lease
        finally:
            if self._owner is owner:
                self._owner = None

    @property
    def has_waits(self) -> bool:
        """True if an entry waits for an execution."""
        return bool(self._held.awaiting)

    @property
    def next_schedule_at(self) -> int | None:
        """When the next schedule is due; None if none is."""
        return self.firings.next_at() if self.schedules.rows else None

    @cached_property
    def firings(self) -> MemoryFirings:
        """What schedules start."""
        from phaseline.store.memory.estate.firings import MemoryFirings

        return MemoryFirings(self._owning, self.schedules, self.stored_plans)

    @contextmanager
    def _owning(self) -> Iterator[MemoryTables]:
        if self._owner is None:
            raise RuntimeError("only the owner of a store writes to it: use own() first")
        with self._changing() as held:
            yield held

    def disown(self) -> None:
        """End the ownership as if the owner had died, so that another owner can follow."""
        self._owner = None

    def counters(self, shard: int = ONLY_SHARD) -> tuple[int, int]:
        """Return (the id of the next graph of a shard, the id of its next batch)."""
        last = self._held.last_ids
        return next_id(shard, last.get(("graph", shard))), next_id(shard, last.get(("batch", shard)))

    def deleted(self, deployments: Collection[int], since: int = 0) -> tuple[int, Sequence[int]]:
        """Return (number of deployments ever deleted, which of the given deployments are deleted)."""
        with self._guard:
            living = {number for number, known in self._held.deployments.items() if not known.deleted_at}
            count = self._held.last_deployment - len(living)
            return count, [number for number in sorted(deployments) if number not in living] if count != since else []

    def last_reload(self) -> int:
        """Return the number of the latest request to reload plugins; 0 if there is none."""
        with self._guard:
            return asking.last_reload(self._held)

    @contextmanager
    def listen(self, wake: Callable[[], None]) -> Iterator[int]:
        """Return a context in which ``wake`` is called after a request was stored."""
        with self._held.wake_ups.on_requests(wake):
            yield UNHEARD_MS

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context that registers this thread as waiting to become the owner."""
        return self._waiting.inside()

    def know_phases(self, known: Mapping[str, str]) -> None:
        """Replace the stored list of known phases, {name in lower case: description}."""
        with self._changing() as held:
            held.known_phases = dict(sorted(known.items()))

    def commit(self, turn: Turn) -> None:
        """Write one turn of the engine's loop. Only the owner may: a call by any other process is a bug."""
        with self._guard:
            self._held.looks += 1
            if self._owner is None:
                raise RuntimeError("only the owner of a store writes to it: use own() first")
            memory_turns.write(self._held, turn)
            self.stack_documents.write(self._held, turn.payload.written, turn.at)
            self.labels.write(turn.payload.written.labels)
            self.dependencies.write(turn.payload.written.dependencies)
            for gone in turn.payload.written.forgotten:
                self.schedules.drop(gone.deployment)
                self.groups.drop(gone.deployment)
            for row in turn.payload.reshaped:
                if row.uses is not None:
                    self.stored_blueprints.add_uses(row.deployment, row.uses)
                if row.blueprint is not None:
                    self.labels.add(row.deployment, labels_of(row.blueprint.labels))
                    self.schedules.sync(self._held.deployments[row.deployment].row, row.blueprint.deployment_settings)
        if turn.payload.answers:
            self._held.wake_ups.answered()

    def set_process_group(self, batch: int, process_group: int) -> None:
        """Store the process group of a batch's call, which the next engine ends if this engine dies."""
        with self._changing():
            self._held.batches[batch] = altered(self._held.batches[batch], process_group=process_group)

    def close(self) -> None:
        """Do nothing: there are no files, and the content stays."""

    def owner(self) -> Owner | None:
        """Return the process that owns the store now, or None."""
        return self._owner

    def identity(self) -> str:
        """Return the store's random name."""
        return self._identity

    def changed(self, since: int = 0) -> int:
        """Return 0 if nothing was written since the call that returned ``since``; otherwise the next ``since``."""
        return 0 if self._held.looks == since else self._held.looks

    def somebody_waits(self) -> bool:
        """Return True while another thread waits to become the owner."""
        return self._waiting.somebody_else()


class MemoryTenant(MemoryRows):
    """Implements ``ports.tenant_store.TenantStore`` in memory; the protocol describes each method."""

    def __init__(
        self, whole: MemoryStore, tenant: str, clock: Clock, guard: threading.RLock, held: MemoryTables
    ) -> None:
        """``clock``, ``guard`` and ``held`` are those of the whole store."""
        self.tenant = tenant
        self._whole = whole
        super().__init__(clock, guard, held, MemoryTenantRows(held, tenant), whole)

    @property
    def is_owner(self) -> bool:
        """True while this store has an owner."""
        return self._whole.is_owner

    def owner(self) -> Owner | None:
        """Return the process that owns the store now, or None."""
        return self._whole.owner()

    def identity(self) -> str:
        """Return the store's random name."""
        return self._whole.identity()

    def changed(self, since: int = 0) -> int:
        """Return 0 if nothing was written since the call that returned ``since``; otherwise the next ``since``."""
        return self._whole.changed(since)

    def somebody_waits(self) -> bool:
        """Return True while another thread waits to become the owner."""
        return self._whole.somebody_waits()
