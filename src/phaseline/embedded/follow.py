"""Follow what a command has submitted until its answer; this is the last step of prepare, submit and follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, overload

from phaseline.embedded.run_execution import run_or_watch
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import ProblemsError
from phaseline.use_cases.commands.submission import (
    RunSubmission,
    Submission,
    SubmissionAnswer,
    SubmissionFor,
    raise_refusals,
)
from phaseline.use_cases.queries.executions import view_execution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.app.watcher import Watcher
    from phaseline.use_cases.commands.submission import Submissions
    from phaseline.views.views import ExecutionView

T = TypeVar("T")


@overload
def follow(
    ctx: RequestContext, submission: Submission, watcher: Watcher | None = None, *, detach: bool = False
) -> ExecutionView: ...
@overload
def follow(
    ctx: RequestContext,
    submission: SubmissionFor[T] | Submissions[T] | RunSubmission[T],
    watcher: Watcher | None = None,
    *,
    detach: bool = False,
) -> T: ...
def follow(
    ctx: RequestContext,
    submission: Submission | SubmissionFor[T] | Submissions[T] | RunSubmission[T],
    watcher: Watcher | None = None,
    *,
    detach: bool = False,
) -> ExecutionView | T:
    """Follow what a command has submitted, and return the command's answer.

    An execution is followed until it has ended or needs an operator: this process runs it, or watches the owner of the
    store run it. Requests are answered by the running engine, or by this process, which then owns the store briefly.
    ``detach``: return as soon as an engine has accepted the last execution of the command. Raises: refusals of the
    owner, PL-C035.
    """
    if isinstance(submission, Submission):
        return _to_the_end(ctx, submission, watcher, detach=detach)
    if isinstance(submission, RunSubmission):
        from phaseline.embedded.follow_run import follow_run  # few commands run groups

        return follow_run(ctx, submission, watcher, detach=detach)
    if isinstance(submission, SubmissionFor):
        return submission.answer(_to_the_end(ctx, submission.submission, watcher, detach=False))
    if submission.requests:
        _have_answered(ctx, submission.requests)
    for one in submission.continued:
        if ctx.store.owner() is None:
            _to_the_end(ctx, one, watcher, detach=detach)
    return submission.view()


def _to_the_end(ctx: RequestContext, submission: Submission, watcher: Watcher | None, *, detach: bool) -> ExecutionView:
    """Follow the executions of a command, one after the other, and return the view of the last."""
    while True:
        _show(submission, watcher)
        is_last = submission.then is None
        view = _past(ctx, submission) or run_or_watch(ctx, submission, watcher, detach=detach and is_last)
        if submission.notes:
            view = altered(view, notices=(*view.notices, *submission.notes))
        if submission.then is None:
            return view
        found = submission.then(view)
        if not isinstance(found, Submission):
            return found
        submission = found


def _past(ctx: RequestContext, submission: Submission) -> ExecutionView | None:
    """Return the view of an execution that had ended already and whose request is answered.

    Return None if the execution must be followed.
    """
    if not submission.row.status.is_ended:
        return None
    answer = SubmissionAnswer(submission)
    if not answer.has_come(ctx.store):
        return None
    if answer.refusal is not None:
        raise ProblemsError([answer.refusal])
    now = ctx.store.execution(submission.row.id)
    return None if now is None or not now.status.is_ended else view_execution(ctx.store, now)


def _show(submission: Submission, watcher: Watcher | None) -> None:
    if watcher is not None:
        for warning in submission.warnings:
            watcher.noticed(f"warning {warning}; {warning.mend}")
        for notice in submission.notices:
            watcher.noticed(notice)


def _have_answered(ctx: RequestContext, requests: Sequence[int]) -> None:
    from phaseline.embedded.settle_requests import settle

    settle(ctx, requests)
    raise_refusals(ctx.store, requests)
