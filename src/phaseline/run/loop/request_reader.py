"""The door between processes: what others asked of the owner becomes orders to the engine, answered in the same commit."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from phaseline.calls.deployments.planner_driver import NOT_READ
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.model.resources.resources import is_reach
from phaseline.model.rows import row_queries
from phaseline.model.rows.rows import RequestAnswer, RequestKind
from phaseline.plan.requests import request_problems  # seldom: loaded when something is refused

if TYPE_CHECKING:
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import ExecutionRow, RequestRow
    from phaseline.ports.store import Store
    from phaseline.run.loop.abandoned_calls import GivenUpCalls
    from phaseline.run.loop.admission import Claims
    from phaseline.run.phases.signals import Given

LOOK_MS = 150
"""Time between two reads of requests by an idle owner process; a busy one reads after its turn."""
DONE: Mapping[str, Value] = {"done": True}
"""The answer to a request that was carried out."""

ABOUT_RESOURCES = frozenset(
    {RequestKind.RETRY, RequestKind.COMPLETE, RequestKind.RERUN, RequestKind.WAKE, RequestKind.SIGNAL}
)
"""Kinds of requests about some resources of an execution to a target."""


class Orders(Protocol):
    """The engine's actions that requests can trigger."""

    claims: Claims
    """The rule for executions that may run at the same time."""
    scheduler: Scheduler
    """The statuses of loaded entries."""
    deployments: DeploymentCache
    """Loaded deployments, with the data of entries for their next call."""
    known: set[int]
    """Open executions that are loaded."""
    given_up: GivenUpCalls
    """Calls that were given up and may still run."""

    def take_up(self, row: ExecutionRow) -> None:
        """Start or continue an open execution."""
        ...

    def cancel(self, execution: int, how: str = "wait", *, actor: str = "") -> None:
        """Cancel a loaded execution."""
        ...

    def retry(
        self, row: ExecutionRow, *, graph: int | None = None, positions: np.ndarray | None = None,
        include_unsure: bool = False, replan: bool = False, actor: str = "",
    ) -> None:  # fmt: skip
        """Continue failed and canceled entries."""
        ...

    def refuse_overlap(self, row: ExecutionRow, graph: int | None, positions: np.ndarray | None) -> None:
        """Raise PL-C028 if a retry would repeat a call that is still running."""
        ...

    def complete(self, row: ExecutionRow, graph: int, positions: np.ndarray, *, reason: str, actor: str) -> None:
        """Take entries as completed."""
        ...

    def wake(self, execution: int, graph: int, positions: np.ndarray | None = None) -> None:
        """Let sleepers try now."""
        ...

    def reload(self) -> Mapping[str, Value]:
        """Reload plugins; returns the result."""
        ...

    def about_resources(self, row: ExecutionRow, request: RequestRow) -> None:
        """Carry out a request about resources of an execution of paths."""
        ...

    def edit(self, body: Mapping[str, Value]) -> None:
        """Change attributes of resources."""
        ...

    def look_at_pauses(self) -> None:
        """React to phases that were paused or opened again."""
        ...

    def ask_to_stop(self, drain_s: float | None = None) -> None:
        """Leave as soon as the running calls have returned."""
        ...


