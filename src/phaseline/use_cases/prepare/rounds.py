"""Preview the rounds of an execution by calling its planner. Nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.app.function_discovery import declared
from phaseline.model.execution.execution import History
from phaseline.plan.rounds import round_preview
from phaseline.use_cases.loading.plugin_workflows import find_own, planner_of
from phaseline.use_cases.loading.resource_nodes import known_paths
from phaseline.use_cases.lookup.blocking_executions import raise_if_invalid

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.execution.stored_plans import Aim
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.plan.graph.workflow import Workflow
    from phaseline.plan.rounds.round_preview import PreviewedRounds
    from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint


def foresee_first(ctx: RequestContext, request: Request, loaded: LoadedBlueprint) -> PreviewedRounds:
    """Return the rounds of the first execution of a deployment that is not stored."""
    history = History(np.zeros(len(loaded.topology), np.uint8), paths=known_paths(ctx, loaded.blueprint))
    return foresee_checked(ctx, loaded.topology, loaded.code, request, history)


def foresee_rounds(
    ctx: RequestContext,
    row: DeploymentRow,
    topology: Topology,
    request: Request,
    states: np.ndarray,
    *,
    code: CodeLocation,
    aim: Aim | None = None,
) -> PreviewedRounds:
    """Return the rounds of a workflow of an existing deployment. ``aim`` is the target of an update."""
    checks = ctx.store.checks(row.number, only_results=True).checks
    blueprint = topology.blueprint if aim is None else aim.blueprint
    paths = known_paths(ctx, blueprint, ctx.store.state_names(row.number))
    history = History(
        states,
        paths=paths,
        checks=checks,
        aim=lambda: aim,
        planner=lambda name: planner_of(ctx, blueprint, code, name),
    )
    own = find_own(ctx.catalog, blueprint, code, request.workflow)
    return foresee_planned(ctx, topology, code, request, history, own)


def foresee_checked(
    ctx: RequestContext, topology: Topology, code: CodeLocation, request: Request, history: History
) -> PreviewedRounds:
    """Return the rounds that a built-in workflow would have after ``history``. Raises: all problems of the request."""
    raise_if_invalid(topology, request)
    return foresee_planned(ctx, topology, code, request, history)


def foresee_planned(
    ctx: RequestContext,
    topology: Topology,
    code: CodeLocation,
    request: Request,
    history: History,
    own: Workflow | None = None,
) -> PreviewedRounds:
    """Return the rounds for a request that was already checked.

    ``own`` is the workflow whose planner is called, or None for a built-in workflow.
    """
    from phaseline.plan.workflows import PLANNERS

    planner = PLANNERS[request.workflow] if own is None else own.plan
    return round_preview.foresee(
        planner, topology, request, history, lambda operation: declared(ctx.catalog, operation, code)
    )
