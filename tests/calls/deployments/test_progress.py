"""How far an execution is, as its watchers see it."""

import pytest
from tests.run.engines import Station
from tests.run.yard import Yard, installed, phase

from phaseline.calls.deployments.progress import MAX_FAILING, MAX_NODES_APART, Progress
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.testing.builders import node, relationship


@pytest.fixture
def station() -> Station:
    return Station()


def look(station: Station, execution: int) -> Progress:
    found = station.engine.progress(execution)
    assert found is not None
    return found


def test_rows_tell_each_phase_of_each_node(station: Station) -> None:
    row = station.install(
        node("db", create="each.create", instances=2),
        node("web", create="each.create", start="each.start"),
    )
    station.complete("create", "db_1")
    progress = look(station, row.number)
    told = {(one.node, one.phase.rpartition(".")[2]): (one.ended, one.total) for one in progress.rows}
    assert told[("db", "create")] == (1, 2)
    assert told[("web", "create")] == (0, 1)
    assert told[("web", "start")] == (0, 1)
    assert (progress.ended, progress.total) == (1, sum(total for _, total in told.values()))
    assert progress.graph == "install"


def test_of_a_node_on_a_path_the_states_and_phases_are_told() -> None:
    yard = Yard(phase("A"))
    row = installed(yard)
    progress = yard.engine.progress(row.number)
    assert progress is not None
    told = [(one.phase, one.ended) for one in progress.rows][:3]
    assert told == [("entering Validation", 1), ("entering Allocation", 1), ("A", 0)]


def test_relationship_operations_count_for_their_source(station: Station) -> None:
    row = station.install(node("db"), node("web", relationship("db", source={"establish": "each.establish"})))
    rows = [one for one in look(station, row.number).rows if one.phase.endswith("establish")]
    assert [(one.node, one.counts) for one in rows] == [("web", {EntryStatus.RUNNING: 1})]


def test_many_nodes_are_told_together(station: Station) -> None:
    nodes = [node(f"n{number}", create="each.create") for number in range(MAX_NODES_APART + 1)]
    row = station.install(*nodes)
    (one,) = look(station, row.number).rows
    assert (one.node, one.total) == ("", len(nodes))


def test_only_a_few_failing_instances_are_named_and_all_are_counted(station: Station) -> None:
    row = station.install(node("vm", create="bulk.create", instances=MAX_FAILING + 3), node("ok", create="each.create"))
    for one in station.called():
        if one.instance.startswith("vm"):
            station.answer(one, OutcomeKind.FAILED, message="no")
    progress = look(station, row.number)
    assert len(progress.failing) == MAX_FAILING
    assert progress.failing_count == MAX_FAILING + 3
    assert {(one.status, one.due) for one in progress.failing} == {(EntryStatus.FAILED, 0)}


def test_a_failing_relationship_operation_is_named_by_its_source(station: Station) -> None:
    row = station.install(node("db"), node("web", relationship("db", source={"establish": "each.establish"})))
    (one,) = station.called()
    station.answer(one, OutcomeKind.RETRY, message="refused")
    (failing,) = look(station, row.number).failing
    assert (failing.instance, failing.operation.rpartition(".")[2]) == ("web_1", "establish")
    assert (failing.status, failing.message) == (EntryStatus.SLEEPING, "refused")


def test_nothing_can_be_told_before_there_is_a_plan(station: Station) -> None:
    row = station.stored(station.deployment(node("vm", create="each.create")))
    station.engine.submit(row)
    assert station.engine.progress(row.number) is None
