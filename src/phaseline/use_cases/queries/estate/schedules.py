"""Schedules of deployments: lists, details and their next times (SC11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from phaseline.app import schedule_times, zones
from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.use_cases.lookup.find import find_deployment

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.model.rows.schedules import ScheduleRow
    from phaseline.model.schedules.schedule_spec import ScheduleSpec
    from phaseline.ports.tenant_store import TenantStore

MAX_PREVIEWED = 1_000
"""Most times that a preview lists."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen
class ScheduleView:
    """A schedule. ``since`` and ``until`` are times of the clock in ``zone``; ``until`` is empty without an end.

    ``rule`` is how often, as its author wrote it; empty, it is due once. ``next_at`` is when it is due next, in ms; 0 if
    it is disabled or will not be due any more. ``last_at`` is when it was due last, 0 before the first time. ``origin``
    is ``blueprint`` or ``hand``. ``warnings`` are remarks of the command that made or changed it.
    """

    deployment: str
    name: str
    workflow: str
    rule: Mapping[str, Value]
    since: str
    until: str
    zone: str
    is_enabled: bool
    next_at: int
    last_at: int
    origin: str
    parameters: Mapping[str, Value]
    arguments: Mapping[str, Value]
    slip_min: int
    stop_on_fail: bool
    catch_up: str
    reason: str
    created_at: int
    created_by: str
    warnings: Sequence[Problem] = ()


@frozen
class DueTime:
    """A time at which a schedule is due: ``at`` in ms, ``local`` as the clock in its zone shows it, with the offset."""

    at: int
    local: str


@frozen
class SchedulePreview:
    """The next times of a schedule, as if it were enabled. Fewer than asked for: there are no others."""

    deployment: str
    name: str
    zone: str
    times: Sequence[DueTime]


def list_schedules(ctx: RequestContext, deployment: str | None = None) -> Sequence[ScheduleView]:
    """Return the schedules of a deployment, or of all deployments, by deployment and name. Raises: PL-C010."""
    if deployment is not None:
        row = find_deployment(ctx.store, deployment)
        return [schedule_view(ctx, one, row.name) for one in ctx.store.schedules.all(row.number)]
    rows = ctx.store.schedules.all()
    numbers = {row.deployment for row in rows}
    found = ctx.store.listings.deployments(DeploymentQuery(numbers=numbers)) if numbers else ()
    names = {row.number: row.name for row in found}
    views = [schedule_view(ctx, row, names[row.deployment]) for row in rows if row.deployment in names]
    return sorted(views, key=lambda view: (view.deployment, view.name))


def show_schedule(ctx: RequestContext, name: str, deployment: str) -> ScheduleView:
    """Return one schedule. Raises: PL-C010, PL-C140."""
    row = find_deployment(ctx.store, deployment)
    return schedule_view(ctx, find_schedule(ctx.store, row, name), row.name)


def preview_schedule(ctx: RequestContext, name: str, deployment: str, *, count: int = 5) -> SchedulePreview:
    """Return the next times of a schedule, whether it is enabled or not. Raises: PL-C010, PL-C094, PL-C140, PL-B159."""
    if not 1 <= count <= MAX_PREVIEWED:
        raise problem_error("PL-C094", f"the count is {count}", f"write 1 to {MAX_PREVIEWED}")
    row = find_deployment(ctx.store, deployment)
    found = find_schedule(ctx.store, row, name)
    times = next_times(found.spec, ctx.clock.now(), count)
    return SchedulePreview(row.name, found.name, found.spec.zone or "UTC", times)


@frozen
class ScheduleRunView:
    """What became of the times at which a schedule was due: of one, or of ``count`` from ``due_at`` to ``last_due_at``.

    ``outcome`` is ``fired``, ``skipped_busy`` (its last execution was open), ``missed`` (no engine ran), ``refused`` or
    ``disabled`` (its last execution had failed), for the ``reason``. ``execution`` is the id of what was started.
    """

    due_at: int
    last_due_at: int
    count: int
    fired_at: int
    outcome: str
    execution: str
    reason: str


@frozen
class ScheduleHistory:
    """The runs of a schedule, latest first. ``is_shortened``: there are older ones."""

    deployment: str
    name: str
    runs: Sequence[ScheduleRunView]
    is_shortened: bool = False


def schedule_history(ctx: RequestContext, name: str, deployment: str, *, count: int = 20) -> ScheduleHistory:
    """Return what became of the times at which a schedule was due. Raises: PL-C010, PL-C094, PL-C140."""
    if not 1 <= count <= MAX_PREVIEWED:
        raise problem_error("PL-C094", f"the count is {count}", f"write 1 to {MAX_PREVIEWED}")
    row = find_deployment(ctx.store, deployment)
    found = find_schedule(ctx.store, row, name)
    runs = ctx.store.schedules.history(found, count + 1)
    ids = {one.number: one.id for one in ctx.store.executions(row.number)} if any(run.execution for run in runs) else {}
    views = [
        ScheduleRunView(
            run.due, run.last_due, run.count, run.fired_at, run.outcome, ids.get(run.execution, ""), run.reason
        )
        for run in runs[:count]
    ]
    return ScheduleHistory(row.name, found.name, views, len(runs) > count)


def find_schedule(store: TenantStore, deployment: DeploymentRow, name: str) -> ScheduleRow:
    """Return the schedule of a deployment with this name. Raises: PL-C140."""
    found = store.schedules.find(deployment.number, name)
    if found is not None:
        return found
    known = [row.name for row in store.schedules.all(deployment.number)]
    hint = did_you_mean(name, known) or (f"there are: {', '.join(known[:20])}" if known else "it has none")
    raise problem_error("PL-C140", f"'{deployment.name}' has no schedule '{name}'", hint)


def next_times(spec: ScheduleSpec, now_ms: int, count: int) -> list[DueTime]:
    """Return the first times after now at which a schedule is due. Raises: PL-B159."""
    found = schedule_times.occurrences_of(spec, now_ms).all_after(now_ms // 1000)
    zone = zones.zone_info(spec.zone) if spec.zone else UTC
    moments = list(islice(found, count))
    return [
        DueTime(moment * 1000, (_EPOCH + timedelta(seconds=moment)).astimezone(zone).isoformat(" ", "seconds"))
        for moment in moments
    ]


def schedule_view(
    ctx: RequestContext, row: ScheduleRow, deployment: str, warnings: Sequence[Problem] = ()
) -> ScheduleView:
    """Return a stored schedule as a view. A zone that this machine lacks leaves ``next_at`` 0."""
    spec = row.spec
    return ScheduleView(
        deployment=deployment,
        name=row.name,
        workflow=spec.workflow,
        rule=spec.rule,
        since=spec.since,
        until=spec.until,
        zone=spec.zone or "UTC",
        is_enabled=row.is_enabled,
        next_at=_next_at(spec, ctx.clock.now()) if row.is_enabled else 0,
        last_at=row.last_at,
        origin=row.origin,
        parameters=spec.parameters,
        arguments=spec.arguments,
        slip_min=spec.slip_min,
        stop_on_fail=spec.stop_on_fail,
        catch_up=spec.catch_up,
        reason=row.reason,
        created_at=row.created_at,
        created_by=row.created_by,
        warnings=warnings,
    )


def _next_at(spec: ScheduleSpec, now_ms: int) -> int:
    try:
        found = schedule_times.occurrences_of(spec, now_ms).after(now_ms // 1000)
    except ProblemsError:
        return 0
    return 0 if found is None else found * 1000
