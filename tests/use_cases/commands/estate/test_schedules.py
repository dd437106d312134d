"""Schedules are created, changed, disabled and deleted by hand (SC11, A60)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.embedded.open_app import open_context
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.testing import VirtualClock
from phaseline.use_cases.commands.create_deployment import create
from phaseline.use_cases.commands.estate.schedules import (
    ScheduleOrder,
    create_schedule,
    delete_schedule,
    disable_schedule,
    enable_schedule,
    update_schedule,
)
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.queries.estate.schedules import list_schedules, show_schedule

BLUEPRINT = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
node_templates: {net: {type: cloudify.nodes.Root}}
deployment_settings:
  default_schedules:
    weekly: {workflow: heal, since: '2026-11-01 07:30', timezone: Europe/Berlin, rrule: FREQ=WEEKLY}
"""
NOW = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
DAILY = ScheduleOrder("heal", every="1d")


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as found:
        found.app.clock = VirtualClock(ms(NOW))
        create(found, DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop"))
        yield found


def refused(
    ctx: RequestContext, order: ScheduleOrder, name: str = "nightly", deployment: str = "shop"
) -> list[Problem]:
    """What is wrong with a schedule; nothing of it is stored."""
    before = list_schedules(ctx)
    with pytest.raises(ProblemsError) as caught:
        create_schedule(ctx, name, deployment, order)
    assert list_schedules(ctx) == before
    assert all(problem.mend for problem in caught.value.problems)
    return list(caught.value.problems)


def test_sc11_a_schedule_by_hand_is_stored_enabled(ctx: RequestContext) -> None:
    order = ScheduleOrder(
        "heal", cron="30 7 * * 1-5", zone="Europe/Berlin", until="+2 weeks", slip=5, stop_on_fail=True, catch_up="last"
    )
    made = create_schedule(ctx, "nightly", "shop", order)
    assert (made.since, made.until, made.zone) == ("2026-11-22 09:00:00", "2026-12-06 09:00:00", "Europe/Berlin")
    assert made.next_at == ms(datetime(2026, 11, 23, 6, 30, tzinfo=UTC))
    assert (made.origin, made.is_enabled, made.slip_min, made.stop_on_fail, made.catch_up) == (
        "hand",
        True,
        5,
        True,
        "last",
    )
    assert [row.name for row in ctx.store.schedules.all()] == ["nightly", "weekly"]
    assert ctx.store.schedules.all()[0].next_at == made.next_at


def test_sc11_once_at_a_time(ctx: RequestContext) -> None:
    made = create_schedule(ctx, "once", "shop", ScheduleOrder("heal", at="09:30"))
    assert (made.rule, made.next_at) == ({}, ms(datetime(2026, 11, 22, 9, 30, tzinfo=UTC)))


def test_a60_a_time_of_today_that_has_passed_is_warned_of(ctx: RequestContext) -> None:
    made = create_schedule(ctx, "once", "shop", ScheduleOrder("heal", at="07:30"))
    assert (made.warnings[0].code, made.next_at) == ("PL-C144", 0)
    made = create_schedule(ctx, "counted", "shop", ScheduleOrder("heal", every="1d", count=1, since="07:30"))
    assert made.warnings[0].code == "PL-C144"
    made = create_schedule(ctx, "daily", "shop", ScheduleOrder("heal", every="1d", since="07:30"))
    assert [warning.code for warning in made.warnings] == ["PL-C143"]
    assert made.next_at == ms(datetime(2026, 11, 23, 7, 30, tzinfo=UTC))


def test_sc11_what_is_given_is_changed_and_the_rest_stays(ctx: RequestContext) -> None:
    create_schedule(ctx, "nightly", "shop", ScheduleOrder("heal", every="1d", since="07:30", zone="Asia/Tokyo"))
    changed = update_schedule(ctx, "nightly", "shop", ScheduleOrder(rrule="FREQ=HOURLY", slip=9))
    assert (changed.rule, changed.slip_min) == ({"rrule": "FREQ=HOURLY"}, 9)
    assert (changed.since, changed.zone, changed.workflow) == ("2026-11-22 07:30:00", "Asia/Tokyo", "heal")
    changed = update_schedule(ctx, "nightly", "shop", ScheduleOrder(at="2027-01-01 00:00"))
    assert (changed.rule, changed.since) == ({}, "2027-01-01 00:00:00")
    assert ctx.store.schedules.all()[0].revision == 2


def test_sc8_a_schedule_is_disabled_and_enabled(ctx: RequestContext) -> None:
    off = disable_schedule(ctx, "weekly", "shop", reason="maintenance")
    assert (off.is_enabled, off.next_at, off.reason) == (False, 0, "maintenance")
    on = enable_schedule(ctx, "weekly", "shop")
    assert (on.is_enabled, on.reason) == (True, "")
    assert on.next_at == ms(datetime(2026, 11, 29, 6, 30, tzinfo=UTC))


def test_sc11_a_schedule_is_deleted_once(ctx: RequestContext) -> None:
    assert delete_schedule(ctx, "weekly", "shop").name == "weekly"
    assert list_schedules(ctx) == []
    with pytest.raises(ProblemsError) as caught:
        delete_schedule(ctx, "weekly", "shop")
    assert [problem.code for problem in caught.value.problems] == ["PL-C140"]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (ScheduleOrder("heal", every="1d", count=0), "'count' is 0"),
        (ScheduleOrder("heal", every="1d", rrule="FREQ=DAILY"), "--rrule and --every exclude each other"),
        (ScheduleOrder("heal", every="1d", at="07:30"), "--every and --at exclude each other"),
        (ScheduleOrder("heal", at="07:30", since="07:30"), "--at and --since exclude each other"),
        (ScheduleOrder("heal", cron="0 0 * * *", count=3), "--weekday and --count belong to --every"),
        (ScheduleOrder("heal"), "no time is given"),
        (ScheduleOrder(every="1d"), "no workflow is named"),
        (ScheduleOrder("heal", every="2 fortnights"), "'2 fortnights' is no span of time"),
        (ScheduleOrder("heal", every="1mo", weekdays=["5mo"]), "'5mo' is no weekday"),
        (
            ScheduleOrder("heal", every="1d", weekdays=["1mo"]),
            "a numbered weekday needs a month or a year to be counted in",
        ),
        (ScheduleOrder("heal", every="1d", until="2020-01-01 00:00"), "the schedule ends before it begins"),
        (ScheduleOrder("heal", every="1d", zone="Mars/Base"), "'Mars/Base' is no timezone"),
        (ScheduleOrder("heal", cron="0 0 30 2 *"), "no month has such a day, so the rule never occurs"),
        (
            ScheduleOrder("heal", rrule="FREQ=YEARLY;BYYEARDAY=366;BYMONTH=3"),
            "the rule has no time between its start and its end",
        ),
        (ScheduleOrder("heal", every="1d", since="10000-01-01 00:00"), "'10000-01-01 00:00' is no time for 'since'"),
        (ScheduleOrder("heal", every="1d", slip=-1), "the slip is -1"),
        (ScheduleOrder("heal", every="1d", catch_up="some"), "'some' is no way to catch up"),
    ],
)
def test_bad_input_of_a_schedule_is_refused(ctx: RequestContext, order: ScheduleOrder, message: str) -> None:
    assert message in [problem.message for problem in refused(ctx, order) if problem.code == "PL-B159"]


