"""What every store promises of its listings (model.listings): what topologies say, without a blueprint, however many there are."""

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import OnPath
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.status import PAGE_ENTRIES, ExecutionStatus
from phaseline.model.rows.deployment_summaries import DeploymentSummary
from phaseline.model.rows.listings import NO_CHECKS
from phaseline.model.rows.rows import Reshaped, TurnPayload
from phaseline.plan.topology.modification import WantedCount, modify

STARTED, CREATING = int(InstanceState.STARTED), int(InstanceState.CREATING)


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
    assert roster.checks == NO_CHECKS


def test_a_summary_counts_instances_that_are_there(store):
    number, run = a.installed(store)
    everybody = len(store.topology(number))
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(number, (STARTED,), *range(everybody)),)))
    assert store.listings.summaries([number])[number].states == {"started": everybody}
    shape = without_last(store, number)
    left = int(shape.is_there.sum())
    assert left < everybody
    assert store.listings.summaries([number])[number].states == {"started": left}
    a.end(store, run)
    assert store.listings.summaries([number])[number] == DeploymentSummary(
        "good", {"started": left}, store.executions(number)
    )


def test_states_of_several_pages_are_one_column(store):
    number, _ = a.installed(store, hosts=1, apps=PAGE_ENTRIES)
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(number, (STARTED,), PAGE_ENTRIES),)))
    roster = store.listings.rosters([number])[number]
    assert roster.states.tolist() == store.states(number).tolist() == [0] * PAGE_ENTRIES + [STARTED]
    summary = store.listings.summaries([number])[number]
    assert summary.states == {"uninitialized": PAGE_ENTRIES, "started": 1}


def on_paths(store):
    """A deployment whose apps go along a path to Started; the first two have arrived, the third is terminated."""
    new = a.deployment()
    told = altered(new.blueprint, on_path={"cloudify.nodes.Root": OnPath(("cloudify.nodes.Root",), "Started")})
    new = altered(new, blueprint=told, topology=altered(new.topology, blueprint=told))
    number, _ = store.create_deployment(new)
    run = store.create_execution(a.execution(number)).number
    names = store.name_states(number, ("Allocation", "Started", "Terminated"))
    with store.own("test"):
        arrived, terminated, on_the_way = (64 + names.index(name) for name in ("Started", "Terminated", "Allocation"))
        entered = [(arrived, (2, 3)), (terminated, (4,)), (on_the_way, (5,)), (STARTED, (0, 1))]
        store.commit(a.turn(states=tuple(a.entered(number, (state,), *some) for state, some in entered)))
    return number, run


ON_PATHS = {"uninitialized": 2, "started": 2, "Allocation": 1, "Started": 2, "Terminated": 1}


def test_instances_on_paths_are_counted_by_their_states_and_judged_as_all_others(reopen):
    store = reopen()
    number, run = on_paths(store)
    store = reopen()
    assert store.listings.summaries([number])[number].states == ON_PATHS
    with store.own("test"):
        arrived = 64 + store.state_names(number).index("Started")
        store.commit(a.turn(states=(a.entered(number, (arrived,), *range(2, 8)),)))
    a.end(store, run)
    store = reopen()
    assert store.listings.summaries([number])[number].status == "good"
    assert store.listings.rosters([number])[number].state_names == ("Allocation", "Started", "Terminated")


def told(rows):
    return [row.number for row, _ in rows]


def idle(store):
    """An owner has nothing else to do."""
    with store.own("test"):
        store.refresh_lists()


def test_unsettled_executions_are_those_of_deployments_that_may_need_attention(store):
    number, failed = a.installed(store)
    other, alone = a.installed(store, "other")
    gone, of_gone = a.installed(store, "gone")
    assert told(store.listings.unsettled()) == [failed, alone, of_gone]
    for run, status in ((failed, ExecutionStatus.FAILED), (alone, ExecutionStatus.COMPLETED)):
        a.end(store, run, status)
    a.end(store, of_gone, ExecutionStatus.FAILED)
    store.delete_deployment(gone)
    idle(store)
    assert told(store.listings.unsettled()) == [failed]
    assert store.listings.unsettled(gone) == []
    done = [store.create_execution(a.execution(number)).number]
    a.end(store, done[0])
    idle(store)
    assert store.listings.unsettled() == []
    assert told(store.listings.unsettled(number)) == [failed, done[0]]
    done.append(store.create_execution(a.execution(number)).number)
    with store.own("test"):
        store.commit(a.turn(states=(a.entered(number, (CREATING,), 1),)))
    a.end(store, done[1])
    assert told(store.listings.unsettled()) == [failed, done[1]]
    summaries = store.listings.summaries([number, other])
    assert [row.number for row in summaries[number].executions] == [failed, done[1]]
    assert [row.number for row in summaries[other].executions] == [alone]
    assert summaries[other].states == {"uninitialized": 8}
    opened = store.create_execution(a.execution(number)).number
    assert told(store.listings.unsettled(number)) == [failed, opened]


def test_entries_of_unsettled_executions_are_counted(owned):
    number, run = a.installed(owned)
    owned.commit(a.turn(graphs=(a.added(1, run, a.graph(8, 3)), a.added(2, run, a.graph(8, 1)))))
    assert [count for _, count in owned.listings.unsettled(number)] == [32]
