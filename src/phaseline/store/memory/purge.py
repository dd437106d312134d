"""A purge of old executions and lines in the store in memory, in slices of the same kinds as in a file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.resources.active_paths import ActivePath, speaking
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows.maintenance import Purged, PurgeRules
from phaseline.model.rows.rows import EventRow, ExecutionRow, LogLine
from phaseline.store.memory.tables import HeldExecution, MemoryTables
from phaseline.store.memory.tenant_rows import MemoryTenantRows

REMOVED_TOGETHER = 100
"""Number of executions that one slice removes, or whose lines it removes."""


class MemoryPurge:
    """Implements ``ports.tenant_store.PurgeRound`` in memory."""

    def __init__(
        self,
        changing: Callable[[], AbstractContextManager[MemoryTables]],
        rules: PurgeRules,
        own: MemoryTenantRows,
        forget: Callable[[MemoryTables, PurgeRules], None],
        *,
        removed_together: int = REMOVED_TOGETHER,
    ) -> None:
        """Read nothing yet.

        ``own``: whose rows are removed. ``forget`` removes what other objects keep of executions and deployments that
        are gone.
        """
        self._changing, self._rules, self._forget, self._most = changing, rules, forget, removed_together
        self._own = own
        self._parts = [self._executions, self._rest] if rules.executions_before else []
        if rules.lines_before:
            self._parts.append(self._lines)
        self._after = 0
        """Highest number of an execution that the present part has looked at."""

    @property
    def is_over(self) -> bool:
        """True if nothing is left to remove."""
        return not self._parts

    def slice(self) -> Purged:
        """Remove some executions, or the lines of some; return the counts."""
        with self._changing() as held:
            return self._parts[0](held) if self._parts else Purged()

    def _executions(self, held: MemoryTables) -> Purged:
        removed = Purged()
        for number in self._next(held, self._rules.executions_before, lambda each: not is_kept(held, each)):
            removed += forget(held, held.executions.pop(number))
        return removed

    def _rest(self, held: MemoryTables) -> Purged:
        """Remove deleted deployments without executions, old plans, and answered requests that concern no execution."""
        before, only = self._rules.executions_before, self._rules.deployment
        having = {each.row.deployment for each in held.executions.values()}
        gone = [
            number
            for number, known in held.deployments.items()
            if 0 < known.deleted_at < before
            and only in {None, number}
            and number not in having
            and self._own.has(known.row.tenant)
        ]
        for number in gone:
            del held.deployments[number]
        asked = [each for each in held.requests.values() if self._own.has(each.actor.tenant)]
        told = [each.number for each in asked if not each.execution and 0 < each.answered_at < before]
        forgotten = told if only is None else []
        for number in forgotten:
            del held.requests[number]
        self._forget(held, self._rules)
        self._end_part()
        return Purged(deployments=len(gone), requests=len(forgotten))

    def _lines(self, held: MemoryTables) -> Purged:
        """Remove all lines but the last of each kind."""
        logs = events = 0
        for number in self._next(held, self._rules.lines_before, has_lines):
            execution = held.executions[number]
            logs += _drop(execution.logs)
            events += _drop(execution.events)
        return Purged(logs=logs, events=events)

    def _next(self, held: MemoryTables, before: int, wanted: Callable[[HeldExecution], bool]) -> list[int]:
        """Return the numbers of the next executions that ended before the given time and are ``wanted``."""
        asked = {each.execution for each in held.requests.values() if not each.answered_at}
        only = self._rules.deployment
        found: list[int] = []
        for number, each in held.executions.items():
            row = each.row
            if number <= self._after or number in asked or only not in {None, row.deployment}:
                continue
            if not self._own.has(row.tenant):
                continue
            if not row.status.is_ended or row.ended_at >= before or held.open_batches.keys() & each.batches.keys():
                continue
            if wanted(each):
                found.append(number)
                if len(found) == self._most:
                    self._after = number
                    return found
        self._end_part()
        return found

    def _end_part(self) -> None:
        del self._parts[0]
        self._after = 0


def has_lines(execution: HeldExecution) -> bool:
    """Return True if an execution has more than one log line or event."""
    return len(execution.logs) > 1 or len(execution.events) > 1


def is_kept(held: MemoryTables, execution: HeldExecution) -> bool:
    """Return True if an execution that ended long ago must stay because of its deployment."""
    row = execution.row
    if held.deployments[row.deployment].deleted_at:
        return False
    return row.number in _last_installs(held, row.deployment) or _is_moving(held, row)


def _is_moving(held: MemoryTables, row: ExecutionRow) -> bool:
    """Return True if the execution failed to bring resources to a target, and they got no other target since.

    A purge keeps such an execution, because a retry needs it.
    """
    if row.request.workflow != REACH_WORKFLOW or row.status is not ExecutionStatus.FAILED:
        return False
    owner = held.deployments[row.deployment]
    rows = [each.row for each in held.executions.values() if each.row.deployment == row.deployment]
    told = ((other.number, other.request.parameters) for other in rows if other.request.workflow == REACH_WORKFLOW)
    ways = [ActivePath(number, given.get("target"), given.get("subjects")) for number, given in told]
    return row.number in speaking(ways, owner.states, owner.state_names)


def _last_installs(held: MemoryTables, deployment: int) -> Collection[int]:
    """Return the numbers of the last ``install`` of a deployment and of its last completed ``install``."""
    installs = [
        each.row
        for each in held.executions.values()
        if each.row.deployment == deployment and each.row.request.workflow == "install"
    ]
    done = [row for row in installs if row.status is ExecutionStatus.COMPLETED]
    return {row.number for row in (*installs[-1:], *done[-1:])}


def forget(held: MemoryTables, execution: HeldExecution) -> Purged:
    """Remove everything about an execution that was removed from the table of executions; return the counts."""
    requests = [each.number for each in held.requests.values() if each.execution == execution.row.number]
    for number in requests:
        del held.requests[number]
    batches = sum(_leave(held, batch, execution) for batch in execution.batches)
    for graph in execution.graphs:
        del held.graphs[graph]
    return Purged(
        executions=1,
        graphs=len(execution.graphs),
        batches=batches,
        logs=len(execution.logs),
        events=len(execution.events),
        requests=len(requests),
    )


def _leave(held: MemoryTables, batch: int, execution: HeldExecution) -> bool:
    """Remove an execution's members from a batch. Return True if the batch has no other members and was deleted."""
    row = held.batches[batch]
    parts = list(row.places.parts())
    staying = [part for part in parts if part[0] not in execution.graphs]
    if not staying:
        del held.batches[batch]
        return True
    kinds = row.kinds
    if kinds is not None:
        kinds = kinds[np.concatenate([np.full(len(at), graph not in execution.graphs) for graph, at in parts])]
    held.batches[batch] = altered(row, places=MemberPositions.of(staying), kinds=kinds)
    return False


def _drop(lines: list[LogLine] | list[EventRow]) -> int:
    """Remove all lines but the last; return how many were removed."""
    count = max(0, len(lines) - 1)
    del lines[:count]
    return count