def test_bad_input_of_the_workflow_is_told_beside_that_of_the_rule(ctx: RequestContext) -> None:
    codes = [problem.code for problem in refused(ctx, ScheduleOrder("heel", every="often"))]
    assert codes == ["PL-B159", "PL-P009"]
    (found,) = refused(ctx, ScheduleOrder("heal", {"no_such_parameter": 1}, every="1d"))
    assert "no_such_parameter" in found.message


def test_bad_input_names_and_deployments(ctx: RequestContext) -> None:
    assert [problem.code for problem in refused(ctx, DAILY, "a/b")] == ["PL-C142"]
    assert [problem.code for problem in refused(ctx, DAILY, "")] == ["PL-C142"]
    assert [problem.code for problem in refused(ctx, DAILY, "weekly")] == ["PL-C141"]
    assert [problem.code for problem in refused(ctx, DAILY, deployment="shoop")] == ["PL-C010"]


def test_bad_input_of_an_update_leaves_the_schedule(ctx: RequestContext) -> None:
    before = show_schedule(ctx, "weekly", "shop")
    for order in (ScheduleOrder(cron="* * *"), ScheduleOrder("heel"), ScheduleOrder(zone="Mars/Base")):
        with pytest.raises(ProblemsError):
            update_schedule(ctx, "weekly", "shop", order)
    assert show_schedule(ctx, "weekly", "shop") == before
