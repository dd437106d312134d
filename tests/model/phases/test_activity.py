"""The activity of a phase as a whole: what the server does with it (phases.md 5)."""

import pytest

from phaseline.model.phases.activity import activity_of


@pytest.mark.parametrize(
    ("counts", "is_called", "activity"),
    [
        ({}, False, "Inactive"),
        ({"Waiting": 1}, False, "Running"),
        ({"Running": 3}, True, "Running"),
        ({"Running": 1, "Waiting": 5}, True, "Running"),
        ({"Sleeping": 1}, False, "Sleeping"),
        ({"Sleeping": 1, "Waiting": 1}, False, "Running"),
        ({"Running": 1, "Sleeping": 9}, True, "Running"),
    ],
)
def test_it_runs_while_somebody_waits_or_is_called_then_sleeps(
    counts: dict[str, int], is_called: bool, activity: str
) -> None:
    assert activity_of(counts, is_called=is_called) == activity


def test_p69_one_of_two_that_is_still_wanted_keeps_it_running() -> None:
    assert activity_of({"Running": 1, "Canceling": 1}, is_called=True) == "Running"


def test_p70_it_is_canceling_when_nobody_in_the_call_is_wanted() -> None:
    assert activity_of({"Canceling": 1}, is_called=True) == "Canceling"
    assert activity_of({"Canceling": 1, "Waiting": 2, "Sleeping": 1}, is_called=True) == "Canceling"


def test_p72_a_sleeper_of_an_earlier_call_keeps_it_sleeping() -> None:
    assert activity_of({"Sleeping": 1, "Failed": 3}, is_called=False) == "Sleeping"


def test_p73_what_failed_or_is_blocked_does_not_make_it_active() -> None:
    assert activity_of({"Failed": 7, "Blocked": 2}, is_called=False) == "Inactive"