class Door:
    """Reads requests and carries them out; the caller commits ``answers`` together with the changes."""

    def __init__(self, store: Store, orders: Orders, signals: list[Given]) -> None:
        """Everything that has no answer yet is found by the first look. ``signals``: where those are put that a turn is to store."""
        self._store, self._orders, self._signals = store, orders, signals
        self._seen = 0
        self._open: dict[int, ExecutionRow] | None = None
        self.answers: list[RequestAnswer] = []

    def look(self) -> bool:
        """Carry out new requests; True if there were any. Without any it costs next to nothing."""
        asked = self._store.requests(self._seen)
        if not asked:
            return False
        self._open = None
        for request in asked:
            self._seen = request.number
            self.answers.append(RequestAnswer(request.number, self._answer(request)))
        return True

    def _row(self, request: RequestRow) -> ExecutionRow | None:
        """The execution of a request; open executions are read once for all requests of one look."""
        if self._open is None:
            self._open = {row.number: row for row in self._store.executions(only_open=True)}
        return self._open.get(request.execution) or self._store.execution(str(request.body.get("id", "")))

    def _answer(self, request: RequestRow) -> Mapping[str, Value]:
        if request.kind is RequestKind.STOP:
            return self._stop(request.body)
        if request.kind is RequestKind.RELOAD:
            return self._orders.reload()
        if request.kind is RequestKind.EDIT:
            self._orders.edit(request.body)
            return DONE
        if request.kind is RequestKind.PAUSE:
            self._orders.look_at_pauses()
            return DONE
        if request.kind is RequestKind.START and request.execution in self._orders.known:
            return DONE
        row = self._row(request)
        if row is None:
            return request_problems.problem_answer(
                Problem("PL-C011", "there is no such execution", "see: phaseline executions list")
            )
        try:
            self._carry_out(request, row)
        except ProblemsError as error:
            return request_problems.problem_answer(error.problems[0])
        except NOT_READ as error:
            from phaseline.calls.deployments.unreadable_execution import reason_of, unreadable

            return request_problems.problem_answer(unreadable(row, reason_of(error)))
        return DONE

    def _carry_out(self, request: RequestRow, row: ExecutionRow) -> None:
        """Carry out a request about one execution. Raises ``ProblemsError`` if that is impossible."""
        if is_reach(row.request) and is_about_resources(request):
            self._about_resources(row, request)
            return
        match request.kind:
            case RequestKind.START:
                if not row.status.is_ended:
                    self._orders.take_up(row)
            case RequestKind.CANCEL:
                if row.status.is_ended and request.body.get("how") == "kill" and self._orders.given_up.end(row.number):
                    return
                request_problems.raise_if_ended(row, "nothing is left to cancel")
                self._orders.take_up(row)
                self._orders.cancel(row.number, str(request.body.get("how", "wait")))
            case RequestKind.RETRY:
                self._retry(row, request)
            case RequestKind.COMPLETE:
                self._complete(row, request)
            case RequestKind.RERUN:
                self._about_resources(row, request)
            case _:
                self._wake(row, request)

    def _about_resources(self, row: ExecutionRow, request: RequestRow) -> None:
        """Carry out a request about resources of an execution to a target, or about phases of its nodes."""
        if request.kind in {RequestKind.WAKE, RequestKind.SIGNAL, RequestKind.CANCEL}:
            is_cancel = request.kind is RequestKind.CANCEL
            request_problems.raise_if_ended(row, "nothing is left to cancel" if is_cancel else "no call in it sleeps")
        else:
            self._refuse_reopening(row)
        self._orders.about_resources(row, request)

    def _stop(self, body: Mapping[str, Any]) -> Mapping[str, Value]:
        if body.get("pid") != os.getpid():
            return {"done": False}  # meant for an engine that is gone
        self._orders.ask_to_stop(body.get("drain_s"))
        return DONE

    def _retry(self, row: ExecutionRow, request: RequestRow) -> None:
        self._refuse_reopening(row)
        request_problems.raise_if_completed(row)
        clean = bool(request.body.get("clean"))
        if clean:
            request_problems.raise_if_not_cleanable(row)
        row = altered(row, request=altered(row.request, clean=clean))
        graph, positions = _chosen(request.body)
        self._orders.refuse_overlap(row, graph, positions)
        self._orders.retry(
            row, graph=graph, positions=positions, include_unsure=True, replan=clean, actor=request.actor.name
        )

    def _complete(self, row: ExecutionRow, request: RequestRow) -> None:
        self._refuse_reopening(row)
        graph, positions = _chosen(request.body)
        assert graph is not None, "a complete request has a graph"
        assert positions is not None, "a complete request has positions"
        reason = str(request.body.get("reason", ""))
        self._orders.complete(row, graph, positions, reason=reason, actor=request.actor.name)

    def _refuse_reopening(self, row: ExecutionRow) -> None:
        """Check that no other execution claims the instances of an ended one that is to continue.

        Raises: PL-C016 naming the other one, PL-C010.
        """
        if row.status.is_ended:
            other = self._orders.claims.blocker(row)
            if other is not None:
                raise request_problems.busy(row, other)
            living = self._store.listings.deployments(row_queries.DeploymentQuery(numbers=(row.deployment,)))
            request_problems.raise_if_deleted(next(iter(living), None), row)

    def _wake(self, row: ExecutionRow, request: RequestRow) -> None:
        request_problems.raise_if_ended(row, "no call in it sleeps")
        self._orders.take_up(row)
        graph, positions = _chosen(request.body)
        if graph is None:
            return
        if request.kind is RequestKind.SIGNAL and positions is not None:
            from phaseline.run.phases.signals import given

            orders, asked = self._orders, [(graph, positions)]
            ((graph, positions),), made = given(self._store, orders.scheduler, orders.deployments, row, asked, request)
            self._signals.extend(made)
        self._orders.wake(row.number, graph, positions)


def is_about_resources(request: RequestRow) -> bool:
    """True for a request about some resources of an execution, or phases of them."""
    if request.kind is RequestKind.CANCEL:
        return "subjects" in request.body
    return request.kind in ABOUT_RESOURCES


def _chosen(body: Mapping[str, Any]) -> tuple[int | None, np.ndarray | None]:
    """(graph, positions) that a request names, as far as it does."""
    positions = body.get("positions")
    return body.get("graph"), None if positions is None else np.array(positions, np.int32)
