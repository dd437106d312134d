"""Schedules that an installation would store, with their first times (SC11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.dsl.nodes.schedules import begun
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.schedules.schedule_spec import blueprint_schedules
from phaseline.use_cases.queries.estate.schedules import DueTime, next_times

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Blueprint

SHOWN = 3
"""Number of times that a plan shows of a schedule."""


@frozen
class PlannedSchedule:
    """A schedule of a blueprint, with its first times if the deployment is made now."""

    name: str
    workflow: str
    is_enabled: bool
    times: Sequence[DueTime]


def planned_schedules(blueprint: Blueprint, now_ms: int) -> Sequence[PlannedSchedule]:
    """Return the schedules of a blueprint by name, with their first three times after now. Raises: PL-B159."""
    found = blueprint_schedules(begun(blueprint.deployment_settings, now_ms))
    return [
        PlannedSchedule(name, spec.workflow, is_enabled, next_times(spec, now_ms, SHOWN))
        for name, (spec, is_enabled) in sorted(found.items())
    ]


def planned_text(schedules: Sequence[PlannedSchedule]) -> str:
    """Return a line for each schedule with its first times.

    >>> print(planned_text([PlannedSchedule("nightly", "heal", True, [DueTime(0, "1970-01-01 00:00:00+00:00")])]))
    Schedules, with their next times:
        nightly: heal at 1970-01-01 00:00:00+00:00
    """
    lines = ["Schedules, with their next times:"]
    for schedule in schedules:
        times = ", ".join(time.local for time in schedule.times)
        when = f"at {times}" if times else "never: its last time has passed"
        off = "" if schedule.is_enabled else " (disabled)"
        lines.append(f"    {schedule.name}: {schedule.workflow} {when}{off}")
    return "\n".join(lines)
