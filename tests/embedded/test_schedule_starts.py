"""Schedules start workflows in a real store: by ``engine run --due``, as their creator, with all checks (SC5 to SC9)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from phaseline.app.app_context import RequestContext
from phaseline.app.settings import Settings
from phaseline.embedded.engine_commands import run_engine
from phaseline.embedded.open_app import open_context
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.rows import Actor
from phaseline.testing import VirtualClock
from phaseline.use_cases.commands.create_deployment import create
from phaseline.use_cases.commands.estate.schedules import ScheduleOrder, create_schedule
from phaseline.use_cases.commands.install import install
from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
from phaseline.use_cases.queries.estate.schedules import schedule_history, show_schedule
from phaseline.use_cases.queries.status import status

BLUEPRINT = """
tosca_definitions_version: phaseline_dsl_1_0
imports: [cloudify/types/types.yaml]
node_templates: {net: {type: cloudify.nodes.Root}}
deployment_settings:
  default_schedules:
    dry:
      workflow: uninstall
      since: '2023-12-01 00:00'
      execution_arguments: {is_dry_run: true}
"""
NOW = 1_700_000_000_000
MINUTE = 60_000
DAY = 1440 * MINUTE
DAILY = ScheduleOrder("check_status", every="1d", at=None)


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[RequestContext]:
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    with open_context(Settings(f"sqlite:///{tmp_path}/store.db"), "a test") as found:
        found.app.clock = VirtualClock(NOW)
        yield found


@pytest.fixture
def shop(ctx: RequestContext, tmp_path: Path) -> RequestContext:
    """The context with an installed deployment."""
    install(ctx, DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop"))
    run_engine(ctx, until_idle=True)
    return ctx


def pass_time(ctx: RequestContext, by: int) -> None:
    clock = ctx.app.clock
    assert isinstance(clock, VirtualClock)
    clock.jump(by)


def outcomes(ctx: RequestContext, name: str = "nightly") -> list[str]:
    return [run.outcome for run in reversed(schedule_history(ctx, name, "shop").runs)]


def test_sc5_run_due_starts_what_is_due_and_leaves(shop: RequestContext) -> None:
    made = create_schedule(shop, "nightly", "shop", DAILY)
    assert [one.code for one in made.warnings] == ["PL-C143"]
    assert run_engine(shop, due=True).reason == "idle"
    assert schedule_history(shop, "nightly", "shop").runs == []
    pass_time(shop, DAY)
    assert run_engine(shop, due=True).reason == "idle"
    (run,) = schedule_history(shop, "nightly", "shop").runs
    assert (run.outcome, run.due_at, run.reason) == ("fired", made.next_at, "")
    found = shop.store.execution(run.execution)
    assert found is not None
    assert (found.request.workflow, found.status.value) == ("check_status", "completed")
    run_engine(shop, due=True)
    assert outcomes(shop) == ["fired"]


def test_sc5_an_engine_until_idle_starts_what_is_due_but_waits_for_nothing(shop: RequestContext) -> None:
    create_schedule(shop, "nightly", "shop", DAILY)
    assert run_engine(shop, until_idle=True).reason == "idle"
    assert outcomes(shop) == []


def test_sc9_the_actor_is_who_made_the_schedule(shop: RequestContext) -> None:
    create_schedule(altered(shop, actor=Actor("ann", shop.actor.tenant)), "nightly", "shop", DAILY)
    pass_time(shop, DAY)
    run_engine(shop, due=True)
    (run,) = schedule_history(shop, "nightly", "shop").runs
    found = shop.store.execution(run.execution)
    assert found is not None
    assert found.created_by == "ann"


def test_sc8_a_workflow_that_is_not_available_is_refused_and_the_schedule_continues(
    ctx: RequestContext, tmp_path: Path
) -> None:
    create(ctx, DeploymentSpec(str(tmp_path / "blueprint.yaml"), "shop"))
    create_schedule(ctx, "nightly", "shop", ScheduleOrder("restart", every="1d"))
    pass_time(ctx, DAY)
    run_engine(ctx, due=True)
    (run,) = schedule_history(ctx, "nightly", "shop").runs
    assert run.outcome == "refused"
    assert "PL-P010" in run.reason
    assert show_schedule(ctx, "nightly", "shop").is_enabled
    pass_time(ctx, DAY)
    run_engine(ctx, due=True)
    assert outcomes(ctx) == ["refused", "refused"]


@pytest.mark.parametrize(("slip", "expected"), [(0, ["missed"]), (1440, ["missed", "fired"])])
def test_a53_three_days_off(shop: RequestContext, slip: int, expected: list[str]) -> None:
    create_schedule(shop, "nightly", "shop", altered(DAILY, slip=slip))
    run_engine(shop, due=True)
    pass_time(shop, 3 * DAY + 120 * MINUTE)
    assert [one.schedule for one in status(shop).upcoming] == ["nightly", "dry"]
    run_engine(shop, due=True)
    assert outcomes(shop) == expected
    missed = schedule_history(shop, "nightly", "shop").runs[-1]
    assert missed.count == 4 - len(expected)
    assert status(shop).missed_count == (3 if slip == 0 else 0)


def test_sc4_a_dry_run_of_a_blueprint_stores_a_plan_and_no_execution(shop: RequestContext) -> None:
    before = len(shop.store.executions())
    run_engine(shop, due=True)  # computes when it is due
    pass_time(shop, show_schedule(shop, "dry", "shop").next_at - shop.clock.now())
    run_engine(shop, due=True)
    (run,) = schedule_history(shop, "dry", "shop").runs
    (plan,) = shop.store.stored_plans.all()
    assert (run.outcome, run.reason, plan.request.workflow) == ("fired", plan.id, "uninstall")
    assert len(shop.store.executions()) == before


def test_a62_an_idle_engine_with_many_schedules_reads_none_of_them(shop: RequestContext) -> None:
    """It does not even read when the next is due, as long as nothing is written."""
    create_schedule(shop, "nightly", "shop", DAILY)
    store = shop.app.store
    with store.own("an engine"):
        store.requests(0)
        asked: list[str] = []
        store.connections.reader().set_trace_callback(asked.append)
        for _ in range(100):
            store.requests(0)
        store.connections.reader().set_trace_callback(None)
        assert store.next_schedule_at == show_schedule(shop, "nightly", "shop").next_at
    assert [one for one in asked if "schedule" in one] == []
