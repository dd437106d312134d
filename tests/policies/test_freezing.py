"""Times in which nothing may be changed."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

import phaseline
from phaseline.policies.freezing import Freeze
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.hook_calls import called, deployment

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml]
node_templates: {web: {type: cloudify.nodes.Root}}
"""
SECOND_THOUGHTS = """
from pathlib import Path
from phaseline import LifecycleHook

TOLD = Path(__file__).with_name("told")


class Early(LifecycleHook):
    momentary = True

    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        if TOLD.exists():
            raise RuntimeError("it has begun meanwhile")


class Later(LifecycleHook):
    def do_pre_op(self, cnxt, stack, current_stack=None, action=None):
        TOLD.write_text("Later agreed; ")

    def do_post_op(self, cnxt, stack, current_stack=None, action=None, is_stack_failure=False):
        TOLD.write_text(f"{TOLD.read_text()}Later was told {cnxt.hook.reason}; ")
"""
ABOUT = deployment(topology(blueprint(node("web"))))
ZURICH = "Europe/Zurich"


def is_frozen(hook: Freeze, local: str) -> bool:
    at = datetime.fromisoformat(local).replace(tzinfo=hook.zone)
    return called(hook, ABOUT, at=at).kind == "failed"


@pytest.mark.parametrize(
    ("local", "frozen"),
    [("2026-12-23T23:59", False), ("2026-12-24T00:00", True), ("2027-01-02T23:59", True), ("2027-01-03T00:00", False)],
)
def test_dates_are_whole_days(local, frozen):
    hook = Freeze([{"from": "2026-12-24", "until": "2027-01-02"}], timezone=ZURICH)
    assert is_frozen(hook, local) is frozen


@pytest.mark.parametrize(
    ("local", "frozen"),
    [
        ("2026-11-20T15:59", False),  # a Friday
        ("2026-11-20T16:00", True),
        ("2026-11-21T07:59", True),
        ("2026-11-21T08:00", False),
        ("2026-11-22T02:00", False),
    ],
)
def test_hours_that_go_over_midnight_belong_to_the_day_on_which_they_begin(local, frozen):
    assert is_frozen(Freeze([{"days": "fri", "hours": "16:00-08:00"}], timezone=ZURICH), local) is frozen


@pytest.mark.parametrize(
    ("window", "inside", "outside"),
    [
        ({"days": "sat Sunday"}, "2026-11-22T12:00", "2026-11-23T12:00"),
        ({"hours": "20:00-24:00"}, "2026-11-23T20:00", "2026-11-23T19:59"),
        ({"from": "2026-12-24T18:00"}, "2026-12-24T18:00", "2026-12-24T17:59"),
        ({"until": "2026-12-24T18:00"}, "2026-12-24T17:59", "2026-12-24T18:00"),
        ({"days": "mon", "from": "2026-12-01"}, "2026-12-07T09:00", "2026-11-30T09:00"),
    ],
)
def test_a_window_holds_where_all_that_it_says_holds(window, inside, outside):
    assert is_frozen(Freeze([window]), inside)
    assert not is_frozen(Freeze([window]), outside)


def test_the_clock_of_the_zone_counts():
    hook = Freeze([{"from": "2026-12-24T00:00"}], timezone=ZURICH)
    at = datetime(2026, 12, 23, 23, 30, tzinfo=ZoneInfo("UTC"))
    answer = called(Freeze([{"from": "2026-12-24T00:00"}], timezone=ZURICH, reason="holidays"), ABOUT, at=at)
    assert answer.message == "nothing may be changed at Thu 2026-12-24 00:30 CET: holidays"
    assert called(hook, ABOUT, at=at, method="do_preview_op").kind == "failed"


def test_who_is_exempt_may_and_what_only_looks_is_not_asked():
    hook = Freeze([{"days": "mon tue wed thu fri sat sun"}], exempt=["ann"])
    assert called(hook, ABOUT).kind == "agreed"
    assert not {"CHECK", "ROLLBACK", "SNAPSHOT"} & set(hook.actions)


@pytest.mark.parametrize(
    ("windows", "said"),
    [
        ([], "names no time"),
        ([{}], "not nothing"),
        ([{"form": "2026-12-24"}], "not form"),
        ([{"days": "xyz"}], "'xyz' is no day"),
        ([{"days": "sat sunnday"}], "'sunnday' is no day; there are: monday"),
        ([{"days": "monkey"}], "'monkey' is no day"),
        ([{"days": "mo"}], "'mo' is no day"),
        ([{"hours": "16"}], "is no span of hours"),
        ([{"from": "24.12.2026"}], "is no date"),
        ([{"from": "2026-12-24T10:00+01:00"}], "has a time zone"),
    ],
)
def test_windows_that_are_none_are_refused_when_it_is_made(windows, said):
    with pytest.raises(ValueError, match=said):
        Freeze(windows)


def test_a_zone_that_is_none_is_refused():
    with pytest.raises(ValueError, match="no time zone"):
        Freeze([{"days": "mon"}], timezone="Middle/Earth")


def test_17_what_all_had_agreed_to_does_not_begin_when_a_momentary_class_refuses_at_last(tmp_path):
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    (tmp_path / "momentary17.py").write_text(SECOND_THOUGHTS)
    named = [{"class": f"momentary17:{name}", "name": name, "folder": str(tmp_path)} for name in ("Early", "Later")]
    with phaseline.open("memory:", settings={"hooks.classes": json.dumps(named)}) as shop:
        done = shop.executions.install(str(tmp_path / "blueprint.yaml"), "shop")
        (seen,) = shop.deployments.list().items
    assert (done.status, done.reason) == ("failed", "pre hook Early (at last): it has begun meanwhile")
    assert seen.states == {"uninitialized": 1}
    assert (tmp_path / "told").read_text() == "Later agreed; Later was told pre_failed; "


def test_17_nobody_is_asked_to_approve_what_a_freeze_refuses(tmp_path):
    (tmp_path / "blueprint.yaml").write_text(BLUEPRINT)
    approval = {"class": "phaseline.policies.approvals:RequireApproval", "name": "approval"}
    windows = [{"from": "2000-01-01"}]
    freeze = {"class": "phaseline.policies.freezing:Freeze", "name": "freeze", "options": {"windows": windows}}
    with phaseline.open("memory:", settings={"hooks.classes": json.dumps([approval, freeze])}) as shop:
        done = shop.executions.install(str(tmp_path / "blueprint.yaml"), "shop")
        said = [line.text for line in shop.executions.logs(done.id).lines]
        order = [one.name for one in shop.hooks.list().hooks]
    assert (done.status, done.reason.partition(" at ")[0]) == ("failed", "pre hook freeze: nothing may be changed")
    assert not [text for text in said if "approval" in text]
    assert order == ["freeze", "approval"]
