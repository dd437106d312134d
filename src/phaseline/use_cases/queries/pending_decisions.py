"""Find executions that wait for an approval, and instances that are stopped at breakpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution import breakpoints
from phaseline.model.graph.status import EntryStatus as E
from phaseline.use_cases.lookup import blocking_executions
from phaseline.use_cases.queries import breakpoints as queries_breakpoints
from phaseline.use_cases.queries import hook_results

if TYPE_CHECKING:
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.execution_reads import ExecutionReads
    from phaseline.ports.tenant_store import StoreRows

AwaitedKind = Literal["approval", "breakpoint"]
APPROVAL: AwaitedKind = "approval"
BREAKPOINT: AwaitedKind = "breakpoint"


MOVES = np.array([one in {E.WAITING, E.RUNNING, E.SLEEPING, E.CANCELING} for one in E])
"""Bool by status: True if an entry with the status moves by itself: by a wake, an outcome or a call."""


@frozen
class PendingDecision:
    """One decision for which entries of one graph of an execution wait. ``mend``: the command that makes it.

    ``name``: the breakpoint, or the digest of the plan to approve. ``instances``: those stopped at the breakpoint;
    empty for an approval.
    """

    kind: AwaitedKind
    execution: ExecutionRow
    name: str
    graph: int
    positions: Sequence[int]
    instances: Sequence[str]
    message: str
    mend: str

    @property
    def text(self) -> str:
        """One sentence about the decision, for users."""
        row, count = self.execution, len(self.positions)
        if self.kind == APPROVAL:
            return f"{row.id} of '{row.deployment_name}' waits for an approval of plan {self.name}"
        stopped = "instance is stopped" if count == 1 else "instances are stopped"
        return f"{count:,} {stopped} at {self.name} in {row.id} of '{row.deployment_name}'"


def awaited(store: ExecutionReads, row: ExecutionRow) -> Iterator[PendingDecision]:
    """Yield the decisions for which one open execution waits."""
    if row.request.is_surrounded:
        yield from _approvals(store, row)
    if row.request.breakpoints:
        yield from _breakpoints(store, row)


def stands_still(store: ExecutionReads, row: ExecutionRow) -> bool:
    """Return whether an open execution cannot continue without an approval.

    True if the only entries that sleep, wait or run in it are hooks that wait for an approval.
    """
    if not row.request.is_surrounded:
        return False
    told: dict[int, set[int]] = {}
    for one in _approvals(store, row):
        told.setdefault(one.graph, set()).update(one.positions)
    return bool(told) and all(
        told.get(graph.id, set()).issuperset(np.flatnonzero(MOVES[store.statuses(graph.id)]).tolist())
        for graph in store.graphs(row.number)
    )


def standing_still(store: StoreRows) -> Mapping[int, tuple[ExecutionRow, Sequence[PendingDecision]]]:
    """Find all open executions that cannot continue without an approval.

    Return {number: (execution, the approvals it waits for)}. Executions that are queued behind one of them are
    included, without approvals of their own, and so are those that a run over a group holds back.
    """
    rows = store.executions(only_open=True)
    found = {row.number: (row, list(_approvals(store, row))) for row in rows if stands_still(store, row)}
    held = blocking_executions.held_by_runs(store, rows)
    found |= {row.number: (row, []) for row in rows if row.number in held}
    while found:
        behind = [row for row in rows if row.number not in found]
        more = [
            row
            for row in behind
            if (queued := blocking_executions.blocking_execution(store, row)) and queued.blocker.number in found
        ]
        found |= {row.number: (row, []) for row in more}
        if not more:
            break
    return found


def _approvals(store: ExecutionReads, row: ExecutionRow) -> Iterator[PendingDecision]:
    found: dict[tuple[int, str], list[int]] = {}
    said: dict[tuple[int, str], str] = {}
    for one in hook_results.waiting_hooks(store, store.graphs(row.number)):
        plan = hook_results.plan_waited_for(one.note.result)
        if plan:
            found.setdefault((one.graph, plan), []).append(one.position)
            said.setdefault((one.graph, plan), one.note.message)
    for (graph, plan), positions in found.items():
        mend = f"phaseline executions approve {row.id} --plan {plan}"
        yield PendingDecision(APPROVAL, row, plan, graph, positions, (), said[graph, plan], mend)


def _breakpoints(store: ExecutionReads, row: ExecutionRow) -> Iterator[PendingDecision]:
    found: dict[tuple[int, str], list[tuple[int, str]]] = {}
    said: dict[tuple[int, str], str] = {}
    for one in queries_breakpoints.stopped_in(store, row):
        found.setdefault((one.graph, one.point), []).append((one.position, one.instance))
        said.setdefault((one.graph, one.point), one.message)
    for (graph, point), stopped in found.items():
        positions, instances = [position for position, _ in stopped], [instance for _, instance in stopped]
        mend = breakpoints.clearing(point, row.deployment_name)
        yield PendingDecision(BREAKPOINT, row, point, graph, positions, instances, said[graph, point], mend)
