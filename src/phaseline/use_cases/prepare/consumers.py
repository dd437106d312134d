"""Check whether other deployments read what a request would touch, before it is stored (DP7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.calls.deployments.blocking_consumers import NOTHING_ELSE, Touch, blocking, raise_if_read, told
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.execution import UNCHECKED, WATCHED_WORKFLOWS
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.requests import touched
from phaseline.use_cases.loading.deployment_rows import dependencies
from phaseline.use_cases.lookup.blocking_executions import is_read
from phaseline.use_cases.prepare import role_limits
from phaseline.use_cases.queries.estate import planned_reads

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np

    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.plan.topology.revision import Revision
    from phaseline.use_cases.queries.estate.planned_reads import ChangedCapability, PlannedRead


def guarded(
    ctx: RequestContext,
    row: DeploymentRow,
    topology: Topology,
    request: Request,
    *,
    force: bool = False,
    revision: Revision | None = None,
    besides: Collection[int] = NOTHING_ELSE,
) -> Request:
    """Return the request, if no living deployment reads what it would touch.

    With ``force`` the request names those that do, for its history. ``revision`` is what an update does; ``besides`` are
    numbers of deployments that are uninstalled before. Raises: PL-C131.
    """
    meant = touched.meant_workflow(topology, request.workflow)
    is_alike = ctx.settings.dependencies_cloudify_compat
    if meant not in (touched.LIKE_CLOUDIFY if is_alike else WATCHED_WORKFLOWS):
        return altered(request, despite=UNCHECKED) if meant in WATCHED_WORKFLOWS else request
    if not is_read(ctx.store, row):
        return request
    touch = Touch(None, is_whole=True) if is_alike else _touch(ctx, row, topology, request, revision)
    found = blocking(ctx.store, row, topology, touch, besides=besides)
    if found and force:
        return altered(request, despite=told(found))
    raise_if_read(row, found, request.workflow)
    return request


def foreseen(
    ctx: RequestContext,
    row: DeploymentRow,
    topology: Topology,
    request: Request,
    besides: Collection[int] = NOTHING_ELSE,
) -> tuple[Problem, ...]:
    """Return as a warning of a plan why ``guarded`` would refuse the request; () if it would not."""
    try:
        guarded(ctx, row, topology, request, besides=besides)
    except ProblemsError as error:
        return tuple(altered(problem, severity="warning") for problem in error.problems)
    return ()


def _touch(
    ctx: RequestContext, row: DeploymentRow, topology: Topology, request: Request, revision: Revision | None
) -> Touch:
    if revision is not None:
        return Touch(_changed(topology, revision), revision.finished.blueprint)
    if touched.meant_workflow(topology, request.workflow) in touched.BY_PLAN:
        return Touch(touched.removed(topology, role_limits.foreseen_rounds(ctx, row.number, request).topology))
    checks = ctx.store.checks(row.number, only_results=True).checks
    return Touch(touched.touched_at_once(topology, request, checks))


def _changed(topology: Topology, revision: Revision) -> np.ndarray:
    """Return the instances (bool by number) that an update removes, replaces or changes in a property or operation."""
    found = touched.removed(topology, revision.finished)
    count = len(found)
    for numbers in (revision.removed, revision.drifted):
        found[numbers[numbers < count]] = True
    return found


def reads_of_update(
    ctx: RequestContext, row: DeploymentRow, topology: Topology, revision: Revision
) -> tuple[PlannedRead | ChangedCapability, ...]:
    """Return what the new blueprint of a deployment reads of its providers, and what the update changes for its readers."""
    after = revision.finished.blueprint
    has_readers = is_read(ctx.store, row)
    if not has_readers and not dependencies(after):
        return ()
    changed = planned_reads.changed_capabilities(ctx, row, topology, after, _changed(topology, revision))
    return (*planned_reads.planned_reads(ctx, after), *(changed if has_readers else ()))
