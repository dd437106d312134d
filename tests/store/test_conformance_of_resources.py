"""What every store promises (ports.Store) of deployments of resources: growth, names of states, paused phases."""

from collections.abc import Callable

import numpy as np
import pytest
from tests.store import builders as a

from phaseline.model.blueprint.blueprint import Value
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.events import BatchClosed
from phaseline.model.execution.execution import Request
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.resources.resources import (
    REMOVED,
    VERSION,
    OutgrownError,
    ResourceAddition,
    no_resources,
    type_node,
)
from phaseline.model.rows.rows import (
    DocumentChange,
    LaneStatistics,
    Metric,
    NewDeployment,
    NewExecution,
    RequestAnswer,
    RequestKind,
    TurnPayload,
)
from phaseline.ports.store import Store

Reopen = Callable[[], Store]
DISK, NODE = type_node("Disk", ("Disk",)), type_node("Cloud.Node", ("Cloud.Node",))


def cluster(store: Store, name: str = "night") -> int:
    empty = no_resources()
    new = NewDeployment(name, empty.blueprint, {}, empty, CodeLocation(""), a.ANN, 5, kind="resources")
    return store.create_deployment(new)[0]


def growth(
    first: int, *ids: str, node: int = 0, types: bool = False, **documents: dict[str, Value]
) -> ResourceAddition:
    texts = {first + ids.index(id): body for id, body in documents.items()}
    return ResourceAddition(first, [DISK, NODE] if types else [], ids, np.full(len(ids), node, np.int32), texts)


def reach(target: str, *subjects: int) -> Request:
    return Request("reach", {"target": target, "subjects": [[number, 1] for number in subjects]})


def asked(first: int, ids: list[str], *requests: Request) -> ResourceAddition:
    return ResourceAddition(first, [NODE], ids, np.zeros(len(ids), np.int32), {}, requests)


# growth


def test_resources_are_put_behind_those_there_are(reopen: Reopen) -> None:
    store = reopen()
    number = cluster(store)
    before = store.topology(number)
    store.grow(number, growth(0, "d1", "d2", types=True, d2={"Size": 5}), a.ANN)
    store.grow(number, growth(2, "n1", node=1), a.ANN)
    store.grow(number, growth(3, "d3", node=0), a.ANN)
    assert len(before) == 0
    topology = reopen().topology(number)
    assert list(topology.ids) == ["d1", "d2", "n1", "d3"]
    assert [topology.nodes[node].type for node in topology.node.tolist()] == ["Disk", "Disk", "Cloud.Node", "Disk"]
    assert topology.index.tolist() == [1, 2, 1, 3]
    assert topology.blueprint.version == VERSION
    assert list(topology.blueprint.nodes) == ["Disk", "Cloud.Node"]
    store = reopen()
    assert store.documents(number) == {1: {"Size": 5}}
    row = store.deployment("night")
    assert row is not None
    assert (row.instance_count, row.kind) == (4, "resources")
    assert list(store.check()) == []


def test_whoever_has_the_topology_at_hand_sees_that_it_grew(store: Store) -> None:
    number = cluster(store)
    store.grow(number, growth(0, "d1", types=True), a.ANN)
    small = store.topology(number)
    store.grow(number, growth(1, "d2"), a.ANN)
    assert len(small) == 1
    assert store.topology(number).number_of == {"d1": 0, "d2": 1}


def test_a_growth_that_others_have_overtaken_is_refused(store: Store) -> None:
    number = cluster(store)
    store.grow(number, growth(0, "d1", types=True), a.ANN)
    with pytest.raises(OutgrownError):
        store.grow(number, growth(0, "d2", d2={"Size": 5}), a.ANN)
    assert list(store.topology(number).ids) == ["d1"]
    assert store.documents(number) == {}


def test_executions_are_stored_with_the_growth(store: Store) -> None:
    number = cluster(store)
    rows = store.grow(number, asked(0, ["n1", "n2"], reach("Started", 0), reach("Terminated", 1)), a.ANN)
    assert [row.request.parameters["target"] for row in rows] == ["Started", "Terminated"]
    assert [row.execution for row in store.requests()] == [row.number for row in rows]
    assert [row.status for row in store.executions(number, only_open=True)] == [ExecutionStatus.QUEUED] * 2
    assert list(store.check()) == []


def test_a_deleted_deployment_does_not_grow(store: Store) -> None:
    number = cluster(store)
    store.delete_deployment(number)
    with pytest.raises(ProblemsError) as caught:
        store.grow(number, growth(0, "d1", types=True), a.ANN)
    assert caught.value.problems[0].code == "PL-C010"


def test_a_thousand_grown_one_by_one_are_all_there(store: Store) -> None:
    number = cluster(store)
    store.grow(number, growth(0, "d0", types=True), a.ANN)
    for at in range(1, 30):
        store.grow(number, growth(at, f"d{at}"), a.ANN)
    store.grow(number, growth(30, *(f"d{at}" for at in range(30, 1_000))), a.ANN)
    assert store.topology(number).number_of == {f"d{at}": at for at in range(1_000)}


