"""Check, before an execution begins, that instances would stop at the breakpoints given for it (H46)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.requests.unreachable_breakpoints import is_foreseen, unmet_stops
from phaseline.use_cases.prepare import rounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.execution.execution import Request
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.plan.rounds.round_preview import PreviewedRounds
    from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint


def look_for_stops(
    ctx: RequestContext, given: Sequence[Breakpoint], request: Request, foreseen: PreviewedRounds, deployment: int = 0
) -> tuple[Problem, ...]:
    """Return a warning for each breakpoint in ``given`` at which probably no instance stops.

    ``deployment`` is 0 for a new one. Raises: PL-P047 if certainly no instance stops. This is never certain while
    another execution of the deployment is open, because it may still change instances.
    """
    if not given:
        return ()
    is_sure = is_foreseen(request, foreseen)
    if is_sure and deployment:
        is_sure = not ctx.store.executions(deployment, only_open=True)
    problems = tuple(unmet_stops(given, request, foreseen, is_sure=is_sure))
    if problems and is_sure:
        raise ProblemsError(problems)
    return problems


def look_before_start(
    ctx: RequestContext,
    given: Sequence[Breakpoint],
    request: Request,
    deployment: tuple[DeploymentRow, Topology],
) -> tuple[Problem, ...]:
    """Return the warnings of ``look_for_stops`` for a workflow of an existing deployment. Raises: the same errors."""
    if not given:
        return ()

    row, topology = deployment
    states = ctx.store.states(row.number)
    foreseen = rounds.foresee_rounds(ctx, row, topology, request, states, code=row.code)
    return look_for_stops(ctx, given, request, foreseen, row.number)


def look_before_first(
    ctx: RequestContext, given: Sequence[Breakpoint], request: Request, loaded: LoadedBlueprint
) -> tuple[Problem, ...]:
    """Return a warning for each given breakpoint at which a new deployment's first execution probably does not stop.

    Raises: PL-P047 if it certainly does not stop.
    """
    if not given:
        return ()

    return look_for_stops(ctx, given, request, rounds.foresee_first(ctx, request, loaded))
