"""Which occurrences fire and which were missed (SC7, SC13, A53)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.model.schedules.recurrence_rule import RecurrenceRule
from phaseline.plan.recurrence.due_firings import MAX_COUNTED, DueFirings, due_firings
from phaseline.plan.recurrence.occurrences import Occurrences, Recurrence

DAY = 86_400
START = 20_000 * DAY + 8 * 3600
DAILY = Occurrences(Recurrence(RecurrenceRule("DAILY"), START))


def test_a53_after_three_days_off_nothing_fires_without_slip() -> None:
    now = START + 3 * DAY + 3600
    found = due_firings(DAILY, START, now)
    assert found == DueFirings((), (START + DAY, START + 3 * DAY, 3), START + 4 * DAY)


def test_a53_after_three_days_off_the_newest_fires_within_the_slip() -> None:
    now = START + 3 * DAY + 3600
    found = due_firings(DAILY, START, now, slip_s=1440 * 60)
    assert found == DueFirings((START + 3 * DAY,), (START + DAY, START + 2 * DAY, 2), START + 4 * DAY)


def test_sc7_a_minute_late_is_not_missed() -> None:
    assert due_firings(DAILY, START, START + DAY + 60).fire == (START + DAY,)
    assert due_firings(DAILY, START, START + DAY + 61).fire == ()
    assert due_firings(DAILY, START, START + DAY - 1) == DueFirings((), None, START + DAY)


def test_sc7_what_is_caught_up_can_be_chosen() -> None:
    now = START + 3 * DAY + 3600
    days = [START + day * DAY for day in range(5)]
    assert due_firings(DAILY, START, now, catch_up="last").fire == (days[3],)
    assert due_firings(DAILY, START, now, catch_up="all") == DueFirings(tuple(days[1:4]), None, days[4])
    assert due_firings(DAILY, START, now, catch_up="none", slip_s=1440 * 60).fire == ()
    assert due_firings(DAILY, START, days[1] + 5, catch_up="none").fire == (days[1],)


def test_sc7_at_most_100_are_caught_up_and_the_others_counted() -> None:
    found = due_firings(DAILY, START, START + 250 * DAY, catch_up="all")
    assert len(found.fire) == 100
    assert found.missed == (START + DAY, START + 150 * DAY, 150)
    assert found.fire[0] == START + 151 * DAY


def test_sc7_a_year_of_missed_seconds_is_not_counted_one_by_one() -> None:
    seconds = Occurrences(Recurrence(RecurrenceRule("SECONDLY", months=(*range(1, 13),)), START))
    now = START + 365 * DAY
    found = due_firings(seconds, START, now)
    assert found.fire == (now,)
    assert found.missed == (START + 1, now - 1, MAX_COUNTED)


def test_sc7_after_the_last_occurrence_of_all_nothing_is_due_next() -> None:
    ended = Occurrences(Recurrence(RecurrenceRule("DAILY"), START, until=START + 2 * DAY))
    found = due_firings(ended, START, START + 2 * DAY + 30)
    assert found == DueFirings((START + 2 * DAY,), (START + DAY, START + DAY, 1), None)


def test_sc13_a_clock_that_is_set_back_fires_nothing_again() -> None:
    back = due_firings(DAILY, START + 3 * DAY, START + DAY + 10)
    assert back == DueFirings((), None, START + 4 * DAY)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(-3 * DAY, 4 * DAY), min_size=1, max_size=12), st.sampled_from(["slip", "last", "all", "none"])
)
def test_sc13_whatever_the_clock_does_each_occurrence_is_due_once(jumps: list[int], catch_up: str) -> None:
    """Each occurrence is fired or counted as missed exactly once, in ascending order, however the clock jumps."""
    now = seen = START - 1
    fired: list[int] = []
    missed = 0
    for jump in jumps:
        now += jump
        found = due_firings(DAILY, seen, now, slip_s=3600, catch_up=catch_up)  # type: ignore[arg-type] # drawn from its values
        fired += found.fire
        missed += found.missed[2] if found.missed else 0
        seen = max(seen, now)
        assert found.next is not None
        assert found.next > seen
    assert fired == sorted(set(fired))
    assert len(fired) + missed == sum(1 for day in range(100) if START + day * DAY <= seen)
