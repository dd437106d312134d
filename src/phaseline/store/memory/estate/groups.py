"""Deployment groups of the store in memory (GR1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.groups import GroupMember, GroupRow, NewGroup
from phaseline.store.memory.tables import MemoryTables
from phaseline.store.memory.tenant_rows import MemoryTenantRows

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor
    from phaseline.ports.clock import Clock


class MemoryGroups:
    """Implements ``model.rows.groups.GroupShelf`` in memory."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[MemoryTables]],
        held: MemoryTables,
        clock: Clock,
        own: MemoryTenantRows,
        whole: MemoryGroups | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing, self._held, self._clock, self._own = changing, held, clock, own
        self._whole = self if whole is None else whole
        self.rows: dict[int, GroupRow] = {} if whole is None else whole.rows
        """{number: group} of all tenants."""
        self.joined: dict[int, set[int]] = {} if whole is None else whole.joined
        """{number of a group: numbers of its members}."""
        self.last_number = 0

    def all(self) -> Sequence[GroupRow]:
        """Return all groups, sorted by name."""
        found = [self._counted(row) for row in [*self.rows.values()] if self._own.has(row.tenant)]
        return sorted(found, key=lambda row: (row.name, row.number))

    def find(self, name: str) -> GroupRow | None:
        """Return the group of this name, or None."""
        found = (row for row in [*self.rows.values()] if (row.tenant, row.name) == (self._own.named, name))
        return next((self._counted(row) for row in found), None)

    def create(self, new: NewGroup, actor: Actor) -> GroupRow | None:
        """Store a group without members; None if there is one of this name."""
        by = self._own.by(actor)
        with self._changing():
            if any((row.tenant, row.name) == (by.tenant, new.name) for row in self.rows.values()):
                return None
            self._whole.last_number += 1
            number = self._whole.last_number
            told = new.description, new.blueprint, tuple(new.plugin_folders), dict(new.inputs), tuple(new.labels)
            made = GroupRow(number, new.name, *told, 0, 0, self._clock.now(), by.name, by.tenant)
            self.rows[number], self.joined[number] = made, set()
            return made

    def members(self, row: GroupRow) -> Sequence[GroupMember]:
        """Return the members of a group, sorted by name."""
        with self._changing():
            found = [GroupMember(number, self._held.deployments[number].row.name) for number in self._members(row)]
        return sorted(found, key=lambda member: member.name)

    def groups_of(self, deployment: int) -> Sequence[str]:
        """Return the names of the groups in which a deployment is, sorted."""
        own = self._own.deployment(deployment)
        return sorted(self.rows[number].name for number, joined in [*self.joined.items()] if own in joined)

    def join(self, row: GroupRow, deployments: Sequence[int], *, made: int = 0) -> int:
        """Add deployments to a group; return how many were not in it. ``made``: how many of them were made for it."""
        with self._changing() as held:
            found = self._require(row)
            for number in deployments:
                known = held.deployments.get(self._own.deployment(number))
                if known is None or known.deleted_at:
                    raise LookupError(f"no deployment {number}")
            new = set(deployments) - self.joined[row.number]
            self.joined[row.number] |= new
            self.rows[row.number] = altered(found, made_count=found.made_count + made)
            return len(new)

    def leave(self, row: GroupRow, deployments: Sequence[int]) -> int:
        """Remove deployments from a group, and return how many were in it."""
        with self._changing():
            self._require(row)
            gone = set(deployments) & self.joined[row.number]
            self.joined[row.number] -= gone
            return len(gone)

    def remove(self, row: GroupRow) -> bool:
        """Remove a group; its members stay. Return False if it was removed before."""
        with self._changing():
            found = self.rows.get(row.number)
            if found is None or not self._own.has(found.tenant):
                return False
            del self.rows[row.number], self.joined[row.number]
            return True

    def drop(self, deployment: int) -> None:
        """Remove a deployment that is deleted from all groups."""
        for joined in self.joined.values():
            joined.discard(deployment)

    def _members(self, row: GroupRow) -> set[int]:
        found = self.rows.get(row.number)
        return self.joined[row.number] if found is not None and self._own.has(found.tenant) else set()

    def _counted(self, row: GroupRow) -> GroupRow:
        return altered(row, member_count=len(self.joined[row.number]))

    def _require(self, row: GroupRow) -> GroupRow:
        found = self.rows.get(row.number)
        if found is None or not self._own.has(found.tenant):
            raise LookupError(f"no group {row.number}")
        return found
