"""Plan workflows of existing deployments, and store plans on request to apply them later."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.stored_plans import PLAN, Aim, StoredPlan
from phaseline.use_cases.commands.apply_plan import base_of, plain
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS
from phaseline.use_cases.prepare.plan_preview import preview_uninstall, preview_workflow

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.execution import Request
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart


def keep(
    ctx: RequestContext, row: DeploymentRow, request: Request, planned: PlanPreview, aim: Aim | None = None
) -> StoredPlan:
    """Store a plan together with the present state of the deployment, and return it.

    ``aim``: for an update, the new blueprint with its inputs and its code.
    """
    return ctx.store.stored_plans.add(new_plan(ctx, row, request, planned, aim))


def new_plan(
    ctx: RequestContext, row: DeploymentRow, request: Request, planned: PlanPreview, aim: Aim | None = None
) -> StoredPlan:
    """Return a plan to be stored, with the present state of the deployment and ``aim`` as in ``keep``."""
    base = base_of(ctx, row)
    body = cast("dict[str, Value]", plain(planned.summary))
    asked = altered(request, parameters={name: value for name, value in request.parameters.items() if name != PLAN})
    now = ctx.clock.now()
    return StoredPlan(0, row.number, asked, now, ctx.actor.name, base, body, planned.text, aim)


def plan_uninstall(
    ctx: RequestContext,
    name: str,
    *,
    ignore_failure: bool = False,
    save: bool = False,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
) -> PlanPreview:
    """Return the plan that an uninstall would have now. Raises: PL-C010, PL-C024.

    ``save``: also store the plan, to be applied later.
    """
    row, request, found = preview_uninstall(ctx, name, ignore_failure=ignore_failure, manner=manner)
    return altered(found, id=keep(ctx, row, request, found).id) if save else found


def plan_workflow(
    ctx: RequestContext, order: WorkflowStart, *, save: bool = False, manner: ExecutionOptions = DEFAULT_OPTIONS
) -> PlanPreview:
    """Return the plan that a workflow of a deployment would have now.

    ``save``: also store the plan, to be applied later. Raises: ``ProblemsError`` with all problems that ``prepare``
    finds.
    """
    row, request, found = preview_workflow(ctx, order, manner=manner)
    return altered(found, id=keep(ctx, row, request, found).id) if save else found
