"""What every store promises (ScheduleShelf): schedules of deployments, by hand and from blueprints (SC1, SC10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import (
    Actor,
    ForgottenDeployment,
    NewDeployment,
    PlannerWrites,
    Reshaped,
    TurnPayload,
)
from phaseline.model.rows.schedules import NEVER, NOT_COMPUTED, NewSchedule, ScheduleRow
from phaseline.model.schedules.schedule_spec import ScheduleSpec
from phaseline.ports.store import Store

Reopen = Callable[[], Store]
BOB = Actor("bob")
SPEC = ScheduleSpec(
    "pull",
    "2026-01-01 07:30:00",
    "2027-01-01 00:00:00",
    "Europe/Berlin",
    {"rrule": "FREQ=DAILY"},
    {"node_ids": ["net", {"get_secret": "x"}]},
    {"dry_run": True},
    slip_min=5,
    stop_on_fail=True,
    catch_up="all",
    spread_s=600,
)


def with_schedules(schedules: Mapping[str, Any], name: str = "shop") -> NewDeployment:
    new = a.deployment(name)
    blueprint = altered(new.blueprint, deployment_settings={"default_schedules": schedules})
    return altered(new, blueprint=blueprint, topology=altered(new.topology, blueprint=blueprint))


def written(**fields: Any) -> dict[str, Any]:
    return {"workflow": "pull", "since": "2026-01-01 07:30:00", "recurrence": "1d", **fields}


def names(store: Store, deployment: int) -> list[str]:
    return [row.name for row in store.schedules.all(deployment)]


def test_sc1_a_schedule_by_hand_is_kept_whole(reopen: Reopen) -> None:
    store = reopen()
    number, _ = store.create_deployment(a.deployment())
    made = store.schedules.add(NewSchedule(number, "nightly", SPEC, next_at=9_000), BOB)
    assert made is not None
    assert made == altered(
        ScheduleRow(made.number, number, "nightly", SPEC), next_at=9_000, created_at=made.created_at, created_by="bob"
    )
    store = reopen()
    assert store.schedules.find(number, "nightly") == made
    assert store.schedules.find(number, "weekly") is None
    assert [*store.schedules.all()] == [*store.schedules.all(number)] == [made]


def test_sc1_a_name_is_given_once_in_a_deployment(reopen: Reopen) -> None:
    store = reopen()
    numbers = [store.create_deployment(a.deployment(name))[0] for name in ("shop", "bank")]
    assert [store.schedules.add(NewSchedule(number, "nightly", SPEC), BOB) is not None for number in numbers] == [
        True
    ] * 2
    assert store.schedules.add(NewSchedule(numbers[0], "nightly", altered(SPEC, workflow="heal")), BOB) is None
    assert [row.spec.workflow for row in store.schedules.all()] == ["pull", "pull"]


def test_sc1_only_deployments_that_live_get_schedules(reopen: Reopen) -> None:
    store = reopen()
    number, _ = store.create_deployment(a.deployment())
    with pytest.raises(LookupError):
        store.schedules.add(NewSchedule(number + 5, "nightly", SPEC), BOB)
    store.delete_deployment(number, BOB)
    with pytest.raises(ProblemsError) as caught:
        store.schedules.add(NewSchedule(number, "nightly", SPEC), BOB)
    assert [problem.code for problem in caught.value.problems] == ["PL-C010"]


def test_sc1_a_schedule_is_changed_unless_another_change_was_first(reopen: Reopen) -> None:
    store = reopen()
    number, _ = store.create_deployment(a.deployment())
    made = store.schedules.add(NewSchedule(number, "nightly", SPEC), BOB)
    assert made is not None
    later = altered(SPEC, workflow="heal", rule={"cron": "0 0 * * *"})
    changed = store.schedules.change(made, later, 5_000, a.ANN)
    assert changed == altered(made, spec=later, next_at=5_000, revision=1, changed_by="ann")
    assert store.schedules.change(made, SPEC, 6_000, BOB) is None
    assert store.schedules.find(number, "nightly") == changed
    assert store.schedules.remove(changed)
    assert store.schedules.change(changed, SPEC, 6_000, BOB) is None


def test_sc8_a_schedule_is_disabled_with_a_reason_and_enabled_again(reopen: Reopen) -> None:
    store = reopen()
    number, _ = store.create_deployment(a.deployment())
    made = store.schedules.add(NewSchedule(number, "nightly", SPEC, next_at=7_000), BOB)
    assert made is not None
    off = store.schedules.switch(made, is_enabled=False, next_at=NEVER, actor=a.ANN, reason="it failed")
    assert off == altered(made, is_enabled=False, switched_by="ann", reason="it failed", next_at=NEVER)
    on = store.schedules.switch(made, is_enabled=True, next_at=8_000, actor=BOB)
    assert on == store.schedules.find(number, "nightly") == altered(made, switched_by="bob", next_at=8_000)
    assert store.schedules.remove(made)
    assert not store.schedules.remove(made)
    assert store.schedules.switch(made, is_enabled=True, next_at=0, actor=BOB) is None


def test_sc1_a_deployment_begins_with_the_schedules_of_its_blueprint(reopen: Reopen) -> None:
    store = reopen()
    off = written(default_enabled=False, stop_after_fail=True, slip=5, execution_arguments={"is_dry_run": True})
    number, _ = store.create_deployment(with_schedules({"b": written(timezone="Asia/Tokyo"), "a": off}))
    first, second = store.schedules.all(number)
    assert (first.name, first.is_enabled, first.origin, first.created_by) == ("a", False, "blueprint", "ann")
    assert (second.name, second.is_enabled, second.next_at) == ("b", True, NOT_COMPUTED)
    assert first.spec == ScheduleSpec(
        "pull",
        "2026-01-01 07:30:00",
        "",
        "",
        {"recurrence": "1d"},
        {},
        {"dry_run": True},
        slip_min=5,
        stop_on_fail=True,
    )
    assert second.spec.zone == "Asia/Tokyo"


def test_sc10_what_comes_with_an_adopted_deployment_is_disabled(reopen: Reopen) -> None:
    store = reopen()
    number, _ = store.create_deployment(altered(with_schedules({"a": written()}), has_enabled_schedules=False))
    assert [row.is_enabled for row in store.schedules.all(number)] == [False]


def test_sc10_a_deployment_that_is_deleted_takes_its_schedules_with_it(reopen: Reopen) -> None:
    store = reopen()
    number, _ = store.create_deployment(with_schedules({"a": written()}))
    other, _ = store.create_deployment(with_schedules({"a": written()}, "bank"))
    store.schedules.add(NewSchedule(number, "nightly", SPEC), BOB)
    store.delete_deployment(number, BOB)
    assert (names(store, number), names(store, other)) == ([], ["a"])
    assert [row.deployment for row in reopen().schedules.all()] == [other]


def test_sc10_a_deployment_that_is_abandoned_takes_its_schedules_with_it(reopen: Reopen) -> None:
    store = reopen()
    number, row = store.create_deployment(with_schedules({"a": written()}), a.execution())
    assert row is not None
    gone = PlannerWrites(forgotten=(ForgottenDeployment(number, row.number, "eve"),))
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(written=gone)))
    assert names(store, number) == [*reopen().schedules.all()] == []


def test_a59_an_update_follows_the_blueprint_and_keeps_what_was_made_by_hand(reopen: Reopen) -> None:
    """It removes b, changes c, adds f, and keeps the manual d, the changed e and what a user disabled."""
    store = reopen()
    first = {"b": written(), "c": written(), "e": written(), "g": written(), "h": written()}
    number, _ = store.create_deployment(with_schedules(first))
    store.schedules.add(NewSchedule(number, "d", SPEC), BOB)
    rows = {row.name: row for row in store.schedules.all(number)}
    by_hand = altered(rows["e"].spec, workflow="heal")
    assert store.schedules.change(rows["e"], by_hand, 5, BOB)
    assert store.schedules.switch(rows["c"], is_enabled=False, next_at=NEVER, actor=BOB)
    assert store.schedules.change(rows["h"], by_hand, 5, BOB)
    with store.own("test"):
        wanted = {"c": written(slip=9), "d": written(), "e": written(slip=9), "f": written(), "g": written()}
        blueprint = with_schedules(wanted).blueprint
        row = Reshaped(number, store.topology(number), blueprint)
        store.commit(a.turn(payload=TurnPayload(reshaped=(row,))))
    found = {row.name: row for row in reopen().schedules.all(number)}
    assert [*found] == ["c", "d", "e", "f", "g", "h"]
    assert (found["c"].spec.slip_min, found["c"].is_enabled, found["c"].next_at) == (9, False, NOT_COMPUTED)
    assert (found["d"].spec, found["d"].origin) == (SPEC, "hand")
    assert (found["e"].spec, found["h"].spec) == (by_hand, by_hand)
    assert (found["f"].origin, found["f"].is_enabled) == ("blueprint", True)
    assert found["g"] == rows["g"]


def test_sc10_an_update_without_a_new_blueprint_leaves_them(reopen: Reopen) -> None:
    store = reopen()
    number, _ = store.create_deployment(with_schedules({"a": written()}))
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(reshaped=(Reshaped(number, store.topology(number)),))))
    assert names(store, number) == ["a"]
