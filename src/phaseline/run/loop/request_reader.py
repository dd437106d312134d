"""Requests that other processes store for the owner. The engine carries them out, and commits answers with changes.

The owner looks for requests when the store wakes it, and now and then by itself. Only an engine that has run for a while
listens to wake-ups, because listening starts a thread, for which a short command has no use.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
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
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import ExecutionRow, RequestRow
    from phaseline.ports.store import Store
    from phaseline.run.loop.abandoned_calls import GivenUpCalls
    from phaseline.run.loop.admission import Claims
    from phaseline.run.loop.group_runs import GroupRuns
    from phaseline.run.phases.signals import Given

LOOK_MS = 150
"""The longest time in ms between two looks for requests without a wake-up; a busy engine looks in its turns."""
CALM_AFTER_MS = 3_000
"""The time in ms without a wake-up after which an engine that the store wakes waits as long as the store permits."""
DONE: Mapping[str, Value] = {"done": True}
"""The answer to a request that was carried out."""

ABOUT_RESOURCES = frozenset(
    {RequestKind.RETRY, RequestKind.COMPLETE, RequestKind.RERUN, RequestKind.WAKE, RequestKind.SIGNAL}
)
"""The kinds of requests that concern some resources of an execution to a target."""


class Lookout:
    """Decides whether a look is due. A context: within it, wake-ups of the store end the loop's wait."""

    def __init__(self, store: Store, inbox: Inbox[Any]) -> None:
        """Let the first look be due at once. ``inbox``: its wait is ended by a wake-up."""
        self._store, self._inbox = store, inbox
        self._hearing: ExitStack | None = None
        self._looked: int | None = None
        self._every_ms = LOOK_MS
        self._is_listening = self._is_closed = False
        self._woken_at = 0
        self._is_calm = False
        self.is_woken = False

    def __enter__(self) -> None:
        """Permit to listen."""
        self._hearing = ExitStack()

    def __exit__(self, *raised: object) -> None:
        """Stop listening."""
        hearing, self._hearing, self._is_listening = self._hearing, None, False
        self._every_ms = LOOK_MS
        if hearing is not None:
            hearing.close()

    def close(self) -> None:
        """Let no further look be due: the engine ends."""
        self._is_closed = True

    @property
    def pause_ms(self) -> int:
        """The longest time in ms that the loop may wait without a look at requests and signals."""
        return max(self._every_ms, LOOK_MS) if self._is_calm else LOOK_MS

    def is_due(self, now: int) -> bool:
        """Return True, and note the time ``now``, if a request may be new: after a wake-up, or long after the last look."""
        is_first = self._looked is None
        if is_first or self.is_woken:
            self._woken_at = now
        self._is_calm = now - self._woken_at >= CALM_AFTER_MS
        if self._is_closed or not (is_first or self.is_woken or now - (self._looked or 0) >= self._every_ms // 2):
            return False
        if self._hearing is not None and not is_first and not self._is_listening:
            self._is_listening = True
            self._every_ms = self._hearing.enter_context(self._store.listen(self._wake))
        self.is_woken = False  # before the look, so that a wake-up during it leads to another one
        self._looked = now
        return True

    def _wake(self) -> None:
        """Note the wake-up and end the loop's wait; called from any thread."""
        self.is_woken = True
        self._inbox.wake()


class Orders(Protocol):
    """The engine's methods and attributes that requests use."""

    claims: Claims
    """The open executions, and which of them wait for others."""
    scheduler: Scheduler
    """The scheduler, which has the statuses of loaded entries."""
    deployments: DeploymentCache
    """Loaded deployments, and the data that entries keep for their next call."""
    known: set[int]
    """Numbers of the open executions that are loaded."""
    given_up: GivenUpCalls
    """Given-up calls that may still run."""

    @property
    def group_runs(self) -> GroupRuns:
        """The runs over deployment groups."""
        ...

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
        """Retry failed and canceled entries."""
        ...

    def refuse_overlap(self, row: ExecutionRow, graph: int | None, positions: np.ndarray | None) -> None:
        """Raise PL-C028 if a retry would repeat a call that is still running."""
        ...

    def complete(self, row: ExecutionRow, graph: int, positions: np.ndarray, *, reason: str, actor: str) -> None:
        """Mark entries as completed at a user's request."""
        ...

    def wake(self, execution: int, graph: int, positions: np.ndarray | None = None) -> None:
        """Call sleeping entries now."""
        ...

    def reload(self) -> Mapping[str, Value]:
        """Reload plugins, and return the result."""
        ...

    def about_resources(self, row: ExecutionRow, request: RequestRow) -> None:
        """Carry out a request that concerns some resources or phases of an execution."""
        ...

    def edit(self, body: Mapping[str, Value]) -> None:
        """Change attributes of resources."""
        ...

    def look_at_pauses(self) -> None:
        """React to phases that a user has paused or resumed."""
        ...

    def ask_to_stop(self, drain_s: float | None = None) -> None:
        """Stop the engine when its running calls have returned, or after ``drain_s`` seconds."""
        ...


class Door:
    """Reads and carries out requests of other processes. The caller commits ``answers`` together with the changes."""

    def __init__(self, store: Store, orders: Orders, signals: list[Given], holder: str) -> None:
        """Read nothing yet; the first ``look`` finds all requests without an answer.

        ``orders``: the engine's methods and data with which requests are carried out. ``signals``: the engine's list of
        signals to sleeping entries, which its next turn stores. ``holder``: name of the engine's lease.
        """
        self._store, self._orders, self._signals, self._holder = store, orders, signals, holder
        self._seen = 0
        self._open: dict[int, ExecutionRow] | None = None
        self.answers: list[RequestAnswer] = []

    def look(self) -> bool:
        """Carry out new requests. Return True if there were any; looking without result costs almost nothing."""
        asked = self._store.requests(self._seen)
        if not asked:
            return False
        self._open = None
        for request in asked:
            self._seen = request.number
            self.answers.append(RequestAnswer(request.number, self._answer(request)))
        return True

    def _row(self, request: RequestRow) -> ExecutionRow | None:
        """Return the execution of a request. The open executions are read once for all requests of one ``look``."""
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
        if request.kind is RequestKind.START and not request.execution:
            return self._orders.group_runs.act(request)
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
        """Carry out a request about one execution. Raise ``ProblemsError`` if that is impossible."""
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
        """Carry out a request about resources of an execution to a target, or about phases of a deployment's nodes."""
        if request.kind in {RequestKind.WAKE, RequestKind.SIGNAL, RequestKind.CANCEL}:
            is_cancel = request.kind is RequestKind.CANCEL
            request_problems.raise_if_ended(row, "nothing is left to cancel" if is_cancel else "no call in it sleeps")
        else:
            self._refuse_reopening(row)
        self._orders.about_resources(row, request)

    def _stop(self, body: Mapping[str, Any]) -> Mapping[str, Value]:
        holder = body.get("holder")
        is_ours = holder == self._holder if holder else body.get("pid") == os.getpid()  # an older version names the pid
        if not is_ours:
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
        """Check that an ended execution may continue: its deployment exists, no other execution claims its instances.

        Raises: PL-C016 naming the other execution, PL-C010.
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
    """Return True for a request about some resources of an execution, or their phases."""
    if request.kind is RequestKind.CANCEL:
        return "subjects" in request.body
    return request.kind in ABOUT_RESOURCES


def _chosen(body: Mapping[str, Any]) -> tuple[int | None, np.ndarray | None]:
    """Return (graph, positions) of the entries that a request names, with None for what it does not name."""
    positions = body.get("positions")
    return body.get("graph"), None if positions is None else np.array(positions, np.int32)
