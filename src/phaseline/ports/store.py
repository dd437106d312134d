"""Protocol of the whole store, which only the engine has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from phaseline.model.rows.rows import ONLY_SHARD
from phaseline.ports.store_upkeep import IncarnationShelf, StoreUpkeep
from phaseline.ports.tenant_store import StoreRows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from contextlib import AbstractContextManager

    from phaseline.model.rows.rows import Turn
    from phaseline.model.rows.schedule_runs import FiringShelf
    from phaseline.model.rows.secrets import AllSecrets
    from phaseline.ports.lease import Lease
    from phaseline.ports.tenant_store import TenantStore


class Store(StoreRows, StoreUpkeep, Protocol):
    """Keeps everything that Phaseline knows, of all tenants. Every method is one transaction; reads see committed data.

    Lists have the rows of all tenants, and numbers name any row. A name is that of the default tenant, because two
    tenants may have the same name; ``of`` gives those of another tenant.
    """

    @property
    def incarnations(self) -> IncarnationShelf:
        """Incarnations of the store since its first restore, with the executions that a restore made wait."""
        ...

    @property
    def secrets(self) -> AllSecrets:
        """The secrets of the store, whose data keys can be replaced."""
        ...

    def of(self, tenant: str) -> TenantStore:
        """Return what a tenant has in this store."""
        ...

    def own(self, command: str) -> AbstractContextManager[Lease]:
        """Become the owner of the store within the context, which yields the lease.

        ``command`` names this process to others. Raises: PL-S004 if another process is the owner; the message has its
        pid and command.
        """
        ...

    def counters(self, shard: int = ONLY_SHARD) -> tuple[int, int]:
        """Return (the id of the next graph of a shard, the id of its next batch)."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """Messages for the user from opening the store, such as "upgraded" with the path of the copy made before."""
        ...

    @property
    def has_waits(self) -> bool:
        """False if no entry waited for an execution when this process became the owner; saves reading ``causes``."""
        ...

    @property
    def next_schedule_at(self) -> int | None:
        """When the next schedule is due (0: to be computed), as of the last ``requests`` of the owner; None if none is."""
        ...

    @property
    def firings(self) -> FiringShelf:
        """The schedules of all tenants that are due, and what they start."""
        ...

    def deleted(self, deployments: Collection[int], since: int = 0) -> tuple[int, Sequence[int]]:
        """Return (number of deployments ever deleted, which of the given deployments are deleted).

        ``since`` is the first number from an earlier call: if it has not changed, the second value is empty.
        """
        ...

    def last_reload(self) -> int:
        """Return the number of the latest request to reload plugins and hook classes, answered or not; 0 if none."""
        ...

    def listen(self, wake: Callable[[], None]) -> AbstractContextManager[int]:
        """Return a context in which ``wake`` is called after a request was stored. Only the owner listens (RF6).

        ``wake`` is called from any thread, also from the one that stores the request, and so must only set a flag or end
        a wait. It may be called without need. A request of this process is always followed by a call; a call for a
        request of another process may be lost. So the context yields how often, in ms, the owner must read ``requests``
        by itself.
        """
        ...

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context that registers this process as waiting to become the owner after the present one."""
        ...

    def commit(self, turn: Turn) -> None:
        """Write one turn of the engine's loop, as the owner.

        Refused if another process has become the owner (other epoch).
        """
        ...

    def refresh_lists(self) -> bool:
        """Write some of what lists read of deployments whose executions have ended, as the owner.

        Call it when there is nothing else to do. Lists show the same before and after, but take less time then. Return
        True if there may be more to write.
        """
        ...

    def set_process_group(self, batch: int, process_group: int) -> None:
        """Store the process group of a batch's call. The next engine ends this group if the present engine dies."""
        ...

    def close(self) -> None:
        """Close the store's files. Safe to call twice."""
        ...
