"""Check the limits that packages set for roles, before the number of a deployment's instances changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.stored_plans import PLAN
from phaseline.model.packages.role_limits import INSTALL, SHAPING
from phaseline.model.rows import row_queries
from phaseline.plan.rounds import task_subjects
from phaseline.plan.rounds.role_limits import raise_if_beyond_limits
from phaseline.plan.stages import task_listing
from phaseline.use_cases.lookup.enabled_tasks import stages_of
from phaseline.use_cases.prepare import rounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.packages.role_limits import RoleLimits
    from phaseline.model.packages.stage_tasks import Stages
    from phaseline.model.problems.problem import Problem
    from phaseline.plan.rounds.round_preview import PreviewedRounds


def looked_at(
    ctx: RequestContext, limits: Sequence[RoleLimits], deployment: int, request: Request, made: Topology | None = None
) -> list[Problem]:
    """Return a warning for each of these limits that a request would violate, but that does not forbid it.

    ``made`` has the instances of a new deployment. Raises: PL-F069 with all violated limits that forbid the request.
    """
    if made is not None or request.workflow == INSTALL:
        return raise_if_beyond_limits(limits, made if made is not None else ctx.store.topology(deployment))
    foreseen = foreseen_rounds(ctx, deployment, request)
    return raise_if_beyond_limits(limits, foreseen.topology, foreseen.before)


def raise_if_circular(
    ctx: RequestContext, stages: Stages, deployment: int, request: Request, made: Topology | None = None
) -> None:
    """Raise PL-F015 if tasks of packages would wait for each other. Call it before a request is stored.

    ``made``: the instances of a new deployment, if they are not stored yet; None: the stored or foreseen instances.
    """
    if all(task.ties is None for task in stages):
        return
    if made is not None or request.workflow == INSTALL:
        task_listing.task_rows(stages, made if made is not None else ctx.store.topology(deployment), request.workflow)
        return
    foreseen = foreseen_rounds(ctx, deployment, request)
    task_listing.task_rows(stages, foreseen.topology, request.workflow, task_subjects.whom(request, foreseen))


def limits_foreseen(
    ctx: RequestContext, deployment: int, request: Request, foreseen: PreviewedRounds
) -> Sequence[Problem]:
    """Return warnings about the numbers of instances after a plan.

    ``deployment`` is 0 if it does not exist yet. Raises: PL-F069.
    """
    if request.workflow not in SHAPING:
        return ()
    stages = stages_of(ctx, request.workflow, deployment)
    if stages is None:
        return ()
    return raise_if_beyond_limits(
        stages.limits, foreseen.topology, None if request.workflow == INSTALL else foreseen.before
    )


def foreseen_rounds(ctx: RequestContext, deployment: int, request: Request) -> PreviewedRounds:
    """Return the rounds of the request if everything in it succeeds."""
    store = ctx.store
    (row,) = store.listings.deployments(row_queries.DeploymentQuery(numbers=(deployment,)))
    number = request.parameters.get(PLAN)
    plan = store.stored_plans.find(number) if isinstance(number, int) else None
    aim = None if plan is None else plan.aim
    states = store.states(deployment)
    code = row.code if aim is None else aim.code
    return rounds.foresee_rounds(ctx, row, store.topology(deployment), request, states, code=code, aim=aim)
