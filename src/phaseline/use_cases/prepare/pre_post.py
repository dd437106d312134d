"""Find the hook classes and stage tasks that a new execution calls before and after its own work (ADR 0022)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution import lifecycle_actions, pre_post
from phaseline.model.resources import resources
from phaseline.model.rows.rows import NewExecution
from phaseline.use_cases.lookup import enabled_tasks
from phaseline.use_cases.prepare import breakpoints, role_limits

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.execution.pre_post import PinnedHookClass, PrePost
    from phaseline.model.packages.stage_tasks import Stages
    from phaseline.model.problems.problem import Problem


def new_execution(
    ctx: RequestContext,
    deployment: int,
    request: Request,
    *,
    at: int | None = None,
    made: Topology | None = None,
) -> tuple[NewExecution, tuple[Problem, ...]]:
    """Return (the execution to be stored, with its hook classes and stage tasks; warnings of packages).

    ``deployment`` is 0 if it is created with the execution. ``at`` is the time in ms, by default now. ``made`` has the
    instances that an install creates; ``deployment`` is then the existing one that it replaces, or 0. Raises: the
    errors of ``pre_post_for``; PL-F069 for more or fewer instances than packages allow, PL-F015 for tasks of packages
    that would wait for each other.
    """
    warnings: tuple[Problem, ...] = ()
    around = pre_post_for(ctx, request, deployment)
    if around is not None and around.stages is not None:
        role_limits.raise_if_circular(ctx, around.stages, deployment, request, made)
        if around.stages.limits:
            warnings = tuple(role_limits.looked_at(ctx, around.stages.limits, deployment, request, made))
    return NewExecution(deployment, request, ctx.actor, ctx.clock.now() if at is None else at, around), warnings


def with_stops(ctx: RequestContext, request: Request, *topologies: Topology, deployment: int = 0) -> Request:
    """Return the request with the breakpoints that its deployment has as labels. ``deployment`` is 0 for a new one.

    ``topologies`` are the instances at present and, for an update, after it. Raises: PL-P047 for breakpoints at
    which no instance would stop.
    """
    labels = ctx.store.labels.of(deployment) if deployment else topologies[0].blueprint.labels
    if not (labels or request.breakpoints or topologies[-1].blueprint.labels):
        return request

    return breakpoints.with_breakpoints(ctx, request, topologies, deployment)


def pre_post_for(ctx: RequestContext, request: Request, deployment: int = 0, *, depth: int = 0) -> PrePost | None:
    """Return the hook classes and stage tasks that an execution of this request calls, or None if there are none.

    They are stored with the execution and do not change later. Raises: PL-H001 for hook classes that cannot be used,
    unless the settings allow to continue without them.
    """
    has_packages = uses_packages(ctx, deployment)
    stages = _stages_of(ctx, request.workflow, deployment) if has_packages else None
    called, back = _hooks_round(ctx, request, deployment, depth=depth, has_packages=has_packages)
    if not (called or back or stages):
        return None

    return pre_post.PrePost(called, back, stages)


def uses_packages(ctx: RequestContext, deployment: int) -> bool:
    """Return True if a package is enabled for a deployment."""
    if not deployment or not ctx.store.has_packages:
        return False
    return any(use.is_enabled for use in ctx.store.packages.uses(deployment))


def _stages_of(ctx: RequestContext, workflow: str, deployment: int) -> Stages | None:
    """Return the stage tasks that enabled packages add to this workflow of a deployment; None if there are none."""
    return enabled_tasks.stages_of(ctx, workflow, deployment)


def _hooks_round(
    ctx: RequestContext, request: Request, deployment: int, *, depth: int, has_packages: bool
) -> tuple[tuple[PinnedHookClass, ...], tuple[PinnedHookClass, ...]]:
    """Return (hook classes called before and after the action, further ones called if it is rolled back)."""
    if not (has_packages or ctx.app.has_hooks()):
        return (), ()

    workflow = ctx.store.blueprint(deployment).meaning(request.workflow) if deployment else request.workflow
    # These can call hooks, which needs threads: a process that only submits is to load none.
    from phaseline.hooks.registry import attending
    from phaseline.use_cases.loading import hook_registry

    action = lifecycle_actions.action_of(workflow)
    if request.workflow == resources.REACH_WORKFLOW or not action:
        return (), ()
    hooks = hook_registry.in_use(ctx, hook_registry.hooks_of(ctx, deployment).hooks, deployment)
    is_verified = ctx.settings.verify_hooks == "digest"
    called = attending(hooks, action, depth=depth, is_verified=is_verified)
    back = (
        attending(hooks, lifecycle_actions.ROLLBACK, besides=called, depth=depth, is_verified=is_verified)
        if request.take_back
        else ()
    )
    return called, back
