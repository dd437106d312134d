"""Saved filters and sites: rows of a store about many deployments (LB3, LB5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_namedtuples import NamedTuple

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor


class SavedFilter(NamedTuple):
    """A filter with a name. ``noun``: the list it is for; ``rules``: as JSON. ``created_at`` is in ms."""

    noun: str
    name: str
    rules: str
    created_at: int
    created_by: str


class SiteRow(NamedTuple):
    """A place where deployments are. ``location`` is ``latitude,longitude`` in degrees, or "". ``created_at`` is in ms."""

    name: str
    location: str
    created_at: int
    created_by: str


class FilterShelf(Protocol):
    """Storage of saved filters. Any process may write; every method is one transaction."""

    def all(self, noun: str = "") -> Sequence[SavedFilter]:
        """Return the filters of a list, or of all lists, sorted by list and name."""
        ...

    def find(self, noun: str, name: str) -> SavedFilter | None:
        """Return the filter with this name for a list, or None."""
        ...

    def add(self, row: SavedFilter, actor: Actor) -> bool:
        """Store a filter with this user as its ``created_by``. Return False if there is one with its name."""
        ...

    def remove(self, noun: str, name: str) -> bool:
        """Remove a filter. Return False if there is none."""
        ...


class SiteShelf(Protocol):
    """Storage of sites, and of the site of each deployment. Any process may write; every method is one transaction."""

    def all(self) -> Sequence[SiteRow]:
        """Return the sites by name."""
        ...

    def find(self, name: str) -> SiteRow | None:
        """Return the site with this name, or None."""
        ...

    def add(self, row: SiteRow, actor: Actor) -> bool:
        """Store a site with this user as its ``created_by``. Return False if there is one with its name."""
        ...

    def move(self, name: str, location: str) -> bool:
        """Give a site another location. Return False if there is no such site."""
        ...

    def remove(self, name: str) -> bool:
        """Remove a site; its deployments have none then. Return False if there is no such site."""
        ...

    def of(self, deployments: Sequence[int]) -> Mapping[int, str]:
        """Return {deployment: name of its site}, without deployments that have none."""
        ...

    def put(self, deployment: int, site: str) -> bool:
        """Set the site of a deployment; "" takes it away. Return False if there is no such site."""
        ...
