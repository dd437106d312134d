"""An update that is canceled in the middle of any of its rounds: what is there then, and how it goes on (W7, W8, W60)."""

import pytest
from tests.run.engines import Station

from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.execution import Request
from phaseline.model.execution.stored_plans import PLAN, Aim, StoredPlan
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import ExecutionRow
from phaseline.testing.builders import blueprint, node

LIFE = {"create": "each.create", "stop": "each.stop"}


def application(port: int, coming: str):
    web = node("web", properties={"port": port}, update="each.update", update_config="each.config", **LIFE)
    return (node("vm", properties={"size": port}, **LIFE), web, node(coming, **LIFE))


def updating(station: Station, *, take_back: bool = False) -> ExecutionRow:
    """An update has begun: ``old`` goes, ``new`` comes, ``web`` is updated and ``vm`` reinstalled."""
    row = station.install(*application(1, "old"))
    station.complete_all()
    wanted, code = blueprint(*application(2, "new")), CodeLocation("/nowhere")
    former = Aim(station.store.topology(row.deployment).blueprint, {}, code, suffixes=8, counts={})
    aim = Aim(wanted, {}, code, suffixes=7, former=former if take_back else None)
    plan = StoredPlan(0, row.deployment, Request("update"), 1, "ann", {}, {}, "", aim)
    number = station.store.stored_plans.add(plan).number
    return station.submit(row.deployment, "update", parameters={PLAN: number}, take_back=take_back)


STEPS = (
    ("stop", "old"),
    ("create", "new"),
    ("update", "web"),
    ("update_config", "web"),
    ("stop", "vm"),
    ("create", "vm"),
)


def reach(station: Station, phase: str, name: str):
    """The call of this operation is out, and nothing else."""
    for _ in range(100):
        (one,) = station.called()
        if one.phase == phase and one.instance.startswith(name):
            return one
        station.answer(one)
    raise AssertionError


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("take_back", [False, True])
def test_w7_an_update_that_is_canceled_awaits_what_runs_and_a_retry_goes_on(station_of, step, take_back) -> None:
    station, row = station_of(take_back)
    one = reach(station, *step)
    station.engine.cancel(row.number)
    station.settle()
    assert station.status(row) is ExecutionStatus.CANCELING
    station.answer(one)
    assert (station.status(row), station.called()) == (ExecutionStatus.CANCELED, [])
    station.engine.retry(station.row(row))
    station.settle()
    while out := station.called():
        assert (out[0].phase, out[0].instance.split("_")[0]) != step, "what has completed is never called again"
        station.answer(out[0])
    assert station.status(row) is ExecutionStatus.COMPLETED
    topology = station.store.topology(row.deployment)
    there = {
        id.split("_")[0]: state
        for id, state in station.states(row).items()
        if topology.is_there[topology.number_of[id]]
    }
    assert there == {"vm": "started", "web": "started", "new": "started"}
    assert topology.started is None


@pytest.fixture
def station_of():
    def made(take_back: bool) -> tuple[Station, ExecutionRow]:
        station = Station()
        return station, updating(station, take_back=take_back)

    return made
