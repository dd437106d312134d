"""What surrounds an execution that is about to be made: hook classes and stage tasks as they are now (ADR 0022)."""

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
    """(what is to be stored, with all that surrounds it; what is not as packages recommend it). ``deployment`` 0: one that is made with it; ``at``: now, unless given.

    ``made``: the instances of one that is made in the place of ``deployment``. Raises: as ``pre_post_for``; PL-F069 for what would bring it to more or fewer instances than packages allow, PL-F015 for
    tasks of packages that would wait for one another.
    """
    warnings: tuple[Problem, ...] = ()
    around = pre_post_for(ctx, request, deployment)
    if around is not None and around.stages is not None:
        role_limits.raise_if_circular(ctx, around.stages, deployment, request, made)
        if around.stages.limits:
            warnings = tuple(role_limits.looked_at(ctx, around.stages.limits, deployment, request, made))
    return NewExecution(deployment, request, ctx.actor, ctx.clock.now() if at is None else at, around), warnings


def with_stops(ctx: RequestContext, request: Request, *topologies: Topology, deployment: int = 0) -> Request:
    """The request with the breakpoints that are labels of its deployment. ``deployment`` 0: one that is to be made.

    ``topologies``: the deployment as it is, and what it is brought to. Raises: PL-P047 for breakpoints at which nobody would stop.
    """
    labels = ctx.store.labels.of(deployment) if deployment else topologies[0].blueprint.labels
    if not (labels or request.breakpoints or topologies[-1].blueprint.labels):
        return request

    return breakpoints.with_breakpoints(ctx, request, topologies, deployment)


def pre_post_for(ctx: RequestContext, request: Request, deployment: int = 0, *, depth: int = 0) -> PrePost | None:
    """What an execution of this request pins; None: nothing, and nobody looks for anything later.

    Raises: PL-H001 for hook classes that cannot be used, unless the settings say to go on without them.
    """
    has_packages = uses_packages(ctx, deployment)
    stages = _stages_of(ctx, request.workflow, deployment) if has_packages else None
    called, back = _hooks_round(ctx, request, deployment, depth=depth, has_packages=has_packages)
    if not (called or back or stages):
        return None

    return pre_post.PrePost(called, back, stages)


def uses_packages(ctx: RequestContext, deployment: int) -> bool:
    """Whether a package is enabled for a deployment; for most none is."""
    if not deployment or not ctx.store.has_packages:
        return False
    return any(use.is_enabled for use in ctx.store.packages.uses(deployment))


def _stages_of(ctx: RequestContext, workflow: str, deployment: int) -> Stages | None:
    """What the packages say that are enabled for a deployment."""
    return enabled_tasks.stages_of(ctx, workflow, deployment)


def _hooks_round(
    ctx: RequestContext, request: Request, deployment: int, *, depth: int, has_packages: bool
) -> tuple[tuple[PinnedHookClass, ...], tuple[PinnedHookClass, ...]]:
    """The classes round the action, and those round taking back what it made."""
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
