"""Reports come at their time, and not at all of whom nothing comes any more."""

import numpy as np

from phaseline.calls.protocol.reports import CallReport
from phaseline.testing.clock import VirtualClock
from phaseline.testing.scheduled_reports import Coming


def report(batch: int, *members: int) -> CallReport:
    count = len(members)
    return CallReport(batch, np.array(members, np.int32), np.zeros(count, np.uint8), np.full(count, -1, np.int64))


def said(coming: Coming) -> list[tuple[int, list[int]]]:
    return [(one.batch, one.members.tolist()) for one in coming.arrived()]


def test_the_earliest_comes_first_and_those_of_one_moment_in_their_order() -> None:
    clock = VirtualClock(1_000)
    coming = Coming(clock)
    for batch, after in ((1, 20), (2, 10), (3, 10), (4, 30)):
        coming.add(after, report(batch, 0))
    assert (coming.next_at, said(coming)) == (1_010, [])
    clock.advance_to(1_020)
    assert said(coming) == [(2, [0]), (3, [0]), (1, [0])]
    assert (bool(coming), coming.next_at) == (True, 1_030)


def test_nothing_comes_of_members_that_were_dropped() -> None:
    clock = VirtualClock(0)
    coming = Coming(clock)
    for members in ((0, 1), (1,), (2,)):
        coming.add(0, report(1, *members))
    coming.add(0, report(2, 1))
    coming.drop(1, np.array([1], np.int32))
    assert said(coming) == [(1, [0]), (1, [2]), (2, [1])]
    coming.add(5, report(3, 0))
    coming.clear()
    assert (bool(coming), coming.next_at) == (False, None)
