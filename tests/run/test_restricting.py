"""What is forbidden is stored in the turn that completes it, never half, and holds for whoever asks later, also when his turn comes."""

import pytest
from tests.run.engines import Station
from tests.run.test_reshaping import DeathError, dying

from phaseline.model.deployment.restrictions import RESTRICTABLE, restricted, restricted_of
from phaseline.model.graph.status import ExecutionStatus
from phaseline.testing.builders import node

NODES = (node("web", to=["db"], create="each_again.create"), node("db", create="each_again.create"))


def installed() -> tuple[Station, int]:
    station = Station()
    row = station.install(*NODES)
    station.complete_all()
    return station, row.deployment


def test_the_planner_refuses_it_when_its_turn_comes() -> None:
    station, deployment = installed()
    said = station.submit(deployment, "restrict", parameters={"restricted": {"db": ["delete"]}})
    station.complete_all()
    assert station.status(said) is ExecutionStatus.COMPLETED
    before = len(station.called())
    unchecked = station.submit(deployment, "uninstall")
    assert station.status(unchecked) is ExecutionStatus.FAILED
    assert "PL-P049" in station.row(unchecked).reason
    assert len(station.called()) == before
    assert set(station.states(unchecked).values()) == {"started"}


def test_what_is_said_of_an_instance_holds_before_what_is_said_of_its_node() -> None:
    station, deployment = installed()
    ids = list(station.store.topology(deployment).ids)
    station.submit(deployment, "restrict", parameters={"restricted": {"db": ["delete", "update"], ids[0]: []}})
    station.complete_all()
    topology = station.store.topology(deployment)
    db = topology.node_number["db"]
    assert restricted_of(topology, 0) == []
    expected = {
        "update": [at == db and number > 0 for number, at in enumerate(topology.node.tolist())],
        "replace": [False] * 2,
    }
    expected["delete"] = expected["update"]
    assert {action: restricted(topology, action).tolist() for action in RESTRICTABLE} == expected


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_after_a_crash_at_any_commit_it_is_forbidden_in_the_end(before: bool) -> None:
    for commits in range(20):
        station, deployment = installed()
        row = station.stored(deployment, "restrict", parameters={"restricted": {"db": ["delete"]}})
        dying(station, commits, before=before)
        try:
            station.engine.submit(row)
            station.settle()
        except DeathError:
            del vars(station.store)["commit"]
            station.crash()
            station.engine.recover()
            station.settle()
        else:
            assert commits >= 1, "there was no commit to die at"
            return
        assert station.status(row) is ExecutionStatus.COMPLETED
        assert dict(station.store.topology(deployment).restricted) == {"db": ["delete"]}
    raise AssertionError("it never ended")
