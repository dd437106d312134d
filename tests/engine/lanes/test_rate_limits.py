"""Rates of lanes: what adapts them."""

from phaseline.engine.lanes.rate_limits import TokenBuckets
from phaseline.model.graph.graph import LaneSpec

SPEC = LaneSpec("phase:A", rate=1.0)


def test_an_answer_of_a_lane_that_has_called_nothing_yet_leaves_its_rate() -> None:
    rates = TokenBuckets()
    rates.adapt(SPEC, 0, is_throttled=True)
    assert [rates.take(SPEC, 0, now) for now in (0, 0)] == [0, 1_000]
