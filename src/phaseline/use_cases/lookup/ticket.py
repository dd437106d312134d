"""Asking the owner of the store for something, and hearing its answer.

How an answer comes about, by an engine in this process or by that of another one, a command does not know: its workplace was given a
conductor by whoever made it (first step of RF3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen, mutable
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import RequestKind

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.watcher import Watcher
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import ConcurrencyRule, ExecutionRow
    from phaseline.ports import Store
    from phaseline.views.views import ExecutionView


@mutable
class Ticket:
    """What somebody waits for: an execution, and the request about it (0: it begins, or is only looked at).

    ``refusal``: what is wrong with the request, once the owner has said so.
    """

    row: ExecutionRow
    request: int = 0
    has_answer: bool = False
    refusal: Problem | None = None

    @property
    def is_new(self) -> bool:
        """True for an execution that nobody has begun as far as is known here: it need not be looked at before owning."""
        return not self.request and self.row.status is ExecutionStatus.QUEUED and not self.has_answer

    def is_answered(self, store: Store) -> bool:
        """True once an owner has taken the request up or refused it."""
        if self.has_answer:
            return True
        if self.request:
            answer = store.answer_of(self.request)
            self.has_answer = answer is not None
            if answer is not None:
                from phaseline.run.loop.request_reader import problem_of

                self.refusal = problem_of(answer)
        else:
            self.hear_of(store.execution(self.row.id))
            if not self.has_answer:  # it may be queued behind others
                asked = store.requests_of(self.row.number)
                self.has_answer = any(request.kind is RequestKind.START and request.answered_at for request in asked)
        return self.has_answer

    def hear_of(self, row: ExecutionRow | None) -> None:
        """An execution that nothing was asked about is answered by its beginning; ``row``: how it is now."""
        if not self.request:
            self.has_answer |= row is None or row.status is not ExecutionStatus.QUEUED


def ask(
    ctx: RequestContext,
    kind: RequestKind,
    row: ExecutionRow,
    body: Mapping[str, Value] | None = None,
    *,
    beside: ConcurrencyRule | None = None,
    given: NewOrder | None = None,
) -> Ticket:
    """Ask for something about an execution; the answer comes from the owner, be it this process or another.

    ``beside``: which open executions an ended one may go on beside; None: none of its deployment. ``given``: the order that this is.
    """
    with ctx.store.as_one(given) as answer:
        answer["execution"] = row.id
        request = ctx.store.ask(kind, row.number, {"id": row.id, **(body or {})}, ctx.actor, beside=beside)
    return Ticket(row, request)


class Conduct(Protocol):
    """Runs or follows an execution until it has ended, needs a person, or the user leaves."""

    def __call__(
        self, ctx: RequestContext, ticket: Ticket, watcher: Watcher | None = None, *, detach: bool = False
    ) -> ExecutionView:
        """The execution as it is then. Raises: what the owner refused."""
        ...


@frozen
class Conductor:
    """What a workplace is given for it. ``settle``: returns when all these requests have an answer; PL-C035 if they get none."""

    conduct: Conduct
    settle: Callable[[RequestContext, Sequence[int]], None]


def conduct(
    ctx: RequestContext, ticket: Ticket, watcher: Watcher | None = None, *, detach: bool = False
) -> ExecutionView:
    """See an execution through, and see that others go on. ``detach``: leave as soon as somebody has taken it up.

    Raises: what the owner refused.
    """
    return ctx.app.port(Conductor).conduct(ctx, ticket, watcher, detach=detach)


def await_answers(ctx: RequestContext, requests: Sequence[int]) -> None:
    """Have all of these answered, by the engine that runs or by this process for the moment. Raises: PL-C035."""
    ctx.app.port(Conductor).settle(ctx, requests)
