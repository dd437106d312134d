"""Hook classes that a user has switched off, in the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from phaseline.model.rows.hook_switches import EVERYWHERE, Switch

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor
    from phaseline.ports.clock import Clock
    from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemorySwitches:
    """Switches that enable and disable hook classes in a store in memory: the methods of the port ``SwitchShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[object]],
        clock: Clock,
        own: MemoryTenantRows,
        whole: MemorySwitches | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing = changing
        self._clock = clock
        self._own = own
        self.rows: dict[tuple[str, str, int], Switch] = {} if whole is None else whole.rows
        """{(tenant, hook class, deployment): switch} of all tenants."""

    def all(self) -> Sequence[Switch]:
        """All switches, sorted by name and deployment."""
        return sorted(row for (tenant, *_), row in list(self.rows.items()) if self._own.has(tenant))

    def put_off(self, name: str, deployment: int, reason: str, actor: Actor) -> Switch | None:
        """Switch a hook class off for a deployment. Return its former switch, or None if the class was on.

        A switch that exists is replaced only if a reason is given.
        """
        row = Switch(name, deployment, self._clock.now(), actor.name, reason)
        key = self._own.by(actor).tenant, name, deployment
        with self._changing():
            if deployment != EVERYWHERE:
                self._own.require(self._own.deployment(deployment), "deployment")
            former = self.rows.get(key)
            if former is None or reason:
                self.rows[key] = row
            return former

    def put_on(self, name: str, deployment: int) -> bool:
        """Switch a hook class on again. Return False if it was not off."""
        with self._changing():
            return self.rows.pop((self._own.named, name, deployment), None) is not None

    def forget(self, kept: Collection[int]) -> None:
        """Remove switches of single deployments not in ``kept``, for a purge; those for all deployments remain."""
        for key in [key for key in self.rows if key[2] != EVERYWHERE and key[2] not in kept]:
            del self.rows[key]
