"""Run a workflow over a deployment group, and pause, change, cancel and retry such runs (GR3, GR4, GR7)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.model.rows.causes import CauseKey
from phaseline.model.rows.groups import NO_LIMIT, RUN, NewGroupRun
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands import start_workflow
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.submission import RunSubmission
from phaseline.use_cases.lookup.blocking_executions import compatible_executions, raise_if_busy
from phaseline.use_cases.lookup.find import listed
from phaseline.use_cases.prepare import pre_post, workflow_start
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS, ExecutionOptions
from phaseline.use_cases.queries.estate.group_runs import RunView, executions, find_run, run_view
from phaseline.use_cases.queries.estate.groups import find_group

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.execution import IfBusy
    from phaseline.model.rows.groups import GroupMember, GroupRow, RunRow
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.model.rows.rows import ConcurrencyRule, NewExecution

IfMemberBusy = Literal["wait", "refuse", "skip", "force"]
Only = Literal["failed", "canceled", "unsure"]
UNAVAILABLE = frozenset(("PL-P009", "PL-P010", "PL-C080"))
"""Codes of problems for which a deployment is left out with ``skip_unavailable``: no such workflow, not available now."""
BUSY = "PL-C016"
TOLD = 20
"""Most deployments with problems that one message names."""


@frozen
class RunOrder:
    """What a user gives for a run over a group.

    ``each_parameters``: {deployment: parameters that override the others}. ``concurrency``: how many executions are
    open at a time, ``N`` or ``N%`` of all; None: all, or the limit of the settings. ``stop_after``: ``N`` or ``N%`` of the
    executions; after more failures those that have not begun are canceled. ``order``: ``name`` or ``label:KEY``.
    """

    workflow: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    each_parameters: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    allow_custom: bool = False
    force: bool = False
    concurrency: str | None = None
    stop_after: str | None = None
    if_busy: IfMemberBusy = "wait"
    skip_unavailable: bool = False
    order: str = "name"


def _followed_again(ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> RunSubmission[RunView]:
    return _submission(ctx, find_run(ctx.store, str(found.answer["run"])), 0)


def _shown_again(ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> RunView:
    return run_view(ctx, find_run(ctx.store, str(found.answer["run"])))


@once("run_group", _followed_again)
def run_group(
    ctx: RequestContext,
    name: str,
    order: RunOrder,
    *,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> RunSubmission[RunView]:
    """Store an execution of a workflow for each member of a group, all in one transaction, and begin them.

    Raises: PL-C160, PL-C171 (a limit that cannot be read, parameters for a deployment that is no member, an empty
    group), PL-C172 with all deployments for which the workflow is not available, unless they are left out, and the
    problems of the parameters; then nothing is stored.
    """
    group = find_group(ctx.store, name)
    members = _ordered(ctx, group, order.order)
    _raise_if_strange(group, members, order.each_parameters)
    prepared = _prepare_all(ctx, group, members, order, manner)
    usual = ctx.settings.groups_concurrency
    concurrency = str(usual) if order.concurrency is None and usual else order.concurrency
    new = NewGroupRun(
        group.number,
        group.name,
        order.workflow,
        _amount("--concurrency", concurrency, len(prepared.new), least=1),
        _amount("--stop-after", order.stop_after, len(prepared.new), least=0),
    )
    with ctx.store.as_one(given) as answer:
        row = ctx.store.group_runs.begin(new, ctx.actor)
        answer["run"] = row.id
        for one, beside in prepared.new:
            cause = CauseKey("group", row.number, str(one.deployment))
            execution = altered(one, request=altered(one.request, group_run=row.number), cause=cause)
            ctx.store.create_execution(execution, asks=False, beside=beside)
        request = _ask(ctx, row, "start")
    ctx.notice(f"{row.id}: {order.workflow} over {len(prepared.new)} deployments of '{name}'")

    def view() -> RunView:
        return run_view(ctx, find_run(ctx.store, row.id), left_out=prepared.left_out, warnings=prepared.warnings)

    return RunSubmission(row.number, row.id, row.group_name, request, view)


def follow_group(ctx: RequestContext, run: str) -> RunSubmission[RunView]:
    """Wait until the executions of a run have ended or need an operator. Raises: PL-C160, PL-C170."""
    return _submission(ctx, find_run(ctx.store, run), 0)


@once("cancel_run", _followed_again)
def cancel_run(
    ctx: RequestContext,
    run: str,
    *,
    how: Literal["wait", "force", "kill"] = "wait",
    given: NewOrder | None = None,
) -> RunSubmission[RunView]:
    """Cancel all open executions of a run by one request; ``how`` as for one execution. Raises: PL-C160, PL-C170."""
    row = find_run(ctx.store, run)
    with ctx.store.as_one(given) as answer:
        answer["run"] = row.id
        request = _ask(ctx, row, "cancel", how=how)
    return _submission(ctx, row, request)


@once("retry_run", _followed_again)
def retry_run(
    ctx: RequestContext, run: str, *, only: Only | None = None, given: NewOrder | None = None
) -> RunSubmission[RunView]:
    """Retry the failed, canceled and unsure executions of a run by one request, or only those of one kind.

    What has completed is not called again. Raises: PL-C160, PL-C170, PL-C173 if there is nothing to retry.
    """
    row = find_run(ctx.store, run)
    statuses = {"failed": "failed", "canceled": "canceled", "unsure": "attention"}
    wanted = {statuses[only]} if only is not None else set(statuses.values())
    if not any(one.status.value in wanted for one in executions(ctx.store, row)):
        mend = f"see its executions: phaseline groups events {row.id}"
        raise problem_error("PL-C173", f"no execution of {row.id} is {' or '.join(sorted(wanted))}", mend)
    with ctx.store.as_one(given) as stored:
        stored["run"] = row.id
        request = _ask(ctx, row, "retry", **({} if only is None else {"only": only}))

    def view() -> RunView:
        answer = ctx.store.answer_of(request) or {}
        refused = answer.get("refused")
        return run_view(
            ctx, find_run(ctx.store, row.id), refused=[*map(str, refused)] if isinstance(refused, list) else ()
        )

    return RunSubmission(row.number, row.id, row.group_name, request, view)


@once("pause_run", _shown_again)
def pause_run(ctx: RequestContext, run: str, *, given: NewOrder | None = None) -> RunView:
    """Begin no further execution of a run; what is open continues. Raises: PL-C160, PL-C170, PL-C173 if it has ended."""
    return _changed(ctx, run, given, is_paused=True)


@once("resume_run", _followed_again)
def resume_run(ctx: RequestContext, run: str, *, given: NewOrder | None = None) -> RunSubmission[RunView]:
    """End the pause of a run, and follow it. Raises: PL-C160, PL-C170, PL-C173 if it has ended."""
    _changed(ctx, run, given, is_paused=False)
    return follow_group(ctx, run)


@once("set_run", _shown_again)
def set_run(ctx: RequestContext, run: str, *, concurrency: str, given: NewOrder | None = None) -> RunView:
    """Change how many executions of a run are open at a time, while it runs.

    Raises: PL-C160, PL-C170, PL-C171, PL-C173 if it has ended.
    """
    return _changed(ctx, run, given, concurrency=concurrency)


def _changed(
    ctx: RequestContext,
    run: str,
    given: NewOrder | None,
    *,
    concurrency: str | None = None,
    is_paused: bool | None = None,
) -> RunView:
    row = find_run(ctx.store, run)
    rows = executions(ctx.store, row)
    if all(one.status.is_ended for one in rows):
        raise problem_error("PL-C173", f"{row.id} has ended", f"repeat what failed: phaseline groups retry {row.id}")
    limit = row.concurrency if concurrency is None else _amount("--concurrency", concurrency, len(rows), least=1)
    with ctx.store.as_one(given) as answer:
        answer["run"] = row.id
        changed = ctx.store.group_runs.change(
            row, concurrency=limit, is_paused=row.is_paused if is_paused is None else is_paused
        )
        _ask(ctx, row, "renew")
    return run_view(ctx, changed or row)


def _submission(ctx: RequestContext, row: RunRow, request: int) -> RunSubmission[RunView]:
    return RunSubmission(
        row.number, row.id, row.group_name, request, lambda: run_view(ctx, find_run(ctx.store, row.id))
    )


def _ask(ctx: RequestContext, row: RunRow, what: str, **others: Value) -> int:
    """Store a request to the owner of the store about all executions of a run."""
    return ctx.store.ask(RequestKind.START, 0, {RUN: row.number, "do": what, **others}, ctx.actor)


# -- what is checked before anything is stored --------------------------------------------------------------------


@frozen
class _PreparedRun:
    new: Sequence[tuple[NewExecution, ConcurrencyRule]]
    left_out: Sequence[str]
    warnings: Sequence[Problem]


def _prepare_all(
    ctx: RequestContext,
    group: GroupRow,
    members: Sequence[GroupMember],
    order: RunOrder,
    manner: ExecutionOptions,
) -> _PreparedRun:
    """Check the workflow for each member. Raises: all problems; those of availability as one PL-C172."""
    if_busy: IfBusy = "refuse" if order.if_busy == "skip" else order.if_busy
    manner = altered(manner, if_busy=if_busy)
    new: list[tuple[NewExecution, ConcurrencyRule]] = []
    left_out: list[str] = []
    unavailable: dict[str, Problem] = {}
    problems: dict[str, Problem] = {}
    warnings: dict[str, Problem] = {}
    for member in members:
        try:
            new.append(_prepared(ctx, member, order, manner, warnings))
        except ProblemsError as error:
            codes = {problem.code for problem in error.problems}
            if order.if_busy == "skip" and codes == {BUSY}:
                left_out.append(member.name)
            elif codes <= UNAVAILABLE:
                unavailable[member.name] = error.problems[0]
            else:
                problems.update((str(problem), problem) for problem in error.problems)
    if problems:
        raise ProblemsError(problems.values())
    if unavailable and not order.skip_unavailable:
        first = next(iter(unavailable.values()))
        shown = ", ".join([*unavailable][:TOLD]) + (
            f" and {len(unavailable) - TOLD} more" if len(unavailable) > TOLD else ""
        )
        message = f"'{order.workflow}' is not available for {len(unavailable)} of {len(members)} deployments: {shown}; {first.message}"
        raise problem_error("PL-C172", message, "leave them out: --skip-unavailable; or start it all the same: --force")
    left_out += unavailable
    if not new:
        mend = f"see its members: phaseline groups show {group.name}"
        why = f": all are left out, {listed(left_out)}" if left_out else " has no member"
        raise problem_error("PL-C171", f"nothing would run: the group '{group.name}'{why}", mend)
    return _PreparedRun(new, left_out, tuple(warnings.values()))


def _prepared(
    ctx: RequestContext,
    member: GroupMember,
    order: RunOrder,
    manner: ExecutionOptions,
    warnings: dict[str, Problem],
) -> tuple[NewExecution, ConcurrencyRule]:
    parameters = {**order.parameters, **order.each_parameters.get(member.name, {})}
    start = workflow_start.WorkflowStart(
        order.workflow, member.name, parameters, order.allow_custom, order.force, order.force
    )
    prepared = workflow_start.prepare(ctx, start, manner=manner)
    if prepared.first:
        mend = "uninstall them before, or as a group of their own"
        message = f"deployments belong to '{member.name}': {listed(row.name for row in prepared.first)}"
        raise problem_error("PL-C171", message, mend, subject=member.name)
    request = start_workflow.guarded_request(ctx, prepared, start)
    raise_if_busy(ctx.store, prepared.deployment, prepared.topology, request)
    new, more = pre_post.new_execution(ctx, prepared.deployment.number, request)
    warnings.update((problem.message, problem) for problem in (*prepared.warnings, *more))
    return new, compatible_executions(prepared.topology, request)


def _ordered(ctx: RequestContext, group: GroupRow, order: str) -> Sequence[GroupMember]:
    """Return the members in the order in which their executions begin. Raises: PL-C171."""
    members = ctx.store.groups.members(group)
    if order == "name":
        return members
    kind, _, key = order.partition(":")
    if kind != "label" or not key:
        raise problem_error("PL-C171", f"'{order}' is no order of deployments", "write 'name' or 'label:KEY'")
    values = {
        member.number: sorted(label.value for label in ctx.store.labels.of(member.number) if label.key == key)
        for member in members
    }
    return sorted(members, key=lambda member: (not values[member.number], values[member.number], member.name))


def _raise_if_strange(
    group: GroupRow, members: Sequence[GroupMember], given: Mapping[str, Mapping[str, Value]]
) -> None:
    """Raise PL-C171 for parameters of deployments that are not in the group."""
    names = {member.name for member in members}
    strange = [name for name in given if name not in names]
    if strange:
        mend = did_you_mean(strange[0], names) or f"see its members: phaseline groups show {group.name}"
        raise problem_error(
            "PL-C171", f"there are parameters for {listed(strange)}, not in the group '{group.name}'", mend
        )


def _amount(option: str, text: str | None, total: int, *, least: int) -> int:
    """Return ``N`` or ``N%`` of a total as a number, ``NO_LIMIT`` without a text. A share is at least ``least``.

    Raises: PL-C171.

    >>> _amount("--concurrency", "7", 10, least=1), _amount("--concurrency", "1%", 10, least=1)
    (7, 1)
    """
    if text is None:
        return NO_LIMIT
    number = text.strip().removesuffix("%")
    is_share = text.strip().endswith("%")
    if not (number.isascii() and number.isdecimal() and len(number) < 10 and not (is_share and int(number) > 100)):
        mend = "write a number such as 5, or a share from 0% to 100%"
        raise problem_error("PL-C171", f"{option} is '{text}'", mend)
    if not is_share:
        return int(number)
    return max(least, math.floor(total * int(number) / 100)) if int(number) else 0
