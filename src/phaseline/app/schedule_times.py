"""When a stored schedule is due: its rule read, its zone looked up on this machine (SC2, SC3)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from phaseline.app.zones import zone_for
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.model.schedules.cron_text import read_cron
from phaseline.model.schedules.recurrence_words import read_recurrence
from phaseline.model.schedules.rrule_text import read_rrule
from phaseline.plan.recurrence.occurrences import Occurrences, Recurrence

if TYPE_CHECKING:
    from phaseline.model.schedules.recurrence_rule import RecurrenceRule, RuleFault
    from phaseline.model.schedules.schedule_spec import ScheduleSpec

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - times of the wall clock have no zone


def occurrences_of(spec: ScheduleSpec, now_ms: int) -> Occurrences:
    """Return the moments at which a schedule is due, from its start on. Changes of its zone are known around now.

    Raises: ``ProblemsError`` PL-B159 with all that is wrong with the rule, the times or the zone.
    """
    rule, start, zone_name, faults = _read(spec)
    if faults:
        raise ProblemsError([Problem("PL-B159", fault.message, fault.mend) for fault in faults])
    zone = zone_for(zone_name or None, start, now_ms // 1000)
    until = zone.moment(wall_second(spec.until)) if spec.until else None
    return Occurrences(Recurrence(rule, start, zone, until))


def wall_second(text: str) -> int:
    """Return the seconds since 1970 of a stored wall time.

    >>> wall_second("1970-01-02 00:00:01")
    86401
    """
    return int((datetime.fromisoformat(text) - _EPOCH).total_seconds())


def _read(spec: ScheduleSpec) -> tuple[RecurrenceRule | None, int, str, list[RuleFault]]:
    """Return (rule, start as a wall time in seconds, name of the zone, faults). A DTSTART of the rule replaces ``since``."""
    start, zone, given = wall_second(spec.since), spec.zone, spec.rule
    if "rrule" in given:
        text, faults = read_rrule(given["rrule"])
        if text is None:
            return None, start, zone, faults
        return text.rule, start if text.start is None else text.start, text.zone or zone, faults
    if "cron" in given:
        rule, faults = read_cron(given["cron"])
        return rule, start, zone, faults
    rule, found = read_recurrence(given.get("recurrence"), given.get("weekdays") or (), given.get("count"))
    return rule, start, zone, [fault for _, fault in found]
