"""Runs over deployment groups of the store in memory (GR3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.groups import NewGroupRun, RunRow
from phaseline.store.memory.tables import MemoryTables
from phaseline.store.memory.tenant_rows import MemoryTenantRows

if TYPE_CHECKING:
    from phaseline.model.graph.status import ExecutionStatus
    from phaseline.model.rows.rows import Actor
    from phaseline.ports.clock import Clock


class MemoryRuns:
    """Implements ``model.rows.group_runs.RunShelf`` in memory."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[MemoryTables]],
        held: MemoryTables,
        clock: Clock,
        own: MemoryTenantRows,
        whole: MemoryRuns | None = None,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``whole``: the shelf of all tenants."""
        self._changing, self._held, self._clock, self._own = changing, held, clock, own
        self._whole = self if whole is None else whole
        self.rows: dict[int, RunRow] = {} if whole is None else whole.rows
        """{number: run} of all tenants."""

    def begin(self, new: NewGroupRun, actor: Actor) -> RunRow:
        """Store a run and return its row."""
        by = self._own.by(actor)
        with self._changing():
            number = len(self.rows) + 1  # a run is never removed
            told = new.group, new.group_name, new.workflow, new.concurrency, new.stop_failures
            self.rows[number] = RunRow(number, *told, False, self._clock.now(), by.name, by.tenant)
            return self.rows[number]

    def find(self, number: int) -> RunRow | None:
        """Return the run with this number, or None."""
        found = self.rows.get(number)
        return found if found is not None and self._own.has(found.tenant) else None

    def of(self, group: str = "", limit: int = 1_000) -> Sequence[RunRow]:
        """Return the runs over a group by its name, or all; latest first."""
        found = [row for row in [*self.rows.values()] if self._own.has(row.tenant) and group in {"", row.group_name}]
        return found[::-1][:limit]

    def change(self, row: RunRow, *, concurrency: int, is_paused: bool) -> RunRow | None:
        """Change how many executions of a run may be open; return its new row, or None if there is no such run."""
        with self._changing():
            found = self.find(row.number)
            if found is None:
                return None
            self.rows[row.number] = altered(found, concurrency=concurrency, is_paused=is_paused)
            return self.rows[row.number]

    def statuses(self, row: RunRow) -> Mapping[int, ExecutionStatus]:
        """Return {number of an execution of the run: its status}, sorted by number."""
        with self._changing() as held:
            if self.find(row.number) is None:
                return {}
            return {
                number: one.row.status
                for number, one in sorted(held.executions.items())
                if one.cause is not None and (one.cause.kind, one.cause.number) == ("group", row.number)
            }
