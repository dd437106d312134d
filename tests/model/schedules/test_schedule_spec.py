"""Schedules as their author wrote them, from blueprints and as JSON (SC1, SC4)."""

from __future__ import annotations

import json

from phaseline.model.schedules.schedule_spec import ScheduleSpec, blueprint_schedules, spec_from_json, spec_to_json


def test_sc4_the_words_of_a_blueprint_mean_those_of_a_schedule() -> None:
    written = {
        "workflow": "pull",
        "since": "2026-01-01 07:30:00",
        "until": None,
        "timezone": "Asia/Tokyo",
        "default_enabled": False,
        "stop_after_fail": True,
        "slip": 5,
        "weekdays": [],
        "rrule": "FREQ=DAILY",
        "execution_arguments": {"is_dry_run": True, "force": False},
        "workflow_parameters": {"a": 1},
    }
    spec, is_enabled = blueprint_schedules({"default_schedules": {"nightly": written}})["nightly"]
    assert not is_enabled
    assert spec == ScheduleSpec(
        "pull",
        "2026-01-01 07:30:00",
        "",
        "Asia/Tokyo",
        {"rrule": "FREQ=DAILY"},
        {"a": 1},
        {"force": False, "dry_run": True},
        slip_min=5,
        stop_on_fail=True,
    )


def test_sc1_without_schedules_there_are_none() -> None:
    assert blueprint_schedules({}) == blueprint_schedules({"default_schedules": None}) == {}


def test_sc1_json_keeps_everything() -> None:
    spec = ScheduleSpec("pull", "2026-01-01 07:30:00", rule={"recurrence": "1d", "weekdays": ["mo"]}, spread_s=60)
    assert spec_from_json(json.loads(json.dumps(spec_to_json(spec)))) == spec
