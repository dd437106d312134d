"""Causes of deployments and executions, and what entries wait for, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.rows.causes import AwaitRow, CausedRow, CauseKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from phaseline.model.blueprint.stored_blueprints import BlueprintShelf
    from phaseline.model.rows.causes import AwaitChanges, CauseKind
    from phaseline.store.memory.tables import MemoryTables
    from phaseline.store.memory.tenant_rows import MemoryTenantRows


class MemoryCauses:
    """Implements ``model.rows.causes.CauseShelf`` in memory."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[MemoryTables]],
        own: MemoryTenantRows,
        blueprints: BlueprintShelf,
    ) -> None:
        """``changing``: a context in which no other thread uses the stored data. ``blueprints``: those of the tenant."""
        self._changing, self._own, self._blueprints = changing, own, blueprints

    def caused(self, kind: CauseKind, number: int) -> Sequence[CausedRow]:
        """Return all that a cause has made: deployments, then executions, each sorted by number."""
        return [row for row in self._all() if (row.cause.kind, row.cause.number) == (kind, number)]

    def of_executions(self, executions: Sequence[int]) -> Sequence[CausedRow]:
        """Return those of the executions that have a cause, sorted by number."""
        return [row for row in self._all() if row.is_execution and row.number in executions]

    def of_deployments(self, deployments: Sequence[int]) -> Sequence[CausedRow]:
        """Return those of the deployments that have a cause, sorted by number."""
        return [row for row in self._all() if not row.is_execution and row.number in deployments]

    def of_blueprints(self, blueprints: Sequence[int]) -> Mapping[int, CauseKey]:
        """Return {number of a stored blueprint: its cause} of those of the blueprints that no user has stored."""
        with self._changing() as held:
            found = {number: held.blueprint_causes.get(number) for number in blueprints}
            own = {row.number for row in self._blueprints.all()} if any(found.values()) else ()
            return {number: cause for number, cause in found.items() if cause is not None and number in own}

    def add_blueprint(self, blueprint: int, cause: CauseKey) -> None:
        """Store the cause of a stored blueprint."""
        with self._changing() as held:
            if any(row.number == blueprint for row in self._blueprints.all()):
                held.blueprint_causes[blueprint] = cause

    def awaiting(self) -> Sequence[AwaitRow]:
        """Return what entries wait for, sorted by execution, graph, position and awaited execution."""
        with self._changing() as held:
            return [AwaitRow(*key, since) for key, since in sorted(held.awaiting.items()) if self._has(key[0])]

    def _has(self, execution: int) -> bool:
        return self._own.execution(execution) == execution

    def _all(self) -> list[CausedRow]:
        """Return all causes of the tenant: of deployments, then of executions, each sorted by number."""
        own = self._own
        with self._changing() as held:
            made = [
                (number, known.cause) for number, known in sorted(held.deployments.items()) if own.has(known.row.tenant)
            ]
            run = [
                (number, known.cause) for number, known in sorted(held.executions.items()) if own.has(known.row.tenant)
            ]
        return [*_caused(made, is_execution=False), *_caused(run, is_execution=True)]


def _caused(found: Iterable[tuple[int, CauseKey | None]], *, is_execution: bool) -> list[CausedRow]:
    return [CausedRow(number, is_execution, cause) for number, cause in found if cause is not None]


def refuse_cause(cause: CauseKey | None, known: Iterable[CauseKey | None]) -> None:
    """Raise ``ValueError`` if something of this cause is stored already."""
    if cause is not None and cause in set(known):
        raise ValueError(f"stored already: {cause}")


def write_awaits(held: MemoryTables, changes: AwaitChanges) -> None:
    """Write what entries have begun to wait for, and drop what concerns ended executions."""
    for row in changes.new:
        held.awaiting.setdefault((row.execution, row.graph, row.position, row.awaited), row.since)
    for gone in changes.gone:
        held.awaiting.pop(gone, None)
    for key in [key for key in held.awaiting if key[0] in changes.over or key[3] in changes.over]:
        del held.awaiting[key]