# states


def test_states_of_those_that_came_later_are_kept(reopen: Reopen) -> None:
    store = reopen()
    number = cluster(store)
    store.create_execution(a.execution(number))
    store.grow(number, growth(0, *(f"d{at}" for at in range(3)), types=True), a.ANN)
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(number, (64,), 0, 2),)))
        store.grow(number, growth(3, *(f"d{at}" for at in range(3, 1_500))), a.ANN)
        assert store.states(number).tolist() == [64, 0, 64] + [0] * 1_497
        store.commit(a.turn(states=(a.entered(number, (65,), 1), a.entered(number, (66,), 2, 3, 1_400))))
    expected = [0] * 1_500
    expected[0], expected[1], expected[2], expected[3], expected[1_400] = 64, 65, 66, 66, 66
    store = reopen()
    assert store.states(number).tolist() == expected
    assert list(store.check()) == []


def test_growth_by_another_process_reaches_the_owner(reopen: Reopen) -> None:
    store = reopen()
    number = cluster(store)
    store.grow(number, growth(0, "d0", types=True), a.ANN)
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(number, (64,), 0),)))
        with a.beside(store) as other:
            other.grow(number, growth(1, "d1", d1={"Size": 1}), a.ANN)
        assert list(store.topology(number).ids) == ["d0", "d1"]
        store.commit(a.turn(states=(a.entered(number, (65,), 1),)))
    assert reopen().states(number).tolist() == [64, 65]


def test_what_is_removed_has_no_document(reopen: Reopen) -> None:
    store = reopen()
    number = cluster(store)
    store.grow(number, growth(0, "d0", "d1", types=True, d0={"Size": 1}, d1={"Size": 2}), a.ANN)
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(number, (REMOVED,), 0),)))
    store = reopen()
    assert store.documents(number) == {1: {"Size": 2}}
    store.grow(number, growth(2, "d0", d0={"Size": 3}), a.ANN)
    assert store.topology(number).number_of["d0"] == 2
    assert store.documents(number, [2]) == {2: {"Size": 3}}


def test_names_of_states_keep_their_numbers(reopen: Reopen) -> None:
    store = reopen()
    number, other = cluster(store), cluster(store, "day")
    assert store.state_names(number) == ()
    assert store.name_states(number, ["Validation", "Started"]) == ("Validation", "Started")
    assert store.name_states(number, ["Started", "Gone", "Gone"]) == ("Validation", "Started", "Gone")
    store = reopen()
    assert store.state_names(number) == ("Validation", "Started", "Gone")
    assert store.state_names(other) == ()


def test_more_states_than_a_byte_can_tell_are_refused(store: Store) -> None:
    number = cluster(store)
    store.name_states(number, [f"S{at}" for at in range(192)])
    with pytest.raises(ProblemsError) as caught:
        store.name_states(number, ["S5", "One more"])
    assert caught.value.problems[0].code == "PL-S011"
    assert len(store.state_names(number)) == 192


# several executions at once


def test_several_ways_to_targets_may_be_open_in_one_deployment(store: Store) -> None:
    number = cluster(store)
    first, second = store.grow(number, asked(0, ["n1"], reach("Started", 0), reach("Terminated", 0)), a.ANN)
    third = store.create_execution(NewExecution(number, reach("Started", 0), a.ANN, 9))
    assert [row.number for row in store.executions(number, only_open=True)] == [
        first.number,
        second.number,
        third.number,
    ]
    with pytest.raises(ProblemsError) as caught:
        store.create_execution(NewExecution(number, Request("install"), a.ANN, 9))
    assert caught.value.problems[0].code == "PL-C016"


def test_one_that_has_ended_goes_on_beside_others(store: Store) -> None:
    number = cluster(store)
    (first,) = store.grow(number, asked(0, ["n1"], reach("Started", 0)), a.ANN)
    a.end(store, first.number, ExecutionStatus.FAILED)
    store.create_execution(NewExecution(number, reach("Started", 0), a.ANN, 9))
    asked_for = store.ask(RequestKind.RETRY, first.number, {"chosen": []}, a.ANN)
    store.create_execution(NewExecution(number, reach("Terminated", 0), a.ANN, 9))
    assert asked_for in [row.number for row in store.requests()]


def test_an_installation_still_refuses_another_one(store: Store) -> None:
    number, _ = a.installed(store)
    with pytest.raises(ProblemsError):
        store.create_execution(NewExecution(number, reach("Started", 0), a.ANN, 9))


# paused phases


