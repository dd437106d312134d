"""What an update does to schedules, as a value (SC10); the stores carry it out in ``tests/store``."""

from __future__ import annotations

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.schedules import ScheduleRow, schedule_sync
from phaseline.model.schedules.schedule_spec import blueprint_schedules

WRITTEN = {"workflow": "pull", "since": "2026-01-01 07:30:00", "recurrence": "1d"}
SETTINGS = {"default_schedules": {"a": WRITTEN}}
SPEC = blueprint_schedules(SETTINGS)["a"][0]
ROW = ScheduleRow(1, 7, "a", SPEC, "blueprint")


def test_sc10_what_is_as_the_blueprint_has_it_stays() -> None:
    sync = schedule_sync([ROW], SETTINGS)
    assert not any((sync.added, sync.changed, sync.removed, sync.kept))


def test_sc10_only_what_a_user_made_or_changed_is_kept() -> None:
    other = altered(SPEC, workflow="heal")
    rows = [
        altered(ROW, name="gone"),
        altered(ROW, name="gone but changed", revision=1),
        altered(ROW, name="by hand", origin="hand"),
        altered(ROW, spec=other, origin="hand"),
    ]
    sync = schedule_sync(rows, SETTINGS)
    assert [row.name for row in sync.removed] == ["gone"]
    assert [row.name for row in sync.kept] == ["gone but changed", "a"]
    assert not sync.added
    for row in (altered(ROW, origin="hand"), altered(ROW, revision=1)):  # nothing of theirs would change
        sync = schedule_sync([row], SETTINGS)
        assert not any((sync.added, sync.changed, sync.removed, sync.kept))


def test_sc10_a_change_keeps_whether_a_user_has_disabled_it() -> None:
    settings = {"default_schedules": {"a": {**WRITTEN, "slip": 5}}}
    for row, is_enabled in ((ROW, True), (altered(ROW, is_enabled=False, switched_by="ann"), False)):
        ((changed, spec, enabled),) = schedule_sync([row], settings).changed
        assert (changed, spec.slip_min, enabled) == (row, 5, is_enabled)
