"""What every store promises of its listings (model.listings): what topologies say, without a blueprint, however many there are."""

import sqlite3

import numpy as np
import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import OnPath
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.status import PAGE_ENTRIES, ExecutionStatus
from phaseline.model.resources.path_nodes import as_life_cycle
from phaseline.model.rows.rows import Reshaped, TurnPayload
from phaseline.plan.topology.modification import WantedCount, modify
from phaseline.store.sqlite.store import SqliteStore

STARTED = int(InstanceState.STARTED)


@pytest.fixture
def store(reopen):
    return reopen()


def without_last(store, number):
    """The deployment has lost some of its instances."""
    before = store.topology(number)
    shape = modify(before, {before.nodes[-1].name: WantedCount(1)}, suffixes=3).finished
    with store.own("test"):
        store.commit(a.turn(payload=TurnPayload(reshaped=(Reshaped(number, shape),))))
    return shape


def test_a_roster_has_the_columns_of_the_topology(reopen):
    store = reopen()
    number, _ = a.installed(store)
    shape = without_last(store, number)
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(number, (STARTED,), 0, 3),)))
    roster = reopen().listings.rosters([number])[number]
    assert list(roster.nodes) == [node.name for node in shape.nodes]
    assert list(roster.ids) == list(shape.ids)
    for name in ("node", "index", "container", "host", "is_there"):
        assert getattr(roster, name).tolist() == getattr(shape, name).tolist(), name
    assert not roster.is_there.all()
    assert roster.states.tolist() == store.states(number).tolist()
    assert roster.states.sum() == 2 * STARTED
    assert roster.version == 1
    assert not roster.is_checked


def test_a_glance_counts_instances_that_are_there(store):
    number, _ = a.installed(store)
    everybody = len(store.topology(number))
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(number, (STARTED,), *range(everybody)),)))
    assert store.listings.glances([number])[number].states.tolist() == [STARTED] * everybody
    shape = without_last(store, number)
    glance = store.listings.glances([number])[number]
    assert glance.states.tolist() == [STARTED] * int(shape.is_there.sum())
    assert glance.life_cycle.tolist() == glance.states.tolist()
    assert glance.state_names == ()


def test_states_of_several_pages_are_one_column(store):
    number, _ = a.installed(store, hosts=1, apps=PAGE_ENTRIES)
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(number, (STARTED,), PAGE_ENTRIES),)))
    glance = store.listings.glances([number])[number]
    assert glance.states.tolist() == store.states(number).tolist() == [0] * PAGE_ENTRIES + [STARTED]


def on_paths(store):
    """A deployment whose apps go along a path to Started; the first two have arrived, the third is terminated."""
    new = a.deployment()
    told = altered(new.blueprint, on_path={"cloudify.nodes.Root": OnPath(("cloudify.nodes.Root",), "Started")})
    new = altered(new, blueprint=told, topology=altered(new.topology, blueprint=told))
    number, _ = store.create_deployment(new)
    names = store.name_states(number, ("Allocation", "Started", "Terminated"))
    with store.own("test"):
        arrived, terminated, on_the_way = (64 + names.index(name) for name in ("Started", "Terminated", "Allocation"))
        entered = [(arrived, (2, 3)), (terminated, (4,)), (on_the_way, (5,)), (STARTED, (0, 1))]
        store.commit(a.turn(states=tuple(a.entered(number, (state,), *some) for state, some in entered)))
    return number


def test_instances_on_paths_are_told_in_the_words_of_all_others(reopen):
    store = reopen()
    number = on_paths(store)
    store = reopen()
    glance = store.listings.glances([number])[number]
    expected = as_life_cycle(store.topology(number), store.states(number), store.state_names(number))
    assert glance.life_cycle.tolist() == expected.tolist()
    assert glance.life_cycle[:5].tolist() == [STARTED] * 4 + [InstanceState.DELETED]
    assert glance.states[5] == glance.life_cycle[5] == 64
    assert glance.state_names == ("Allocation", "Started", "Terminated")
    assert store.listings.rosters([number])[number].state_names == glance.state_names


def test_a_deployment_that_an_older_version_has_stored_says_the_same(tmp_path):
    path = str(tmp_path / "store.db")
    store = SqliteStore.open(path, a.FakeClock())
    number = on_paths(store)
    before = store.listings.glances([number])[number].life_cycle
    store.close()
    with sqlite3.connect(path) as db:
        db.execute("update topology set nodes = json_remove(nodes, '$.targets')")
    db.close()
    store = SqliteStore.open(path, a.FakeClock())
    assert store.listings.glances([number])[number].life_cycle.tolist() == before.tolist()
    store.close()


def test_unsettled_executions_are_those_that_did_not_complete_and_the_latest(store):
    number, failed = a.installed(store)
    other, alone = a.installed(store, "other")
    gone, of_gone = a.installed(store, "gone")
    a.end(store, failed, ExecutionStatus.FAILED)
    for run in (alone, of_gone):
        a.end(store, run)
    done = [store.create_execution(a.execution(number)).number]
    a.end(store, done[0])
    done.append(store.create_execution(a.execution(number)).number)
    a.end(store, done[1])
    store.delete_deployment(gone)
    assert [row.number for row in store.listings.unsettled()] == [failed, alone, done[1]]
    assert [row.number for row in store.listings.unsettled(number)] == [failed, done[1]]
    assert store.listings.unsettled(gone) == []
    glances = store.listings.glances([number, other])
    assert [row.number for row in glances[number].executions] == [failed, done[1]]
    assert [row.number for row in glances[other].executions] == [alone]
    opened = store.create_execution(a.execution(number)).number
    assert [row.number for row in store.listings.unsettled(number)] == [failed, opened]


def statements(store, look):
    """How many statements a question takes."""
    said = []
    reader = store.connections.reader()
    reader.set_trace_callback(said.append)
    look()
    reader.set_trace_callback(None)
    return len(said)


@pytest.mark.parametrize("question", ["glances", "rosters"])
def test_many_deployments_are_asked_with_as_many_statements_as_one(tmp_path, question):
    store = SqliteStore.open(str(tmp_path / "store.db"), a.FakeClock())
    numbers = [a.installed(store, f"shop-{place}")[0] for place in range(20)]
    look = getattr(store.listings, question)
    assert statements(store, lambda: look(numbers)) == statements(store, lambda: look(numbers[:1]))
    assert list(look(numbers)) == numbers
    assert all(np.array_equal(one.states, store.states(number)) for number, one in look(numbers).items())
    store.close()
