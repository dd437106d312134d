"""For whom an engine waits: an operator may have to decide about an execution that another one awaits (CO9)."""

import numpy as np
import pytest
from tests.run.engines import Station
from tests.run.loop.test_awaits import nest
from tests.run.loop.test_follow_ups import AGAIN, INNER, LONG_MS, run

from phaseline.model.graph.status import ExecutionStatus, OutcomeKind
from phaseline.testing.builders import node


@pytest.fixture
def station() -> Station:
    return Station()


def test_co9_attention_inside_shows_outside(station: Station) -> None:
    outer, inner = nest(station)
    (one,) = station.called()
    assert not station.engine.needs_attention(outer.number)
    station.answer(one, OutcomeKind.UNSURE)
    assert station.status(inner) is ExecutionStatus.ATTENTION
    assert station.engine.asker(outer.number) == inner.number
    assert station.engine.needs_attention(outer.number)
    assert station.engine.is_idle
    station.engine.complete(station.row(inner), one.graph, np.array([one.position]), reason="x", actor="ann")
    station.settle()
    station.complete_all()
    assert station.status(outer) is ExecutionStatus.COMPLETED


def test_co9_an_outer_that_can_go_on_elsewhere_does_not_ask_yet(station: Station) -> None:
    other = station.deployment(INNER, name="other")
    outer = station.install(node("db", create="each.create"), node("web", create="each.create"))
    one = station.find("create", "db_1")
    station.answer(one, AGAIN, delay_ms=LONG_MS, follow_up=run(station, one, other))
    station.answer(station.find("create", "disk_1"), OutcomeKind.UNSURE)
    assert not station.engine.needs_attention(outer.number)
    station.complete("create", "web_1")
    assert station.engine.needs_attention(outer.number)
