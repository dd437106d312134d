"""The results of commands: stored executions and requests, for an engine (ADR 0035).

A command never waits; its caller may follow the submission until the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from phaseline.lang.fast_dataclasses import frozen, mutable
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import RequestKind
from phaseline.plan.requests import request_problems

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import ConcurrencyRule, ExecutionRow
    from phaseline.ports.store import Store
    from phaseline.views.views import ExecutionView

A = TypeVar("A")
T = TypeVar("T")


@frozen
class Submission:
    """A stored execution, and the number of the stored request about it.

    ``request`` 0: the execution starts, or is only followed. ``warnings``: possible problems. ``notices``: sentences
    to show before the execution is followed; ``notes``: sentences of its view. ``then``: a function that is called
    when the execution has ended; it returns the next submission of the command or the final view. None: this is the
    last execution of the command.
    """

    row: ExecutionRow
    request: int = 0
    warnings: tuple[Problem, ...] = ()
    notices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    then: Callable[[ExecutionView], ExecutionView | Submission] | None = None


@frozen
class SubmissionFor(Generic[T]):
    """An execution that a command needs before it can give another answer.

    ``answer``: a function that returns this answer when the execution has ended, or raises an error if there is none.
    """

    submission: Submission
    answer: Callable[[ExecutionView], T]


@frozen
class Submissions(Generic[T]):
    """Stored requests that only need an answer. ``view``: a function that then returns the answer of the command.

    ``continued``: executions that continue, with one request each; if no engine runs, they are followed.
    """

    requests: Sequence[int]
    view: Callable[[], T]
    continued: Sequence[Submission] = ()


@mutable
class SubmissionAnswer:
    """Whether an owner of the store has accepted a submission. ``refusal``: the reason if it refused the request."""

    submission: Submission
    is_there: bool = False
    refusal: Problem | None = None

    @property
    def is_new(self) -> bool:
        """True for a queued execution without a request that no owner is known to have accepted.

        The store is not read: a new owner of the store knows its queued executions itself.
        """
        submission = self.submission
        return not submission.request and submission.row.status is ExecutionStatus.QUEUED and not self.is_there

    def has_come(self, store: Store) -> bool:
        """True once an owner has accepted or refused the request."""
        if self.is_there:
            return True
        row, request = self.submission.row, self.submission.request
        if request:
            answer = store.answer_of(request)
            self.is_there = answer is not None
            if answer is not None:
                self.refusal = request_problems.problem_of(answer)
        else:
            self.note_row(store.execution(row.id))
            if not self.is_there:  # it may be queued behind others
                asked = store.requests_of(row.number)
                self.is_there = any(one.kind is RequestKind.START and one.answered_at for one in asked)
        return self.is_there

    def note_row(self, row: ExecutionRow | None) -> None:
        """Note whether an execution without a request has been accepted: it is purged or no longer queued.

        ``row``: the present row of the execution; None: it was purged.
        """
        if not self.submission.request:
            self.is_there |= row is None or row.status is not ExecutionStatus.QUEUED


def ask(
    ctx: RequestContext,
    kind: RequestKind,
    row: ExecutionRow,
    body: Mapping[str, Value] | None = None,
    *,
    beside: ConcurrencyRule | None = None,
    given: NewOrder | None = None,
) -> Submission:
    """Store a request about an execution; the owner of the store answers it.

    ``beside``: a test for open executions beside which an ended execution may continue; None: it may continue beside
    no open execution of its deployment. ``given``: the order to which the request belongs.
    """
    with ctx.store.as_one(given) as answer:
        answer["execution"] = row.id
        request = ctx.store.ask(kind, row.number, {"id": row.id, **(body or {})}, ctx.actor, beside=beside)
    return Submission(row, request)


def adapt(found: A | SubmissionFor[A], change: Callable[[A], T]) -> T | SubmissionFor[T]:
    """Convert the answer of one command to that of another: at once, or when its execution has ended."""
    if not isinstance(found, SubmissionFor):
        return change(found)
    return SubmissionFor(found.submission, lambda view: change(found.answer(view)))


def raise_refusals(store: Store, requests: Sequence[int]) -> None:
    """Raise the refusals of the owner process for these requests."""
    refused = [problem for number in requests if (problem := _refusal(store, number)) is not None]
    if refused:
        raise ProblemsError(refused)


def _refusal(store: Store, request: int) -> Problem | None:
    return request_problems.problem_of(store.answer_of(request) or {})
