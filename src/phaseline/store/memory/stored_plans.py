"""Stored plans in the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.stored_plans import MOST_WAITING, StoredPlan


class MemoryPlans:
    """Stored plans in a store in memory: the methods of the port ``PlanShelf``."""

    def __init__(self, changing: Callable[[], AbstractContextManager[object]]) -> None:
        """``changing``: a context in which no other thread uses the stored data."""
        self._changing = changing
        self._rows: dict[int, StoredPlan] = {}
        self._last = 0

    def add(self, new: StoredPlan) -> StoredPlan:
        """Store a plan under the next number.

        If more than ``MOST_WAITING`` plans then wait, delete the oldest of them.
        """
        with self._changing():
            self._last += 1
            kept = self._rows[self._last] = altered(new, number=self._last)
            waiting = [row.number for row in self.all(new.deployment) if not row.execution]
            for number in waiting[:-MOST_WAITING]:
                del self._rows[number]
            return kept

    def find(self, number: int) -> StoredPlan | None:
        """Return the plan with this number, or None."""
        return self._rows.get(number)

    def all(self, deployment: int | None = None) -> Sequence[StoredPlan]:
        """Return plans by number, without ``body``, ``text`` and ``aim``; only those of one deployment if given."""
        rows = [row for row in self._rows.values() if deployment in {None, row.deployment}]
        return [altered(row, body={}, text="", aim=None) for row in rows]

    def of_execution(self, execution: int) -> StoredPlan | None:
        """Return the stored plan that an execution carries out, or None."""
        return next((row for row in self._rows.values() if row.execution and row.execution == execution), None)

    def apply(self, number: int, execution: int) -> bool:
        """Record the execution that carries a plan out. Return False if the plan already has another execution."""
        with self._changing():
            found = self._rows.get(number)
            if found is None or found.execution:
                return False
            self._rows[number] = altered(found, execution=execution)
            return True

    def delete(self, number: int) -> bool:
        """Delete a plan that no execution carries out. Return False if there is no such plan."""
        with self._changing():
            found = self._rows.get(number)
            return found is not None and not found.execution and self._rows.pop(number) is not None

    def forget(self, kept: Collection[int], before: int, deployment: int | None) -> None:
        """Remove plans of a deployment (None: of all deployments) for a purge.

        These are plans of executions that are not in ``kept``, and unapplied plans made before the time ``before``.
        """
        for row in list(self._rows.values()):
            is_over = row.execution not in kept if row.execution else row.created_at < before
            if is_over and deployment in {None, row.deployment}:
                del self._rows[row.number]
