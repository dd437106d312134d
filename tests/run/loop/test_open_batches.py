"""A turn takes a limited number of outcomes; the rest waits in order."""

import numpy as np
from tests.run.engines import Station

from phaseline.calls.protocol.reports import CallReport, all_completed
from phaseline.run.loop.open_batches import TURN_ENTRIES, Backlog, OpenBatches


def outstanding() -> OpenBatches:
    station = Station()
    return OpenBatches(station.store, station.deployments, station.engine.scheduler, lambda: None)


def report(batch: int, count: int) -> CallReport:
    return all_completed(batch, np.arange(count, dtype=np.int32))


def test_what_is_too_much_for_one_turn_waits_for_the_next() -> None:
    backlog = Backlog(outstanding())
    many = [report(number, TURN_ENTRIES // 2) for number in range(1, 4)]
    assert [one.batch for one in backlog.take(many)] == [1, 2]
    assert backlog
    assert [one.batch for one in backlog.take([report(4, 1)])] == [3, 4]
    assert not backlog


def test_a_report_is_never_divided() -> None:
    backlog = Backlog(outstanding())
    assert [len(one.members) for one in backlog.take([report(1, 3 * TURN_ENTRIES)])] == [3 * TURN_ENTRIES]