def test_a_pause_is_known_until_it_is_lifted(reopen: Reopen) -> None:
    store = reopen()
    assert store.pause_phase("Acme.Create", a.ANN, "the cloud is down")
    assert not store.pause_phase("acme.create", a.ANN, "again")
    store = reopen()
    (row,) = store.paused_phases().values()
    assert (row.name, row.actor, row.reason, row.at) == ("Acme.Create", "ann", "the cloud is down", 1_000)
    assert list(store.paused_phases()) == ["acme.create"]
    assert store.unpause_phase("ACME.create")
    assert not store.unpause_phase("Acme.Create")
    assert reopen().paused_phases() == {}


def test_phases_that_were_known_are_remembered(reopen: Reopen) -> None:
    store = reopen()
    assert store.known_phases() == {}
    store.know_phases({"b": "{}", "a": '{"name": "A"}'})
    assert list(reopen().known_phases().items()) == [("a", '{"name": "A"}'), ("b", "{}")]
    reopen().know_phases({"b": "[]"})
    assert reopen().known_phases() == {"b": "[]"}


def test_what_phases_keep_is_stored_like_any_attribute(reopen: Reopen) -> None:
    store = reopen()
    number = cluster(store)
    store.grow(number, growth(0, "d0", types=True, d0={"Size": 1}), a.ANN)
    with store.own("test"):
        path = ("\0phases", "Acme.Create", "OperationId")
        store.commit(a.written(DocumentChange(number, 0, {path: "op-1"})))
    assert reopen().documents(number) == {0: {"Size": 1, "\0phases": {"Acme.Create": {"OperationId": "op-1"}}}}


# purge


def test_a_purge_leaves_what_failed_as_long_as_somebody_may_retry_it(store: Store) -> None:
    number = cluster(store)
    first, second = store.grow(number, asked(0, ["n1", "n2"], reach("Started", 0), reach("Started", 1)), a.ANN)
    a.end(store, first.number, ExecutionStatus.FAILED)
    a.end(store, second.number, ExecutionStatus.COMPLETED)
    with store.own("test"):
        answers = tuple(RequestAnswer(row.number) for row in store.requests())
        store.commit(a.turn(payload=TurnPayload(answers=answers)))
    assert a.purge(store, 100).executions == 1
    assert [row.number for row in store.executions(number)] == [first.number]
    (again,) = store.grow(
        number, ResourceAddition(2, [], [], np.empty(0, np.int32), {}, (reach("Terminated", 0),)), a.ANN
    )
    a.end(store, again.number, ExecutionStatus.FAILED)
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(answers=tuple(RequestAnswer(row.number) for row in store.requests()))))
    assert a.purge(store, 100).executions == 1
    assert [row.number for row in store.executions(number)] == [again.number]
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(number, (REMOVED,), 0),)))
    assert a.purge(store, 100).executions == 1


def test_the_last_calls_of_a_phase_are_found_over_all_executions(reopen: Reopen) -> None:
    store = reopen()
    one, first = a.installed(store, "one")
    two, second = a.installed(store, "two")
    with store.own("test"):
        graphs = (a.added(1, first, a.graph()), a.added(2, second, a.graph()))
        opened = (
            a.batch(1, first, a.numbers(0, 1), 1, one),
            a.batch(2, second, a.numbers(0), 2, two),
            a.batch(3, first, a.numbers(2), 1, one),
        )
        store.commit(a.turn(77, graphs=graphs, opened=opened))
    store = reopen()
    found = store.runs_of(a.LANE.phase, last=2)
    assert (found.count, [run.id for run in found.last]) == (3, [2, 3])
    assert [positions.tolist() for _, positions in found.last[0].segments] == [[0]]
    assert store.runs_of("phase:Nothing") == LaneStatistics(0, 0, [])
    assert [graph.created_at for graph in store.graphs(first)] == [77]


def test_what_was_measured_takes_the_place_of_what_was_before(reopen: Reopen) -> None:
    store = reopen()
    assert store.measures() == {}
    with store.own("test"):
        store.commit(
            a.turn(5, payload=TurnPayload(measures=[Metric("engine", 5, {"pid": 1}), Metric("phase:x", 5, {})]))
        )
        store.commit(a.turn(6, payload=TurnPayload(measures=[Metric("engine", 6, {"pid": 2, "pools": {"bulk": [1]}})])))
    found = reopen().measures()
    assert found == {
        "engine": Metric("engine", 6, {"pid": 2, "pools": {"bulk": [1]}}),
        "phase:x": Metric("phase:x", 5, {}),
    }


def test_how_long_the_calls_of_a_phase_took_together(store: Store) -> None:
    number, execution = a.installed(store, "one")
    with store.own("test"):
        opened = tuple(a.batch(id, execution, a.numbers(id), 1, number) for id in (1, 2, 3))
        store.commit(a.turn(77, graphs=(a.added(1, execution, a.graph()),), opened=opened))
        store.commit(
            a.turn(80, closed=(BatchClosed(1, 80, np.ones(1, np.uint8)), BatchClosed(2, 90, np.ones(1, np.uint8))))
        )
    began = {batch.started_at for batch in opened}
    assert store.runs_of(a.LANE.phase).took_ms == 80 + 90 - 2 * began.pop()
