"""Update a deployment to another blueprint, and plan such an update (W60).

The steps of ``deployments update shop new.yaml``: the file is read with the inputs of the deployment, overridden by
new inputs; ``revise`` returns added and removed instances; the plan is built from the planner's preview, and is stored
with the new blueprint (``Aim``); the planner of the execution reads the plan and switches to that blueprint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.lang.gc_pause import undisturbed
from phaseline.model.execution.stored_plans import PLAN
from phaseline.plan.preview import update_summary
from phaseline.plan.preview import update_text as preview_update_text
from phaseline.plan.rounds import round_preview
from phaseline.plan.workflows import apply_revision
from phaseline.plan.workflows import update as workflows_update
from phaseline.use_cases.commands.keep_plan import keep
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.submission import Submission
from phaseline.use_cases.lookup import package_types
from phaseline.use_cases.lookup.blocking_executions import compatible_executions, raise_if_busy
from phaseline.use_cases.prepare import consumers
from phaseline.use_cases.prepare.foreseen_stops import look_for_stops
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS
from phaseline.use_cases.prepare.plan_preview import PlanPreview, limits, summaries, with_reads
from phaseline.use_cases.prepare.pre_post import new_execution
from phaseline.use_cases.prepare.pre_post_preview import with_surroundings
from phaseline.use_cases.prepare.rounds import foresee_rounds
from phaseline.use_cases.prepare.update_preparation import PreparedUpdate, UpdateOrder, prepare_update

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.orders import NewOrder
    from phaseline.use_cases.prepare.options import ExecutionOptions


@once("update")
def update(
    ctx: RequestContext,
    order: UpdateOrder,
    *,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Update a deployment to another blueprint. The plan is stored.

    Raises: ``ProblemsError`` with all problems that ``prepare_update`` finds, PL-P041 for nodes that would have to be
    replaced although that is not allowed, PL-C016 in the same cases as ``start_workflow.start``.
    """
    found = prepare_update(ctx, order, manner=manner)
    _raise_if_replaced(found)
    about = found.deployment, found.topology, found.request
    request = consumers.guarded(ctx, *about, force=order.force, revision=found.revision)
    return submit_update(ctx, altered(found, request=request), given=given)


def submit_update(ctx: RequestContext, found: PreparedUpdate, *, given: NewOrder | None = None) -> Submission:
    """Submit a prepared update; its plan is stored. Raises: PL-C016."""
    raise_if_busy(ctx.store, found.deployment, found.topology, found.request)
    planned = planned_update(ctx, found)
    kept = keep(ctx, found.deployment, found.request, planned, found.aim)
    notice = f"{planned.text.partition(chr(10))[0]}; see it whole: phaseline plans show {kept.id}"
    request = altered(found.request, parameters={**found.request.parameters, PLAN: kept.number})
    if found.aim.packages:
        package_types.bring_imports(ctx, found.deployment.number, found.aim.packages)
    new, more = new_execution(ctx, found.deployment.number, request)
    with ctx.store.as_one(given):
        row = ctx.store.create_execution(new, asks=True, beside=compatible_executions(found.topology, request))
        ctx.store.stored_plans.apply(kept.number, row.number)
    return Submission(row, warnings=(*planned.warnings, *more), notices=(notice,))


def plan_update(
    ctx: RequestContext,
    order: UpdateOrder,
    *,
    save: bool = False,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    allowed_only: bool = False,
) -> PlanPreview:
    """Return the plan that an update would have now. ``save``: also store the plan, to be applied later.

    ``allowed_only``: raise PL-P041 for a plan that ``update`` would refuse; otherwise such a plan has a warning.
    """
    found = prepare_update(ctx, order, manner=manner)
    if allowed_only:
        _raise_if_replaced(found)
    planned = planned_update(ctx, found, asks_hooks=True)
    if not save:
        return planned
    return altered(planned, id=keep(ctx, found.deployment, found.request, planned, found.aim).id)


def _raise_if_replaced(found: PreparedUpdate) -> None:
    if found.request.parameters.get(workflows_update.ALLOW_REPLACE) is not True:
        apply_revision.raise_if_replaced(found.revision)


@undisturbed()
def planned_update(ctx: RequestContext, found: PreparedUpdate, *, asks_hooks: bool = False) -> PlanPreview:
    """Return the plan of a prepared update. ``asks_hooks``: include the results of hook classes.

    Raises: PL-F069 if packages do not allow the number of instances with their roles.
    """
    allowed = altered(found.request, parameters={**found.request.parameters, workflows_update.ALLOW_REPLACE: True})
    foreseen = foresee_rounds(
        ctx,
        found.deployment,
        found.topology,
        allowed,
        found.states,
        code=found.aim.code,
        aim=altered(found.aim, revision=found.revision),
    )
    told = limits(ctx, found.deployment.number, found.request, foreseen)
    stops = look_for_stops(ctx, found.given, found.request, foreseen, found.deployment.number)
    rounds = summaries(ctx, foreseen, found.deployment)
    summary = update_summary.summarise_update(
        (found.deployment.name, found.aim.blueprint.file),
        found.revision,
        found.steps,
        found.topology.blueprint,
        found.request,
        foreseen,
        rounds,
        (*found.warnings, *round_preview.preview_warnings(found.request.workflow, foreseen), *told, *stops),
    )
    planned = PlanPreview(summary, preview_update_text.update_text(summary).rstrip("\n"), summary.warnings)
    planned = with_reads(planned, consumers.reads_of_update(ctx, found.deployment, found.topology, found.revision))
    if not asks_hooks:
        return planned

    number = found.deployment.number
    return with_surroundings(ctx, planned, found.request, foreseen, deployment=number, aim=found.aim)
