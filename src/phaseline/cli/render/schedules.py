"""Schedules as text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from phaseline.cli.render.problems import problem_text
from phaseline.cli.render.table import clean, facts, moment, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.queries.estate.schedules import (
        ScheduleHistory,
        SchedulePreview,
        ScheduleRunView,
        ScheduleView,
    )

NO_SCHEDULES = (
    "No schedules yet. Make one:\n  phaseline schedules create nightly -d NAME --workflow check_drift --every 1d"
)


def schedule_list(found: Sequence[ScheduleView]) -> str:
    """Return a table of schedules; if there are none, the command that creates one."""
    if not found:
        return NO_SCHEDULES
    columns: Columns[ScheduleView] = {
        "deployment": lambda view: view.deployment,
        "name": lambda view: view.name,
        "workflow": lambda view: view.workflow,
        "when": lambda view: rule_text(view.rule, view.since),
        "zone": lambda view: view.zone,
        "state": lambda view: "enabled" if view.is_enabled else "disabled",
        "next": lambda view: moment(view.next_at),
    }
    return table(columns, found)


def schedule_text(view: ScheduleView) -> str:
    """Return a text with everything about one schedule, and the warnings of the command that made or changed it."""
    lines = facts(
        12,
        ("workflow", view.workflow),
        ("parameters", ", ".join(f"{name}={value}" for name, value in view.parameters.items())),
        ("options", ", ".join(f"{name}={value}" for name, value in view.arguments.items())),
        ("when", rule_text(view.rule, view.since)),
        ("since", f"{view.since} {view.zone}"),
        ("until", f"{view.until} {view.zone}" if view.until else ""),
        ("state", " ".join(["enabled" if view.is_enabled else "disabled", f"({view.reason})" if view.reason else ""])),
        ("next", moment(view.next_at) if view.next_at else ""),
        ("last", moment(view.last_at) if view.last_at else ""),
        ("slip", f"{view.slip_min} min" if view.slip_min else ""),
        ("catch up", view.catch_up if view.catch_up != "slip" else ""),
        ("on failure", "it is disabled" if view.stop_on_fail else ""),
        ("from", f"{view.origin}, {moment(view.created_at)} by {view.created_by}"),
    )
    head = f"{view.name} of {view.deployment}"
    return "\n".join([clean(head), *map(clean, lines), *(problem_text(one) for one in view.warnings)])


def deleted_text(view: ScheduleView) -> str:
    """Return a line about the schedule that was deleted."""
    return clean(f"The schedule '{view.name}' of '{view.deployment}' is deleted.")


def preview_text(found: SchedulePreview) -> str:
    """Return a table of the next times of a schedule."""
    if not found.times:
        return clean(f"'{found.name}' of '{found.deployment}' will not be due any more.")
    rows = [
        (time.local, datetime.fromtimestamp(time.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")) for time in found.times
    ]
    columns: Columns[tuple[str, str]] = {found.zone: lambda row: row[0], "utc": lambda row: row[1]}
    return table(columns, rows) if found.zone != "UTC" else table({"utc": lambda row: row[1]}, rows)


def history_text(found: ScheduleHistory) -> str:
    """Return a table of what became of the times of a schedule."""
    if not found.runs:
        return clean(f"'{found.name}' of '{found.deployment}' has not been due since an engine first looked.")
    columns: Columns[ScheduleRunView] = {
        "due": _due_text,
        "outcome": lambda run: run.outcome,
        "execution": lambda run: run.execution,
        "reason": lambda run: run.reason,
    }
    told = table(columns, found.runs)
    return f"{told}\nOlder ones are shown with --count." if found.is_shortened else told


def _due_text(run: ScheduleRunView) -> str:
    if run.count == 1:
        return moment(run.due_at)
    return f"{run.count} times, {moment(run.due_at)} to {moment(run.last_due_at)}"


def rule_text(rule: Mapping[str, Value], since: str) -> str:
    """Return how often a schedule is due, as its author wrote it.

    >>> rule_text({"recurrence": "1d", "weekdays": ["mo", "tu"], "count": 3}, ""), rule_text({}, "2026-01-01 07:30:00")
    ('every 1d on mo, tu, 3 times', 'once, 2026-01-01 07:30:00')
    """
    for form in ("rrule", "cron"):
        if form in rule:
            return f"{form} {rule[form]}"
    if not rule:
        return f"once, {since}"
    days, count = rule.get("weekdays"), rule.get("count")
    on = f" on {', '.join(map(str, days))}" if isinstance(days, list) and days else ""
    return f"every {rule.get('recurrence')}{on}{f', {count} times' if count else ''}"
