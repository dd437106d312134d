"""Sites, and the site of each deployment, in the store in memory (LB5)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from phaseline.model.rows.estate import SiteRow

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor
    from phaseline.store.memory.tables import MemoryTables
    from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemorySites:
    """The ``model.rows.estate.SiteShelf`` of the store in memory."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[MemoryTables]],
        own: MemoryTenantRows,
        whole: MemorySites | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing = changing
        self._own = own
        self.rows: dict[tuple[str, str], SiteRow] = {} if whole is None else whole.rows
        """{(tenant, name): site} of all tenants."""
        self.places: dict[int, tuple[str, str]] = {} if whole is None else whole.places
        """{deployment: (tenant, name of its site)} of all tenants."""

    def all(self) -> Sequence[SiteRow]:
        """Return the sites by name."""
        return sorted(row for (tenant, _), row in list(self.rows.items()) if self._own.has(tenant))

    def find(self, name: str) -> SiteRow | None:
        """Return the site with this name, or None."""
        return self.rows.get((self._own.named, name))

    def add(self, row: SiteRow, actor: Actor) -> bool:
        """Store a site with this user as its ``created_by``. Return False if there is one with its name."""
        key = self._own.by(actor).tenant, row.name
        with self._changing():
            if key in self.rows:
                return False
            self.rows[key] = SiteRow(*row[:-1], actor.name)
            return True

    def move(self, name: str, location: str) -> bool:
        """Give a site another location. Return False if there is no such site."""
        key = self._own.named, name
        with self._changing():
            if key not in self.rows:
                return False
            self.rows[key] = SiteRow(name, location, *self.rows[key][2:])
            return True

    def remove(self, name: str) -> bool:
        """Remove a site; its deployments have none then. Return False if there is no such site."""
        key = self._own.named, name
        with self._changing():
            for deployment in [number for number, place in self.places.items() if place == key]:
                del self.places[deployment]
            return self.rows.pop(key, None) is not None

    def of(self, deployments: Sequence[int]) -> Mapping[int, str]:
        """Return {deployment: name of its site}, without deployments that have none."""
        found = {number: self.places.get(number) for number in deployments}
        return {number: place[1] for number, place in found.items() if place and self._own.has(place[0])}

    def put(self, deployment: int, site: str) -> bool:
        """Set the site of a deployment; "" takes it away. Return False if there is no such site."""
        with self._changing() as held:
            self._own.require(self._own.deployment(deployment), "deployment")
            if not site:
                self.places.pop(deployment, None)
                return True
            return self.put_of(held.deployments[deployment].row.tenant, deployment, site)

    def put_of(self, tenant: str, deployment: int, site: str) -> bool:
        """Set the site of a tenant's deployment. Return False if the tenant has no such site."""
        if (tenant, site) not in self.rows:
            return False
        self.places[deployment] = tenant, site
        return True

    def forget(self, kept: Collection[int]) -> None:
        """Remove the sites of deployments that are not in ``kept``, for a purge."""
        for number in self.places.keys() - set(kept):
            del self.places[number]
