"""What every store promises (ports.Store): ownership, deployments, executions, graphs, batches."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.store import builders as a

from phaseline.model.execution.events import GraphReopened, NotesWritten, PageWritten
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind
from phaseline.model.problems.problem import ProblemsError
from phaseline.model.rows.rows import EntryRemark, NoteRow, TurnPayload
from phaseline.model.rows.shard_ids import number_of, shard_of
from phaseline.ports.store import Store
from phaseline.testing.builders import blueprint, group, host, node, scaled, topology

Reopen = Callable[[], Store]


def assert_same_graph(one: object, other: object) -> None:
    for field in ("name", "steps", "policies"):
        assert getattr(one, field) == getattr(other, field)
    for field in ("subject", "policy", "marks", "ptr", "idx", "group"):
        before, after = getattr(one, field), getattr(other, field)
        assert before.dtype == after.dtype
        assert before.tolist() == after.tolist()


# identity and ownership


def test_identity_is_random_and_stays(reopen: Reopen) -> None:
    first = reopen().identity()
    assert len(first) >= 8
    assert reopen().identity() == first


def test_each_owner_has_a_higher_epoch(store: Store) -> None:
    with store.own("one") as first:
        pass
    with store.own("two") as second:
        assert second.epoch > first.epoch > 0


def test_ha6_a_second_owner_is_refused_and_told_the_command_of_the_first(store: Store) -> None:
    with store.own("phaseline install shop.yaml"), pytest.raises(ProblemsError) as refused, store.own("another"):
        pass
    (problem,) = refused.value.problems
    assert problem.code == "PL-S004"


def test_the_store_is_free_after_its_owner(store: Store) -> None:
    with store.own("one"):
        pass
    with store.own("two"):
        pass


def test_only_the_owner_commits(store: Store) -> None:
    with pytest.raises(RuntimeError):
        store.commit(a.turn())


def test_an_owner_that_has_gone_commits_no_more(store: Store) -> None:
    with store.own("one"):
        store.commit(a.turn())
    with pytest.raises(RuntimeError):
        store.commit(a.turn())


def test_close_may_be_called_twice(store: Store) -> None:
    store.close()
    store.close()


# deployments


def test_a_deployment_is_read_as_it_was_stored(owned: Store) -> None:
    new = a.deployment()
    number, nothing = owned.create_deployment(new)
    row = owned.deployment("shop")
    assert nothing is None
    assert row is not None
    assert (row.number, row.name, row.blueprint_file, row.description) == (number, "shop", "shop.yaml", "A shop")
    assert (row.code, row.created_at, row.created_by, row.instance_count) == (new.code, 5, "ann", 8)
    assert owned.blueprint(number) == new.blueprint
    assert owned.inputs(number) == new.inputs


def test_a_topology_is_read_as_it_was_stored(reopen: Reopen) -> None:
    new = a.deployment().topology
    number, _ = reopen().create_deployment(a.deployment())
    found = reopen().topology(number)
    assert found.blueprint == new.blueprint
    assert tuple(found.nodes) == tuple(new.nodes)
    assert list(found.ids) == list(new.ids)
    assert found.links == new.links
    for column in ("node", "index", "container", "host", "link", "source", "target"):
        assert getattr(found, column).dtype == np.int32
        assert getattr(found, column).tolist() == getattr(new, column).tolist()


def test_n1_scaling_groups_are_read_as_they_were_stored(reopen: Reopen) -> None:
    parts = [
        host("h", instances=2),
        node("db", on="h"),
        node("web", on="h", to=["db"]),
        group("in", "db", "web", instances=2),
    ]
    made = topology(blueprint(*parts, group("out", "in", instances=2)))
    new = replace(a.deployment(), blueprint=made.blueprint, topology=made)
    number, _ = reopen().create_deployment(new)
    found = reopen().topology(number)
    assert found.blueprint.scaling_groups == made.blueprint.scaling_groups
    assert found.links == made.links
    assert [link.group for link in found.links] == [-1, -1, 0]
    assert found.group.tolist() == made.group.tolist()
    assert (found.groups.names, list(found.groups.ids)) == (made.groups.names, made.groups.ids)
    for column in ("group", "index", "outer", "container"):
        assert getattr(found.groups, column).dtype == np.int32
        assert getattr(found.groups, column).tolist() == getattr(made.groups, column).tolist()


def test_n8_who_is_gone_stays_gone_when_it_is_stored(reopen: Reopen) -> None:
    made = scaled(topology(blueprint(node("web", instances=3), group("g", "web", instances=2))), g=1, web=2)
    number, _ = reopen().create_deployment(replace(a.deployment(), blueprint=made.blueprint, topology=made))
    found = reopen().topology(number)
    assert found.is_there.tolist() == made.is_there.tolist()
    assert found.groups.is_there.tolist() == made.groups.is_there.tolist() == [True, False]


def test_evaluated_properties_belong_to_the_topology_and_the_blueprint_keeps_its_functions(owned: Store) -> None:
    number, _ = owned.create_deployment(a.deployment())
    assert owned.topology(number).nodes[1].properties["port"] == 8080
    assert owned.blueprint(number).nodes["app"].properties["port"] == {"get_input": "port"}


def test_a_deployment_without_instances_can_be_stored(owned: Store) -> None:
    number, _ = owned.create_deployment(a.deployment(hosts=0))
    assert len(owned.topology(number)) == 0
    assert owned.states(number).tolist() == []


def test_deployments_are_listed_by_name(owned: Store) -> None:
    for name in ("b", "c", "a"):
        owned.create_deployment(a.deployment(name))
    assert [row.name for row in owned.deployments()] == ["a", "b", "c"]


def test_a_taken_name_is_refused_and_nothing_is_stored(owned: Store) -> None:
    owned.create_deployment(a.deployment())
    with pytest.raises(ProblemsError) as refused:
        owned.create_deployment(a.deployment(), a.execution())
    assert [problem.code for problem in refused.value.problems] == ["PL-S010"]
    assert owned.executions() == []


def test_deleting_frees_the_name_and_keeps_the_history(reopen: Reopen, clock: a.FakeClock) -> None:
    store = reopen()
    clock.time = 0
    number, run = a.installed(store)
    a.end(store, run)
    store.delete_deployment(number)
    again, _ = store.create_deployment(a.deployment())
    store = reopen()
    assert again != number
    assert [row.number for row in store.deployments()] == [again]
    assert [(row.number, row.deployment, row.deployment_name) for row in store.executions(number)] == [
        (run, number, "shop")
    ]
    assert len(store.topology(number)) == 8


def test_rf1_it_is_said_how_many_deployments_were_deleted_and_which_of_some(reopen: Reopen) -> None:
    store = reopen()
    numbers = [store.create_deployment(a.deployment(name))[0] for name in ("a", "b", "c")]
    assert store.deleted(numbers) == (0, [])
    store.delete_deployment(numbers[1])
    assert store.deleted(numbers, 0) == (1, [numbers[1]])
    assert store.deleted(numbers, 1) == (1, []), "nothing is new since the look that gave 1"
    store.delete_deployment(numbers[1])
    assert store.deleted([numbers[0]], 0) == (1, []), "deleted once, however often it is asked for"
    assert reopen().deleted([*numbers, 99], 0) == (1, [numbers[1], 99])


def test_what_was_never_stored_is_not_found(store: Store) -> None:
    assert store.deployment("shop") is None
    assert store.execution("install-1") is None
    for ask in (store.blueprint, store.inputs, store.topology, store.states, store.graph, store.statuses):
        with pytest.raises(LookupError):
            ask(1)
    with pytest.raises(LookupError):
        store.create_execution(a.execution(1))


def test_any_process_may_create_while_nobody_owns_the_store(reopen: Reopen) -> None:
    number, run = a.installed(reopen())
    assert [row.deployment for row in reopen().executions() if row.number == run] == [number]


# executions


def test_an_execution_is_named_after_its_workflow_and_a_store_wide_number(owned: Store) -> None:
    first, run = a.installed(owned, "one")
    second, _ = a.installed(owned, "two")
    owned.commit(a.turn(executions=(a.status(run, ExecutionStatus.COMPLETED),)))
    third = owned.create_execution(a.execution(first, replace(a.REQUEST, workflow="uninstall")))
    assert [row.id for row in owned.executions()] == ["install-1", "install-2", "uninstall-3"]
    assert [row.id for row in owned.executions(first)] == ["install-1", "uninstall-3"]
    assert [row.deployment for row in owned.executions(second)] == [second]
    assert owned.execution(third.id) == third


def test_a_request_is_read_as_it_was_made(reopen: Reopen) -> None:
    a.installed(reopen())
    (row,) = reopen().executions()
    assert row.request == a.REQUEST
    assert (row.status, row.attempt, row.created_at, row.created_by) == (ExecutionStatus.QUEUED, 0, 7, "ann")


def test_the_times_of_an_execution_follow_its_status(owned: Store) -> None:
    _, run = a.installed(owned)
    told = []
    for at, status in (
        (10, ExecutionStatus.RUNNING),
        (20, ExecutionStatus.ATTENTION),
        (30, ExecutionStatus.FAILED),
        (40, ExecutionStatus.RUNNING),
        (50, ExecutionStatus.COMPLETED),
    ):
        owned.commit(a.turn(at, executions=(a.status(run, status, f"at {at}"),)))
        (row,) = owned.executions()
        told.append((row.status, row.reason, row.started_at, row.ended_at))
    assert told == [
        (ExecutionStatus.RUNNING, "at 10", 10, 0),
        (ExecutionStatus.ATTENTION, "at 20", 10, 0),
        (ExecutionStatus.FAILED, "at 30", 10, 30),
        (ExecutionStatus.RUNNING, "at 40", 10, 0),
        (ExecutionStatus.COMPLETED, "at 50", 10, 50),
    ]


def test_attempts_of_an_execution_only_grow(owned: Store) -> None:
    _, run = a.installed(owned)
    owned.commit(a.turn(executions=(a.status(run, ExecutionStatus.RUNNING, attempt=2),)))
    owned.commit(a.turn(executions=(a.status(run, ExecutionStatus.FAILED),)))
    assert owned.executions()[0].attempt == 2


def test_open_executions_are_those_not_ended(owned: Store) -> None:
    for number, status in enumerate(ExecutionStatus):
        _, run = a.installed(owned, f"d{number}")
        owned.commit(a.turn(executions=(a.status(run, status),)))
    assert [row.status.value for row in owned.executions(only_open=True)] == [
        "queued",
        "running",
        "canceling",
        "attention",
    ]


# graphs and their entries


def test_a_graph_is_read_as_it_was_stored(reopen: Reopen) -> None:
    store = reopen()
    graph = replace(a.graph(1_200), group=np.arange(3_600, dtype=np.int32) // 7)
    _, run = a.installed(store)
    with store.own("test"):
        store.commit(a.turn(graphs=(a.added(1, run, graph),)))
    store = reopen()
    assert_same_graph(store.graph(1), graph)
    (row,) = store.graphs(run)
    assert (row.id, row.execution, row.name, row.attempt, row.entry_count) == (1, run, "install", 0, 3_600)


def test_a_graph_without_entries_can_be_stored(owned: Store) -> None:
    _, run = a.installed(owned)
    owned.commit(a.turn(graphs=(a.added(1, run, a.graph(0, 0)),)))
    assert len(owned.graph(1)) == 0
    assert owned.statuses(1).tolist() == []
    assert owned.step_counts(1) == {}


def test_a_graph_belongs_to_the_attempt_in_which_it_was_planned(owned: Store) -> None:
    _, run = a.installed(owned)
    owned.commit(a.turn(graphs=(a.added(1, run, a.graph(name="install")),)))
    owned.commit(
        a.turn(
            executions=(a.status(run, ExecutionStatus.RUNNING, attempt=1),),
            graphs=(a.added(2, run, a.graph(name="again")),),
        )
    )
    assert [(row.name, row.attempt) for row in owned.graphs(run)] == [("install", 0), ("again", 1)]


def test_a_graph_that_goes_on_belongs_to_the_later_attempt(owned: Store) -> None:
    _, run = a.installed(owned)
    owned.commit(a.turn(graphs=(a.added(1, run, a.graph()),)))
    owned.commit(a.turn(reopened=(GraphReopened(1, 3),)))
    assert [row.attempt for row in owned.graphs(run)] == [3]


def test_counters_give_numbers_never_used(owned: Store) -> None:
    assert owned.counters() == (1, 1)
    _, run = a.installed(owned)
    owned.commit(a.turn(graphs=(a.added(4, run, a.graph()),), opened=(a.batch(9, run, a.numbers(0), graph=4),)))
    assert owned.counters() == (5, 10)


def test_rf7_ha1_each_shard_counts_its_own_ids(owned: Store) -> None:
    _, run = a.installed(owned)
    graph, batch = owned.counters(3)
    assert (shard_of(graph), number_of(graph), shard_of(batch), number_of(batch)) == (3, 1, 3, 1)
    owned.commit(a.turn(graphs=(a.added(4, run, a.graph()),), opened=(a.batch(9, run, a.numbers(0), graph=4),)))
    new = a.batch(batch + 1, run, a.numbers(0, 1), graph=graph)
    owned.commit(a.turn(graphs=(a.added(graph, run, a.graph()),), opened=(new,)))
    assert owned.counters() == (5, 10)
    assert owned.counters(3) == (graph + 1, batch + 2)
    assert [row.id for row in owned.batches(execution=run)] == [9, batch + 1]
    assert [row.places.graphs for row in owned.batches(only_open=True)] == [(4,), (graph,)]


def test_entries_never_written_are_blocked(owned: Store) -> None:
    _, run = a.installed(owned)
    owned.commit(a.turn(graphs=(a.added(1, run, a.graph(500, 5)),), pages=(a.page(1, 1, EntryStatus.COMPLETED),)))
    statuses = owned.statuses(1)
    assert statuses.dtype == np.uint8
    assert np.bincount(statuses, minlength=11).tolist() == [1_500, 0, 0, 0, 0, 0, 1_000, 0, 0, 0, 0]
    assert statuses[1_000:2_000].all()


def test_the_last_page_is_short_and_a_page_written_again_replaces_the_former(owned: Store) -> None:
    _, run = a.installed(owned)
    owned.commit(a.turn(graphs=(a.added(1, run, a.graph(700, 2)),), pages=(PageWritten(1, 1, bytes([9] * 400)),)))
    owned.commit(a.turn(pages=(PageWritten(1, 1, bytes([6] * 399 + [8])),)))
    assert owned.statuses(1)[1_000:].tolist() == [6] * 399 + [8]


def test_entries_in_open_calls_are_running_until_the_execution_has_ended(owned: Store) -> None:
    _, run = a.installed(owned)
    waiting = PageWritten(1, 0, bytes([EntryStatus.WAITING] * 4))
    opened = a.batch(1, run, a.numbers(0, 2))
    owned.commit(a.turn(graphs=(a.added(1, run, a.graph(4, 1)),), pages=(waiting,), opened=(opened,)))
    found = owned.entry_statuses(1)
    assert (found.stored.dtype, found.now.dtype) == (np.uint8, np.uint8)
    assert found.stored.tolist() == owned.statuses(1).tolist() == [1, 1, 1, 1]
    assert found.now.tolist() == [2, 1, 2, 1]
    assert owned.entry_statuses(1, ()).now.tolist() == [1, 1, 1, 1]
    assert owned.entry_statuses(1, owned.batches(only_open=True)).now.tolist() == [2, 1, 2, 1]
    owned.commit(a.turn(executions=(a.status(run, ExecutionStatus.CANCELED),)))
    assert owned.entry_statuses(1).now.tolist() == [1, 1, 1, 1], "the call was given up and still runs"


def test_calls_of_other_graphs_run_nothing_in_this_one(owned: Store) -> None:
    _, run = a.installed(owned)
    graphs = tuple(a.added(number, run, a.graph(2, 1)) for number in (1, 2))
    owned.commit(a.turn(graphs=graphs, opened=(a.batch(1, run, a.numbers(1), graph=2),)))
    assert owned.entry_statuses(1).now.tolist() == [0, 0]
    assert owned.entry_statuses(2).now.tolist() == [0, 2]


def test_a_graph_that_does_not_exist_has_no_statuses(owned: Store) -> None:
    with pytest.raises(LookupError):
        owned.entry_statuses(1)


def test_progress_counts_entries_by_step_and_status(owned: Store) -> None:
    _, run = a.installed(owned)
    statuses = bytes([6] * 8 + [6, 6, 3, 8, 0, 0, 0, 0] + [0] * 8)
    owned.commit(a.turn(graphs=(a.added(1, run, a.graph(8, 3)),), pages=(PageWritten(1, 0, statuses),)))
    assert owned.step_counts(1) == {
        0: {EntryStatus.COMPLETED: 8},
        1: {EntryStatus.BLOCKED: 4, EntryStatus.SLEEPING: 1, EntryStatus.COMPLETED: 2, EntryStatus.FAILED: 1},
        2: {EntryStatus.BLOCKED: 8},
    }


def test_numbers_and_words_of_a_note_are_written_apart(owned: Store) -> None:
    _, run = a.installed(owned)
    called = NotesWritten(1, a.numbers(5, 2), a.numbers(1, 0), a.numbers(0, 1), np.array([900, 0], np.int64))
    failed = EntryRemark(1, 2, "no such host", {"type": "OSError", "traceback": "…"}, {"x": [1]})
    owned.commit(a.turn(graphs=(a.added(1, run, a.graph()),), notes=(called,), payload=TurnPayload(remarks=[failed])))
    owned.commit(a.turn(payload=TurnPayload(remarks=[EntryRemark(1, 7, "booting")])))
    assert owned.notes(1) == [
        NoteRow(2, 0, 1, 0, "no such host", {"type": "OSError", "traceback": "…"}, {"x": [1]}),
        NoteRow(5, 1, 0, 900),
        NoteRow(7, message="booting"),
    ]
    again = NotesWritten(1, a.numbers(2), a.numbers(3), a.numbers(1), np.array([7], np.int64))
    owned.commit(a.turn(notes=(again,)))
    assert owned.notes(1)[0] == NoteRow(2, 3, 1, 7, failed.message, failed.error, failed.result)
    assert owned.messages(1) == {note.position: (note.due, note.message) for note in owned.notes(1)}
    assert owned.notes(1, among=[note.position for note in owned.notes(1)]) == owned.notes(1)
    assert [note.position for note in owned.notes(1, among=[2, 1_000])] == [2]
    assert not owned.notes(1, among=[])
    owned.commit(a.turn(payload=TurnPayload(remarks=[EntryRemark(1, 2)])))
    assert owned.notes(1)[0] == NoteRow(2, 3, 1, 7)


def test_notes_of_many_neighbours_become_those_that_were_told_last(owned: Store) -> None:
    _, run = a.installed(owned)

    def told(positions: range, due: int) -> NotesWritten:
        zeros = np.zeros(len(positions), np.int32)
        return NotesWritten(1, np.array(positions, np.int32), zeros, zeros, np.full(len(positions), due, np.int64))

    owned.commit(a.turn(graphs=(a.added(1, run, a.graph(20)),), notes=(told(range(2, 9), 100),)))
    owned.commit(a.turn(payload=TurnPayload(remarks=[EntryRemark(1, 4, "booting")])))
    halves = [told(range(4, 14), 200), told(range(30, 36), 300)]
    both = NotesWritten(1, *(np.concatenate([getattr(one, name) for one in halves]) for name in
                             ("positions", "attempts", "generations", "due")))  # fmt: skip
    owned.commit(a.turn(notes=(both,)))
    assert {note.position: note.due for note in owned.notes(1)} == (
        {2: 100, 3: 100} | dict.fromkeys(range(4, 14), 200) | dict.fromkeys(range(30, 36), 300)
    )
    assert [note.message for note in owned.notes(1) if note.message] == ["booting"]


# batches


def test_a_batch_is_open_until_it_is_closed(reopen: Reopen) -> None:
    store = reopen()
    _, run = a.installed(store)
    with store.own("test"):
        store.commit(a.turn(graphs=(a.added(1, run, a.graph()),), opened=(a.batch(1, run, a.numbers(3, 1)),)))
        (before,) = store.batches(only_open=True)
        store.commit(a.turn(closed=(a.closed(1, OutcomeKind.COMPLETED, OutcomeKind.AGAIN),)))
    assert (before.phase, before.started_at, before.deadline_at, before.kinds) == (a.LANE.phase, 20, 30, None)
    store = reopen()
    assert store.batches(only_open=True) == []
    (after,) = store.batches()
    ((graph, positions),) = after.segments
    assert (graph, positions.tolist(), positions.dtype) == (1, [3, 1], np.int32)
    assert after.kinds is not None
    assert (after.closed_at, after.kinds.tolist(), after.kinds.dtype) == (25, [1, 2], np.uint8)


def test_a_batch_stays_open_while_members_are_pending(reopen: Reopen) -> None:
    store = reopen()
    _, run = a.installed(store)
    with store.own("test"):
        store.commit(a.turn(graphs=(a.added(1, run, a.graph()),), opened=(a.batch(1, run, a.numbers(3, 1)),)))
        some = replace(a.closed(1, OutcomeKind.PENDING, OutcomeKind.FAILED), closed_at=0)
        store.commit(a.turn(closed=(some,)))
    (row,) = reopen().batches(only_open=True)
    assert row.kinds is not None
    assert (row.closed_at, row.kinds.tolist()) == (0, [0, 4])


def test_a_batch_may_have_members_of_several_executions(owned: Store) -> None:
    one, first = a.installed(owned, "one")
    two, second = a.installed(owned, "two")
    mixed = a.joined(1, a.batch(1, first, a.numbers(0, 1), 1, one), a.batch(1, second, a.numbers(4), 2, two))
    graphs = (a.added(1, first, a.graph()), a.added(2, second, a.graph()))
    owned.commit(a.turn(graphs=graphs, opened=(mixed, a.batch(2, second, a.numbers(5), 2, two))))
    assert [row.id for row in owned.batches(execution=first)] == [1]
    assert [row.id for row in owned.batches(execution=second, only_open=True)] == [1, 2]
    (row,) = owned.batches(execution=first)
    assert [(graph, positions.tolist()) for graph, positions in row.segments] == [(1, [0, 1]), (2, [4])]


def test_the_process_group_of_a_batch_is_remembered(reopen: Reopen) -> None:
    store = reopen()
    _, run = a.installed(store)
    with store.own("test"):
        store.commit(a.turn(graphs=(a.added(1, run, a.graph()),), opened=(a.batch(1, run, a.numbers(0)),)))
        store.set_process_group(1, 4_711)
    assert [row.process_group for row in reopen().batches(only_open=True)] == [4_711]
