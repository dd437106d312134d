"""Times in which nothing may be changed."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from phaseline.policies.freezing import Freeze
from phaseline.testing.builders import blueprint, node, topology
from phaseline.testing.hook_calls import called, deployment

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
        ([{"hours": "16"}], "are no hours"),
        ([{"from": "24.12.2026"}], "is no date"),
        ([{"from": "2026-12-24T10:00+01:00"}], "has a zone of its own"),
    ],
)
def test_windows_that_are_none_are_refused_when_it_is_made(windows, said):
    with pytest.raises(ValueError, match=said):
        Freeze(windows)


def test_a_zone_that_is_none_is_refused():
    with pytest.raises(ValueError, match="no time zone"):
        Freeze([{"days": "mon"}], timezone="Middle/Earth")
