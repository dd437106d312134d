"""Start any workflow of an existing deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.execution import UNCHECKED, WATCHED_WORKFLOWS
from phaseline.model.rows.orders import RequestId
from phaseline.plan.preview import agent_warnings
from phaseline.plan.workflows.uninstall import RECURSIVE, UNINSTALL
from phaseline.use_cases.commands.orders import given_orders
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.submission import Submission
from phaseline.use_cases.lookup.blocking_executions import compatible_executions, is_read, raise_if_busy
from phaseline.use_cases.prepare import consumers, foreseen_stops
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS
from phaseline.use_cases.prepare.pre_post import new_execution
from phaseline.use_cases.prepare.workflow_start import Prepared, WorkflowStart, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.execution.execution import Request
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.views.views import ExecutionView


@once("start")
def start(
    ctx: RequestContext,
    order: WorkflowStart,
    *,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Run a workflow of a deployment.

    A recursive uninstall first uninstalls the deployments that belong to this one, one after the other. If one of them
    does not complete, the command ends and returns the view of that execution. Raises: ``ProblemsError`` with all
    problems that ``prepare`` finds, PL-C016 while an execution is open that claims the same instances, if the options
    refuse to wait.
    """
    prepared = prepare(ctx, order, manner=manner)
    request = guarded_request(ctx, prepared, order)
    if request is not prepared.request:
        prepared = altered(prepared, request=request)
    warnings: tuple[Problem, ...] = ()
    if manner.breakpoints:
        about = prepared.deployment, prepared.topology
        warnings = foreseen_stops.look_before_start(ctx, manner.breakpoints, prepared.request, about)
    found = _next(ctx, order, prepared, manner, prepared.first, given)
    return altered(found, warnings=(*warnings, *found.warnings)) if warnings else found


def guarded_request(ctx: RequestContext, prepared: Prepared, order: WorkflowStart) -> Request:
    """Return the request of a workflow that may take away what other deployments read (DP7).

    Deployments that a recursive uninstall removes, too, do not count. Raises: PL-C131.
    """
    if order.is_part:
        return altered(prepared.request, despite=UNCHECKED)
    mapped = prepared.topology.blueprint.workflows.get(prepared.request.workflow)
    if (prepared.request.workflow if mapped is None else mapped.built_in) not in WATCHED_WORKFLOWS:
        return prepared.request
    if not any(is_read(ctx.store, row) for row in (prepared.deployment, *prepared.first)):
        return prepared.request
    besides = frozenset((prepared.deployment.number, *(row.number for row in prepared.first)))
    for row in prepared.first:
        below = altered(prepared.request, workflow=UNINSTALL)
        consumers.guarded(
            ctx, row, ctx.store.topology(row.number), below, force=order.despite_consumers, besides=besides
        )
    about = prepared.deployment, prepared.topology, prepared.request
    return consumers.guarded(ctx, *about, force=order.despite_consumers, besides=besides)


def _next(
    ctx: RequestContext,
    order: WorkflowStart,
    prepared: Prepared,
    manner: ExecutionOptions,
    first: Sequence[DeploymentRow],
    given: NewOrder | None,
) -> Submission:
    """Submit the uninstall of the first deployment in ``first``, or the workflow itself if ``first`` is empty.

    When that uninstall has completed, the submission continues with the next deployment.
    """
    if not first:
        return _submit(ctx, order, prepared, given)
    child = first[0]
    parameters = {**order.parameters, RECURSIVE: False}
    name = order.workflow if prepared.own is None else UNINSTALL  # the child need not know the other name
    alone = WorkflowStart(name, child.name, parameters, order.allow_custom, order.force, is_part=True)
    part = ctx if given is None else ctx.under(RequestId(f"{given.id}/{child.name}"))
    submission = start(part, alone, manner=altered(manner, breakpoints=()))

    def then(view: ExecutionView) -> ExecutionView | Submission:
        if not view.is_good:
            return view

        return given_orders.next_once(
            ctx, given, "uninstall", lambda: _next(ctx, order, prepared, manner, first[1:], given)
        )

    return altered(submission, then=then)


def _submit(ctx: RequestContext, order: WorkflowStart, prepared: Prepared, given: NewOrder | None) -> Submission:
    raise_if_busy(ctx.store, prepared.deployment, prepared.topology, prepared.request)
    agents = agent_warnings.agent_warning(prepared.topology.nodes) if order.workflow == "install" else None
    new, more = new_execution(ctx, prepared.deployment.number, prepared.request)
    with ctx.store.as_one(given):
        row = ctx.store.create_execution(
            new, asks=True, beside=compatible_executions(prepared.topology, prepared.request)
        )
    return Submission(row, warnings=(*prepared.warnings, *((agents,) if agents else ()), *more))
