"""A planner gives a deployment another shape: stored with its round, seen at once, never half done after a crash."""

import numpy as np
import pytest
from tests.run.engines import Station

from phaseline.calls.deployments.planner_driver import Declare
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.modification import Started
from phaseline.model.deployment.topology import Topology
from phaseline.model.execution.execution import History, Request, Reshape, Verdict
from phaseline.model.graph.graph import Graph
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import Turn
from phaseline.plan.graph.verdicts import settled
from phaseline.plan.topology.modification import WantedCount, modify
from phaseline.plan.transforms.pipeline import Asked
from phaseline.plan.workflows import PLANNERS, install
from phaseline.testing.builders import node

NODES = (
    node("web", to=["db"], create="each_again.create", start="each_again.start"),
    node("db", create="each_again.create"),
)


def begun(topology: Topology, history: History) -> Reshape:
    change = modify(topology, {"web": WantedCount(3)}, suffixes=7)
    started = Started(history.execution, "grow", "web", added=change.added.changed, counts=change.counts)
    return Reshape("begin", altered(change.topology, started=started))


def growing(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Reshape | Verdict:
    """Two more instances of ``web``: they come, are installed, and are there."""
    if settled(history, "end"):
        return Verdict(ExecutionStatus.COMPLETED)
    if topology.started is None:
        return begun(topology, history)
    chosen = np.zeros(len(topology), bool)
    chosen[topology.started.added] = True
    done = settled(history, install.INSTALL)
    if done is None:
        return install.build_install_graph(Asked(topology, request, history, declare), chosen)
    if not done.is_met:
        return Verdict(ExecutionStatus.FAILED)
    return Reshape("end", altered(topology, started=None, counts=topology.started.counts))


def grown_station() -> tuple[Station, int]:
    """Everything is installed."""
    station = Station(planners={**PLANNERS, "grow": growing})
    row = station.install(*NODES)
    station.complete_all()
    return station, row.deployment


def test_a_new_shape_is_stored_in_the_turn_of_its_round() -> None:
    station, deployment = grown_station()
    station.journal.clear()
    row = station.submit(deployment, "grow")
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    turns = [entry for entry in station.journal if isinstance(entry, Turn) and entry.payload.reshaped]
    stored = [[graph.graph.name for graph in turn.changes.graphs] for turn in turns]
    assert stored == [["begin", "install"], ["end"]]
    assert [graph.name for graph in station.store.graphs(row.number)] == ["begin", "install", "end"]


def test_what_was_added_is_installed_and_what_was_there_is_not() -> None:
    station, deployment = grown_station()
    before = station.store.topology(deployment)
    row = station.submit(deployment, "grow")
    assert station.store.topology(deployment).started.execution == row.id
    assert {one.phase for one in station.called()} == {"create"}
    assert len(station.called()) == 2
    station.complete_all()
    after = station.store.topology(deployment)
    assert list(after.ids[:2]) == list(before.ids)
    assert (len(after), after.started, dict(after.counts)) == (4, None, {"web": 3})
    assert set(station.states(row).values()) == {"started"}
    assert station.store.deployment("app").instance_count == 4


def test_the_planner_hears_of_the_round_and_sees_the_new_instances() -> None:
    heard: list[tuple[int, list[str], int]] = []

    def listening(topology: Topology, request: Request, history: History, declare: Declare) -> object:
        heard.append((len(topology), [done.name for done in history.rounds], len(history.states)))
        return growing(topology, request, history, declare)

    station, deployment = grown_station()
    station.planners = {"grow": listening}
    station.crash()
    station.submit(deployment, "grow")
    station.complete_all()
    assert heard == [(2, [], 2), (4, ["begin"], 4), (4, ["begin", "install"], 4), (4, ["begin", "install", "end"], 4)]


class DeathError(Exception):
    """The process dies here."""


def dying(station: Station, commits: int, *, before: bool) -> None:
    """Die at this commit, counted from 0: before it is written, or right after."""
    commit, left = station.store.commit, [commits]

    def fatal(turn: Turn) -> None:
        left[0] -= 1
        if left[0] >= 0:
            commit(turn)
            return
        if not before:
            commit(turn)
        raise DeathError

    vars(station.store)["commit"] = fatal


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_after_a_crash_at_any_commit_a_new_shape_is_there_or_not_but_never_twice(before: bool) -> None:
    for commits in range(100):
        station, deployment = grown_station()
        row = station.stored(deployment, "grow")
        dying(station, commits, before=before)
        try:
            station.engine.submit(row)
            station.settle()
            station.complete_all()
        except DeathError:
            del vars(station.store)["commit"]
            names = [graph.name for graph in station.store.graphs(row.number)]
            assert len(station.store.topology(deployment)) == (4 if "begin" in names else 2)
            assert (station.store.topology(deployment).started is None) == ("begin" not in names or "end" in names)
            station.crash()
            station.engine.recover()
            station.settle()
            station.complete_all()
        else:
            assert commits >= 5, "there was hardly a commit to die at"
            return
        assert station.status(row) in {ExecutionStatus.COMPLETED, ExecutionStatus.ATTENTION}
        if station.status(row) is ExecutionStatus.COMPLETED:
            after = station.store.topology(deployment)
            assert (len(after), after.started, dict(after.counts)) == (4, None, {"web": 3})
            assert set(station.states(row).values()) == {"started"}
    raise AssertionError("it never ended")


def test_a_failed_round_may_be_tried_again_without_a_second_shape() -> None:
    from phaseline.model.graph.status import OutcomeKind

    station, deployment = grown_station()
    row = station.submit(deployment, "grow")
    station.answer(station.called()[0], OutcomeKind.FAILED)
    station.complete_all()
    assert station.status(row) is ExecutionStatus.FAILED
    assert station.store.topology(deployment).started is not None
    station.crash()
    station.engine.retry(station.row(row))
    station.settle()
    station.complete_all()
    assert station.status(row) is ExecutionStatus.COMPLETED
    assert len(station.store.topology(deployment)) == 4
