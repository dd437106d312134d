"""Stored plans in the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import count

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.stored_plans import MOST_WAITING, StoredPlan
from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemoryPlans:
    """Stored plans in a store in memory: the methods of the port ``PlanShelf``."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[object]],
        own: MemoryTenantRows,
        whole: MemoryPlans | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing = changing
        self._own = own
        self.rows: dict[int, StoredPlan] = {} if whole is None else whole.rows
        """Plans of all tenants by number; a plan has the tenant of its deployment."""
        self.numbers: Iterator[int] = count(1) if whole is None else whole.numbers

    def add(self, new: StoredPlan) -> StoredPlan:
        """Store a plan under the next number.

        If more than ``MOST_WAITING`` plans then wait, delete the oldest of them.
        """
        with self._changing():
            self._own.require(self._own.deployment(new.deployment), "deployment")
            number = next(self.numbers)
            kept = self.rows[number] = altered(new, number=number)
            waiting = [row.number for row in self.all(new.deployment) if not row.execution]
            for number in waiting[:-MOST_WAITING]:
                del self.rows[number]
            return kept

    def find(self, number: int) -> StoredPlan | None:
        """Return the plan with this number, or None."""
        found = self.rows.get(number)
        return found if found is not None and self._own.deployment(found.deployment) == found.deployment else None

    def all(self, deployment: int | None = None) -> Sequence[StoredPlan]:
        """Return plans by number, without ``body``, ``text`` and ``aim``; only those of one deployment if given."""
        rows = [row for row in self._found() if deployment in {None, row.deployment}]
        return [altered(row, body={}, text="", aim=None) for row in rows]

    def _found(self) -> list[StoredPlan]:
        return [row for row in list(self.rows.values()) if self._own.deployment(row.deployment) == row.deployment]

    def of_execution(self, execution: int) -> StoredPlan | None:
        """Return the stored plan that an execution carries out, or None."""
        return next((row for row in self._found() if row.execution and row.execution == execution), None)

    def apply(self, number: int, execution: int) -> bool:
        """Record the execution that carries a plan out. Return False if the plan already has another execution."""
        with self._changing():
            self._own.require(self._own.execution(execution), "execution")
            found = self.find(number)
            if found is None or found.execution:
                return False
            self.rows[number] = altered(found, execution=execution)
            return True

    def delete(self, number: int) -> bool:
        """Delete a plan that no execution carries out. Return False if there is no such plan."""
        with self._changing():
            found = self.find(number)
            return found is not None and not found.execution and self.rows.pop(number) is not None

    def forget(self, kept: Collection[int], before: int, deployment: int | None) -> None:
        """Remove plans of a deployment (None: of all deployments) for a purge.

        These are plans of executions that are not in ``kept``, and unapplied plans made before the time ``before``.
        """
        for row in self._found():
            is_over = row.execution not in kept if row.execution else row.created_at < before
            if is_over and deployment in {None, row.deployment}:
                del self.rows[row.number]
