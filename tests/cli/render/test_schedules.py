"""Schedules as text (SC11)."""

from __future__ import annotations

from phaseline.cli.render.schedules import (
    NO_SCHEDULES,
    deleted_text,
    preview_text,
    rule_text,
    schedule_list,
    schedule_text,
)
from phaseline.lang.fast_dataclasses import altered
from phaseline.use_cases.queries.estate.schedules import DueTime, SchedulePreview, ScheduleView

VIEW = ScheduleView(
    deployment="shop",
    name="nightly\x1b[2J",
    workflow="heal",
    rule={"cron": "0 2 * * *"},
    since="2026-01-01 00:00:00",
    until="2027-01-01 00:00:00",
    zone="Europe/Berlin",
    is_enabled=False,
    next_at=0,
    last_at=0,
    origin="hand",
    parameters={"a": 1},
    arguments={"dry_run": True},
    slip_min=5,
    stop_on_fail=True,
    catch_up="last",
    reason="maintenance",
    created_at=0,
    created_by="ann",
)


def test_sc11_everything_of_a_schedule_is_shown_and_nothing_takes_the_terminal() -> None:
    text = schedule_text(VIEW)
    for part in ("heal", "a=1", "dry_run=True", "cron 0 2 * * *", "disabled (maintenance)", "5 min", "last", "by ann"):
        assert part in text
    assert "until       2027-01-01 00:00:00 Europe/Berlin" in text
    for shown in (text, deleted_text(VIEW), schedule_list([VIEW])):
        assert "\x1b" not in shown


def test_sc11_a_list_has_a_line_for_each() -> None:
    assert schedule_list([]) == NO_SCHEDULES
    head, line = schedule_list([altered(VIEW, name="nightly", is_enabled=True)]).splitlines()
    assert head.split() == ["DEPLOYMENT", "NAME", "WORKFLOW", "WHEN", "ZONE", "STATE", "NEXT"]
    assert line.split()[:3] == ["shop", "nightly", "heal"]


def test_sc11_a_preview_shows_both_clocks() -> None:
    found = SchedulePreview("shop", "nightly", "Asia/Tokyo", [DueTime(0, "1970-01-01 09:00:00+09:00")])
    assert preview_text(found).splitlines()[1] == "1970-01-01 09:00:00+09:00  1970-01-01 00:00:00"
    assert preview_text(altered(found, zone="UTC")).splitlines() == ["UTC", "1970-01-01 00:00:00"]
    assert preview_text(altered(found, times=[])) == "'nightly' of 'shop' will not be due any more."


def test_sc11_a_rule_is_shown_as_it_was_written() -> None:
    assert rule_text({"rrule": "FREQ=DAILY"}, "") == "rrule FREQ=DAILY"
    assert rule_text({"recurrence": "2 weeks"}, "") == "every 2 weeks"
