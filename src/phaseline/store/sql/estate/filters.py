"""Saved filters in a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.model.rows.estate import SavedFilter
from phaseline.store.database.tenant_rows import ALL, TenantRows

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor
    from phaseline.store.database.connection import Connect

_FILTER = "select noun, name, rules, created_at, created_by from saved_filter"


class SqlFilters:
    """The ``model.rows.estate.FilterShelf`` of a store in a database."""

    def __init__(self, reading: Connect, writing: Connect, rows: TenantRows = ALL) -> None:
        """``reading`` and ``writing`` begin transactions, whether or not this process owns the store."""
        self._reading = reading
        self._writing = writing
        self._rows = rows

    def all(self, noun: str = "") -> Sequence[SavedFilter]:
        """Return the filters of a list, or of all lists, sorted by list and name."""
        with self._reading() as db:
            where, values = self._rows.where("(noun = ? or cast(? as text) = '')", noun, noun)
            return sorted(SavedFilter(*row) for row in db.execute(f"{_FILTER} where {where}", values))

    def find(self, noun: str, name: str) -> SavedFilter | None:
        """Return the filter with this name for a list, or None."""
        with self._reading() as db:
            where, values = self._rows.of_names().where("noun = ? and name = ?", noun, name)
            row = db.execute(f"{_FILTER} where {where}", values).fetchone()
            return None if row is None else SavedFilter(*row)

    def add(self, row: SavedFilter, actor: Actor) -> bool:
        """Store a filter with this user as its ``created_by``. Return False if there is one with its name."""
        added = """insert into saved_filter (tenant, noun, name, rules, created_at, created_by)
            values (?, ?, ?, ?, ?, ?) on conflict (tenant, noun, name) do nothing"""
        with self._writing() as db:
            return db.execute(added, (self._rows.by(actor).tenant, *row[:-1], actor.name)).rowcount == 1

    def remove(self, noun: str, name: str) -> bool:
        """Remove a filter. Return False if there is none."""
        with self._writing() as db:
            where, values = self._rows.of_names().where("noun = ? and name = ?", noun, name)
            return db.execute(f"delete from saved_filter where {where}", values).rowcount == 1
