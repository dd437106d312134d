"""Create, change, enable, disable and delete schedules of deployments (SC11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from phaseline.app import schedule_times, zones
from phaseline.dsl.nodes.schedules import MAX_SLIP, wall_time
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.problems.name_rules import MEND, why_no_name
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.model.rows.schedules import NEVER, NewSchedule
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.prepare import workflow_start
from phaseline.use_cases.queries.estate.schedules import ScheduleView, find_schedule, schedule_view

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.model.rows.schedules import ScheduleRow

TIME_MEND = "write 'YYYY-MM-DD HH:MM', 'HH:MM', or a time from now on such as '+2 weeks' or '+1day+10min'"
CATCH_UPS = ("slip", "last", "all", "none")
NO_ENGINE = Problem(
    "PL-C143",
    "no engine is there to start it",
    "run one: phaseline engine run; or let a timer call: phaseline engine run --due; units of systemd: "
    "phaseline schedules timer --install-user",
    severity="warning",
)
"""The three ways in which schedules are started (SC5)."""


@frozen
class ScheduleOrder:
    """What a user gives for a schedule; None is not given.

    ``rrule``, ``cron``, ``every`` (with ``weekdays`` and ``count``) and ``at`` exclude each other. ``slip`` is in minutes.
    """

    workflow: str | None = None
    parameters: Mapping[str, Value] | None = None
    rrule: str | None = None
    cron: str | None = None
    every: str | None = None
    weekdays: Sequence[str] = ()
    count: int | None = None
    at: str | None = None
    since: str | None = None
    until: str | None = None
    zone: str | None = None
    slip: int | None = None
    stop_on_fail: bool | None = None
    catch_up: str | None = None


def create_schedule(ctx: RequestContext, name: str, deployment: str, order: ScheduleOrder) -> ScheduleView:
    """Store a schedule of a deployment, enabled. Without a rule it is due once, at ``at``.

    Raises: PL-C010, PL-C141 (the name is taken), PL-C142 (the name is not allowed), PL-B159 with all mistakes in rule
    and times, and the problems of the workflow and its parameters.
    """
    why = why_no_name(name) if name else "is empty"
    if why:
        raise problem_error("PL-C142", f"'{name}' cannot be the name of a schedule: it {why}", MEND)
    row = find_deployment(ctx.store, deployment, to_change=True)
    if order.workflow is None:
        raise problem_error("PL-B159", "no workflow is named", "name the workflow to start: --workflow NAME")
    rule, begins = _rule_of(order)
    if not rule and order.at is None:
        raise problem_error("PL-B159", "no time is given", "give one of --rrule, --cron, --every and --at")
    now = ctx.clock.now()
    zone = order.zone or ""
    spec = ScheduleSpec(
        order.workflow,
        _time(begins or "+0", zone, now, "since"),
        "" if order.until is None else _time(order.until, zone, now, "until"),
        zone,
        rule,
        order.parameters or {},
    )
    spec = _with_options(spec, order)
    next_at, warnings = _checked(ctx, row, spec)
    made = ctx.store.schedules.add(NewSchedule(row.number, name, spec, next_at=next_at), ctx.actor)
    if made is None:
        mend = f"choose another name, or change it: phaseline schedules update {name} -d {row.name}"
        raise problem_error("PL-C141", f"'{row.name}' has a schedule '{name}' already", mend)
    return schedule_view(ctx, made, row.name, warnings)


def update_schedule(ctx: RequestContext, name: str, deployment: str, order: ScheduleOrder) -> ScheduleView:
    """Change what is given of a schedule; a new rule replaces the former one. An update of the deployment then keeps it.

    Raises: as ``create_schedule``, PL-C140 (no such schedule), and PL-C141 if another command changed it meanwhile.
    """
    row = find_deployment(ctx.store, deployment, to_change=True)
    former = find_schedule(ctx.store, row, name)
    rule, begins = _rule_of(order)
    now = ctx.clock.now()
    spec = former.spec
    zone = spec.zone if order.zone is None else order.zone
    spec = altered(
        spec,
        workflow=order.workflow or spec.workflow,
        zone=zone,
        rule=rule if rule or order.at is not None else spec.rule,
        since=spec.since if begins is None else _time(begins, zone, now, "since"),
        until=spec.until if order.until is None else _time(order.until, zone, now, "until") if order.until else "",
        parameters=spec.parameters if order.parameters is None else order.parameters,
    )
    spec = _with_options(spec, order)
    next_at, warnings = _checked(ctx, row, spec)
    changed = ctx.store.schedules.change(former, spec, next_at, ctx.actor)
    if changed is None:
        mend = f"look at it, then repeat this command: phaseline schedules show {name} -d {row.name}"
        raise problem_error(
            "PL-C141", f"the schedule '{name}' was changed or deleted by another command meanwhile", mend
        )
    return schedule_view(ctx, changed, row.name, warnings)


def enable_schedule(ctx: RequestContext, name: str, deployment: str) -> ScheduleView:
    """Enable a schedule from its next time on; times that have passed are not made up. Raises: PL-C010, PL-C140, PL-B159."""
    row = find_deployment(ctx.store, deployment, to_change=True)
    found = find_schedule(ctx.store, row, name)
    next_at, warnings = _next_at(found.spec, ctx.clock.now())
    return _switched(ctx, row, found, next_at, is_enabled=True, warnings=(*warnings, *_engine_missing(ctx)))


def disable_schedule(ctx: RequestContext, name: str, deployment: str, *, reason: str = "") -> ScheduleView:
    """Disable a schedule, until a user enables it. An execution that it has started continues. Raises: PL-C010, PL-C140."""
    row = find_deployment(ctx.store, deployment, to_change=True)
    return _switched(ctx, row, find_schedule(ctx.store, row, name), NEVER, is_enabled=False, reason=reason)


def delete_schedule(ctx: RequestContext, name: str, deployment: str) -> ScheduleView:
    """Delete a schedule with its history, and return it as it was. Raises: PL-C010, PL-C140."""
    row = find_deployment(ctx.store, deployment, to_change=True)
    found = find_schedule(ctx.store, row, name)
    if not ctx.store.schedules.remove(found):
        find_schedule(ctx.store, row, name)
    return schedule_view(ctx, found, row.name)


def _switched(
    ctx: RequestContext,
    row: DeploymentRow,
    found: ScheduleRow,
    next_at: int,
    *,
    is_enabled: bool,
    reason: str = "",
    warnings: Sequence[Problem] = (),
) -> ScheduleView:
    switched = ctx.store.schedules.switch(found, is_enabled=is_enabled, next_at=next_at, actor=ctx.actor, reason=reason)
    if switched is None:
        switched = find_schedule(ctx.store, row, found.name)
    return schedule_view(ctx, switched, row.name, warnings)


def _rule_of(order: ScheduleOrder) -> tuple[dict[str, Any], str | None]:
    """Return (the rule that an order gives, the time from which it counts or None). Raises: PL-B159."""
    forms = {"--rrule": order.rrule, "--cron": order.cron, "--every": order.every, "--at": order.at}
    given = [form for form, value in forms.items() if value is not None]
    if len(given) > 1:
        raise problem_error("PL-B159", f"{given[0]} and {given[1]} exclude each other", "keep one of them")
    if order.at is not None and order.since is not None:
        raise problem_error("PL-B159", "--at and --since exclude each other", "keep one of them")
    if order.every is None and (order.weekdays or order.count is not None):
        raise problem_error("PL-B159", "--weekday and --count belong to --every", "add --every, such as --every 1d")
    words = {"recurrence": order.every, "weekdays": list(order.weekdays), "count": order.count}
    rule = {"rrule": order.rrule, "cron": order.cron, **(words if order.every is not None else {})}
    found = {key: value for key, value in rule.items() if value is not None and value != []}
    return found, order.at if order.at is not None else order.since


def _time(text: str, zone: str, now_ms: int, what: str) -> str:
    """Return a time as it is stored. Raises: PL-B159."""
    known = zones.zone_info(zone) if zone else UTC
    now = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=now_ms)
    if text == "+0":
        return now.astimezone(known).strftime("%Y-%m-%d %H:%M:%S")
    found = wall_time(text, known, now)
    if found is None:
        raise problem_error("PL-B159", f"'{text}' is no time for '{what}'", TIME_MEND)
    return found


def _with_options(spec: ScheduleSpec, order: ScheduleOrder) -> ScheduleSpec:
    """Return the schedule with the options that an order gives. Raises: PL-B159."""
    if order.slip is not None and not 0 <= order.slip <= MAX_SLIP:
        raise problem_error("PL-B159", f"the slip is {order.slip}", f"write 0 to {MAX_SLIP} minutes")
    if order.catch_up is not None and order.catch_up not in CATCH_UPS:
        raise problem_error("PL-B159", f"'{order.catch_up}' is no way to catch up", f"write {', '.join(CATCH_UPS)}")
    return altered(
        spec,
        slip_min=spec.slip_min if order.slip is None else order.slip,
        stop_on_fail=spec.stop_on_fail if order.stop_on_fail is None else order.stop_on_fail,
        catch_up=spec.catch_up if order.catch_up is None else order.catch_up,
    )


def _checked(ctx: RequestContext, row: DeploymentRow, spec: ScheduleSpec) -> tuple[int, tuple[Problem, ...]]:
    """Return (when the schedule is due next, warnings). Raises: PL-B159, and the problems of workflow and parameters."""
    problems: list[Problem] = []
    next_at = NEVER
    warnings: tuple[Problem, ...] = ()
    if spec.until and spec.until < spec.since:
        problems.append(Problem("PL-B159", "the schedule ends before it begins", "correct --since or --until"))
    try:
        next_at, warnings = _next_at(spec, ctx.clock.now())
    except ProblemsError as error:
        problems += error.problems
    try:
        start = workflow_start.WorkflowStart(
            spec.workflow,
            row.name,
            spec.parameters,
            allow_custom=bool(spec.arguments.get("allow_custom_parameters")),
            force=True,  # whether it is available is asked when it starts
        )
        workflow_start.prepare(ctx, start)
    except ProblemsError as error:
        problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return next_at, (*warnings, *_engine_missing(ctx))


def _engine_missing(ctx: RequestContext) -> tuple[Problem, ...]:
    return () if ctx.store.owner() is not None else (NO_ENGINE,)


def _next_at(spec: ScheduleSpec, now_ms: int) -> tuple[int, tuple[Problem, ...]]:
    """Return (when a schedule is due next, in ms, a warning if it never is). Raises: PL-B159 if it never was either."""
    occurrences = schedule_times.occurrences_of(spec, now_ms)
    found = occurrences.after(now_ms // 1000)
    if found is not None:
        return found * 1000, ()
    last = occurrences.after(-(2**40))
    if last is None:
        raise problem_error("PL-B159", "the rule has no time between its start and its end", "correct the rule")
    message = f"the schedule will never start '{spec.workflow}': its last time has passed"
    mend = "give a later --since, --at or --until"
    return NEVER, (Problem("PL-C144", message, mend, severity="warning"),)
