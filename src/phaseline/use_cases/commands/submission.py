"""The results of commands that leave work to an engine: stored executions and requests (ADR 0035).

A command itself never waits; its caller may follow the submission until the answer arrives.
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
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.views.views import ExecutionView

A = TypeVar("A")
T = TypeVar("T")


@frozen
class Submission:
    """A stored execution, and the number of the stored request about it.

    ``request`` 0: there is no request; the execution starts or is only followed. ``warnings``: possible problems.
    ``notices``: sentences to show before the execution is followed; ``notes``: sentences to add to its view. ``then``:
    called when the execution has ended; it returns the next submission of the command or the final view. None: this is
    the last execution of the command.
    """

    row: ExecutionRow
    request: int = 0
    warnings: tuple[Problem, ...] = ()
    notices: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    then: Callable[[ExecutionView], ExecutionView | Submission] | None = None


@frozen
class SubmissionFor(Generic[T]):
    """An execution that must end before a command can answer.

    ``answer``: function that is called when the execution has ended, and returns the command's answer or raises an error.
    """

    submission: Submission
    answer: Callable[[ExecutionView], T]


@frozen
class Submissions(Generic[T]):
    """Stored requests that only need an answer. ``view``: returns the command's answer when all have been answered.

    ``continued``: executions that continue, with one request each; if no engine runs, they are followed.
    """

    requests: Sequence[int]
    view: Callable[[], T]
    continued: Sequence[Submission] = ()


@frozen
class RunSubmission(Generic[T]):
    """A stored request about all executions of a run over a deployment group.

    ``run``: number of the run; ``id`` and ``group`` are its id and the name of the group. ``view``: returns the command's
    answer. ``is_followed``: wait until the executions have ended or need an operator.
    """

    run: int
    id: str
    group: str
    request: int
    view: Callable[[], T]
    is_followed: bool = True
    warnings: tuple[Problem, ...] = ()


@mutable
class SubmissionAnswer:
    """Records whether an owner of the store has accepted a submission, as far as is known.

    ``is_there``: it was accepted or refused. ``refusal``: the reason if the owner refused the request.
    """

    submission: Submission
    is_there: bool = False
    refusal: Problem | None = None

    @property
    def is_new(self) -> bool:
        """True for a queued execution submitted without a request, until it is known that an owner accepted it.

        The store is not read for this. A new owner of the store finds its queued executions by itself.
        """
        submission = self.submission
        return not submission.request and submission.row.status is ExecutionStatus.QUEUED and not self.is_there

    def has_come(self, store: TenantStore) -> bool:
        """Read the store, and return True once an owner has accepted or refused the submission."""
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
        """Record whether an execution without a request was accepted: it was if it is no longer queued.

        ``row``: the present row of the execution; None: it was purged, which shows that it was accepted before.
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
    """Store a request about an execution, which the owner of the store answers.

    ``beside``: function that returns whether an ended execution may continue beside a given open execution of the
    deployment; None: it may not continue beside any. ``given``: the order to which the request belongs.
    """
    with ctx.store.as_one(given) as answer:
        answer["execution"] = row.id
        request = ctx.store.ask(kind, row.number, {"id": row.id, **(body or {})}, ctx.actor, beside=beside)
    return Submission(row, request)


def adapt(found: A | SubmissionFor[A], change: Callable[[A], T]) -> T | SubmissionFor[T]:
    """Return the answer of a command, converted by ``change``; if an execution must end first, convert the answer then."""
    if not isinstance(found, SubmissionFor):
        return change(found)
    return SubmissionFor(found.submission, lambda view: change(found.answer(view)))


def raise_refusals(store: TenantStore, requests: Sequence[int]) -> None:
    """Raise all problems with which the owner of the store refused these requests."""
    refused = [problem for number in requests if (problem := _refusal(store, number)) is not None]
    if refused:
        raise ProblemsError(refused)


def _refusal(store: TenantStore, request: int) -> Problem | None:
    return request_problems.problem_of(store.answer_of(request) or {})
