"""Runs over deployment groups: how many of their executions are open at a time, and what one request asks of all (GR4, GR7).

A run without a limit needs nothing of this: its executions begin like any others. Otherwise an execution waits here until
one of its run ends. Nothing of it is stored: what waits is queued in the store, and what is open or has failed has that
status. So an engine that follows a dead one knows the same. Used only by the thread that runs a turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.groups import NO_LIMIT
from phaseline.model.rows.row_queries import DeploymentQuery, ExecutionQuery
from phaseline.plan.requests import request_problems

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.groups import RunRow
    from phaseline.model.rows.rows import ExecutionRow, RequestRow
    from phaseline.ports.store import Store
    from phaseline.run.loop.admission import Claims

RETRIED: Mapping[str, ExecutionStatus] = {
    "failed": ExecutionStatus.FAILED,
    "canceled": ExecutionStatus.CANCELED,
    "unsure": ExecutionStatus.ATTENTION,
}
"""{word of a request to retry: the status of the executions that it means}."""
MOST_TOLD = 100
"""Most refusals in the answer to a request; all are counted."""


class RunOrders(Protocol):
    """The engine's methods that a run needs."""

    claims: Claims
    """The open executions, and which of them wait for others."""

    def submit(self, row: ExecutionRow) -> None:
        """Begin a stored execution, or let it wait."""
        ...

    def recover(self, rows: Sequence[ExecutionRow] | None = None) -> None:
        """Load stored executions, and continue them from their stored state."""
        ...

    def cancel(self, execution: int, how: str = "wait", *, actor: str = "") -> None:
        """Cancel a loaded execution."""
        ...

    def retry(
        self, row: ExecutionRow, *, graph: int | None = None, positions: np.ndarray | None = None,
        include_unsure: bool = False, replan: bool = False, actor: str = "",
    ) -> None:  # fmt: skip
        """Retry failed and canceled entries."""
        ...

    def refuse_overlap(self, row: ExecutionRow, graph: int | None, positions: np.ndarray | None) -> None:
        """Raise PL-C028 if a retry would repeat a call that is still running."""
        ...


class _Run:
    """A run in memory: the executions that are open, those that wait, and those that failed."""

    def __init__(self, row: RunRow, failed: set[int]) -> None:
        self.row = row
        self.begun: set[int] = set()
        self.waiting: dict[int, ExecutionRow] = {}
        self.failed = failed

    @property
    def is_stopped(self) -> bool:
        """True if so many executions have failed that no other one begins."""
        return self.row.stop_failures != NO_LIMIT and len(self.failed) > self.row.stop_failures

    @property
    def has_room(self) -> bool:
        """True if one more execution may begin."""
        limit = self.row.limit
        return limit is None or len(self.begun) < limit


