"""Saved filters in the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from phaseline.model.rows.estate import SavedFilter

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor
    from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemoryFilters:
    """The ``model.rows.estate.FilterShelf`` of the store in memory."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[object]],
        own: MemoryTenantRows,
        whole: MemoryFilters | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing = changing
        self._own = own
        self.rows: dict[tuple[str, str, str], SavedFilter] = {} if whole is None else whole.rows
        """{(tenant, list, name): filter} of all tenants."""

    def all(self, noun: str = "") -> Sequence[SavedFilter]:
        """Return the filters of a list, or of all lists, sorted by list and name."""
        return sorted(
            row for (tenant, of, _), row in list(self.rows.items()) if self._own.has(tenant) and noun in {"", of}
        )

    def find(self, noun: str, name: str) -> SavedFilter | None:
        """Return the filter with this name for a list, or None."""
        return self.rows.get((self._own.named, noun, name))

    def add(self, row: SavedFilter, actor: Actor) -> bool:
        """Store a filter with this user as its ``created_by``. Return False if there is one with its name."""
        key = self._own.by(actor).tenant, row.noun, row.name
        with self._changing():
            if key in self.rows:
                return False
            self.rows[key] = SavedFilter(*row[:-1], actor.name)
            return True

    def remove(self, noun: str, name: str) -> bool:
        """Remove a filter. Return False if there is none."""
        with self._changing():
            return self.rows.pop((self._own.named, noun, name), None) is not None
