"""Install a blueprint, and uninstall a deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.plan.preview import agent_warnings
from phaseline.use_cases.commands import start_workflow
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.submission import Submission
from phaseline.use_cases.loading import blueprint_loading, deployment_rows, moved_folders
from phaseline.use_cases.lookup.blocking_executions import compatible_executions, raise_if_busy, raise_if_invalid
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.prepare import deployment_spec, foreseen_stops, workflow_start
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS, ExecutionOptions
from phaseline.use_cases.prepare.pre_post import new_execution, with_stops

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import NewOrder
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec


@once("install")
def install(
    ctx: RequestContext,
    order: DeploymentSpec,
    *,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Create a deployment of a blueprint and install it.

    Raises: ``ProblemsError`` with all problems; then nothing was stored.
    """
    name = blueprint_loading.deployment_name(order.file, order.name)
    loaded = deployment_spec.load_order(ctx, order)
    request = with_stops(ctx, manner.request("install", ctx, {}, loaded.topology), loaded.topology)
    raise_if_invalid(loaded.topology, request)
    warnings: list[Problem] = []
    if manner.breakpoints:
        warnings += foreseen_stops.look_before_first(ctx, manner.breakpoints, request, loaded)
    agents = agent_warnings.agent_warning(loaded.topology.nodes)
    warnings += [*loaded.warnings, *([agents] if agents else ())]

    existing = deployment_spec.require_free_name(ctx, name)
    new = deployment_rows.new_deployment(ctx, name, loaded)
    replaced = existing.number if existing is not None else 0
    # Packages enabled for the replaced deployment are enabled for this one.
    asked, more = new_execution(ctx, replaced, request, at=new.created_at, made=loaded.topology)
    with ctx.store.as_one(given):
        _, row = ctx.store.create_deployment(new, asked, replaces=replaced, asks=True)
    assert row is not None, "an execution was asked for"
    return Submission(row, warnings=(*warnings, *more))


@once("uninstall")
def uninstall(
    ctx: RequestContext,
    name: str,
    *,
    ignore_failure: bool = False,
    recursive: bool = False,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    given: NewOrder | None = None,
) -> Submission:
    """Stop and delete every instance of a deployment; the record of the deployment stays (W23).

    ``recursive``: deployments that belong to it are uninstalled first (W24). Raises: PL-C010 if there is none, PL-C016
    while an execution of it is open, PL-C024 if its folder is missing.
    """
    if recursive:
        order = workflow_start.WorkflowStart(
            "uninstall", name, {"recursive": True, "ignore_failure": ignore_failure}, force=True
        )
        return start_workflow.start(ctx, order, manner=manner, given=given)
    deployment = find_deployment(ctx.store, name, to_change=True)
    moved_folders.raise_if_folders_missing(ctx, deployment)
    topology = ctx.store.topology(deployment.number)
    request = manner.request("uninstall", ctx, {"ignore_failure": True} if ignore_failure else {}, topology)
    request = with_stops(ctx, request, topology, deployment=deployment.number)
    raise_if_invalid(topology, request)
    raise_if_busy(ctx.store, deployment, topology, request)
    warnings: tuple[Problem, ...] = ()
    if manner.breakpoints:
        warnings = foreseen_stops.look_before_start(ctx, manner.breakpoints, request, (deployment, topology))
    new, _ = new_execution(ctx, deployment.number, request)
    with ctx.store.as_one(given):
        row = ctx.store.create_execution(new, asks=True, beside=compatible_executions(topology, request))
    return Submission(row, warnings=warnings)