class GroupRuns:
    """The runs whose executions are open in this engine."""

    def __init__(self, store: Store, orders: RunOrders) -> None:
        """Read nothing yet. ``orders``: the engine."""
        self._store, self._orders = store, orders
        self._runs: dict[int, _Run] = {}

    def admits(self, row: ExecutionRow) -> bool:
        """Return True if a queued execution may begin; otherwise it waits here until another one of its run ends."""
        run = self._of(row)
        if run is None:
            return True
        if not run.has_room or run.is_stopped:
            run.waiting[row.number] = row
            return False
        run.begun.add(row.number)
        return True

    def go_on(self) -> None:
        """Cancel what waits in runs that have stopped. Called after executions have come, which may find such a run."""
        for run in list(self._runs.values()):
            self._let_begin(run)

    def note_begun(self, row: ExecutionRow) -> None:
        """Record an execution that has begun in an earlier engine, or continues after its end."""
        run = self._of(row)
        if run is not None:
            run.begun.add(row.number)
            run.failed.discard(row.number)

    def leave(self, execution: int) -> ExecutionRow | None:
        """Remove an execution that waits, which is about to be canceled, and return it; None if it does not wait here."""
        for run in self._runs.values():
            found = run.waiting.pop(execution, None)
            if found is not None:
                run.begun.add(execution)
                return found
        return None

    def end(self, row: ExecutionRow, status: ExecutionStatus) -> None:
        """Record the end of an execution, and let others of its run begin, or cancel these if too many have failed."""
        run = self._runs.get(row.request.group_run)
        if run is None:
            return
        run.begun.discard(row.number)
        if status is ExecutionStatus.FAILED:
            run.failed.add(row.number)
        self._let_begin(run)
        if not run.begun and not run.waiting:
            del self._runs[row.request.group_run]

    def _let_begin(self, run: _Run) -> None:
        if run.is_stopped:
            for number in list(run.waiting):
                self._orders.cancel(number)
            return
        while run.waiting and run.has_room:
            first = next(iter(run.waiting))
            self._orders.submit(run.waiting.pop(first))

    def _of(self, row: ExecutionRow) -> _Run | None:
        """Return the run of an execution; None if its row is gone. It is read when its first execution comes."""
        number = row.request.group_run
        run = self._runs.get(number)
        if run is None:
            stored = self._store.group_runs.find(number)
            if stored is None:
                return None
            statuses = self._store.group_runs.statuses(stored) if stored.stop_failures != NO_LIMIT else {}
            failed = {execution for execution, status in statuses.items() if status is ExecutionStatus.FAILED}
            run = self._runs[number] = _Run(stored, failed)
        return run

    # -- requests about all executions of a run -----------------------------------------------------------------

    def act(self, request: RequestRow) -> Mapping[str, Value]:
        """Carry out a request about a run, and return its answer with the executions that refuse it."""
        body: Mapping[str, Any] = request.body
        stored = self._store.group_runs.find(int(body.get("run", 0)))
        if stored is None or stored.tenant != request.actor.tenant:
            return {"done": False}
        rows = self._executions(stored)
        opened = [row for row in rows if not row.status.is_ended]
        self._orders.recover(opened)
        match body.get("do"):
            case "renew":
                run = self._runs.get(stored.number)
                if run is not None:
                    run.row = stored
                    self._let_begin(run)
            case "cancel":
                for row in opened:
                    self._orders.cancel(row.number, str(body.get("how", "wait")), actor=request.actor.name)
            case "retry":
                return self._retry(rows, RETRIED.get(str(body.get("only"))), request.actor.name)
        return {"done": True}

    def _retry(self, rows: Sequence[ExecutionRow], only: ExecutionStatus | None, actor: str) -> Mapping[str, Value]:
        wanted = {only} if only is not None else set(RETRIED.values())
        chosen = [row for row in rows if row.status in wanted]
        living = {
            row.number
            for row in self._store.listings.deployments(DeploymentQuery(numbers=[row.deployment for row in chosen]))
        }
        refused: list[Value] = []
        for row in chosen:
            try:
                self._retry_one(row, actor, is_living=row.deployment in living)
            except ProblemsError as error:
                refused.append(f"{row.id} of '{row.deployment_name}': {error.problems[0]}")
        return {"done": True, "count": len(chosen) - len(refused), "refused": refused[:MOST_TOLD]}

    def _retry_one(self, row: ExecutionRow, actor: str, *, is_living: bool) -> None:
        if row.status.is_ended:
            other = self._orders.claims.blocker(row)
            if other is not None:
                raise request_problems.busy(row, other)
            if not is_living:
                request_problems.raise_if_deleted(None, row)
        self._orders.refuse_overlap(row, None, None)
        self._orders.retry(altered(row, request=altered(row.request, clean=False)), include_unsure=True, actor=actor)

    def _executions(self, run: RunRow) -> Sequence[ExecutionRow]:
        numbers = list(self._store.group_runs.statuses(run))
        return self._store.listings.executions(ExecutionQuery(numbers=numbers)) if numbers else ()
