"""What holds for every plan: drawn blueprints, drawn states, drawn failures, carried out naively."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.plan.naive import World

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, Reshape
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import EntryStatus as Status
from phaseline.model.graph.status import Mark
from phaseline.plan.graph.call_policies import SCRIPT
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import (
    CONNECTED_TO,
    CONTAINED_IN,
    blueprint,
    full_name,
    host,
    node,
    relationship,
    topology,
)

OPERATIONS = ("precreate", "create", "configure", "start", "poststart", "prestop", "stop", "delete", "monitoring_start")
SIDES = ("preconfigure", "postconfigure", "establish", "unlink")


def made(size, seed):
    """A blueprint of ``size`` nodes with random counts, operations and relationships to earlier nodes."""
    chance = Random(seed)
    nodes = []
    for number in range(size):
        ties = []
        for place in range(chance.randint(0, 3) if number else 0):
            kind = CONTAINED_IN if not place and chance.random() < 0.5 else CONNECTED_TO
            ties.append(
                relationship(
                    f"n{chance.randrange(number)}",
                    kind,
                    source=dict.fromkeys(chance.sample(SIDES, chance.randint(0, 2)), "p.s"),
                    to=dict.fromkeys(chance.sample(SIDES, chance.randint(0, 2)), "p.t"),
                    connection_type=chance.choice(["all_to_all", "all_to_one"]),
                    after="create" if kind is CONNECTED_TO and chance.random() < 0.2 else "",
                )
            )
        mapped = dict.fromkeys(chance.sample(OPERATIONS, chance.randint(0, 5)), "p.o")
        make = host if chance.random() < 0.5 else node
        nodes.append(make(f"n{number}", *ties, instances=chance.randint(0, 3), **mapped))
    return topology(blueprint(*nodes))


seeds = st.integers(0, 2**32)
topologies = st.builds(made, st.integers(1, 6), seeds)


@st.composite
def drawn_graphs(draw):
    """A graph of any workflow over a drawn blueprint, random present states and a random filter."""
    built = draw(topologies)
    chance = Random(draw(seeds))
    workflow = chance.choice(sorted(set(PLANNERS) - {"update", "restore"}))  # these are of a plan
    states = np.array(chance.choices(list(State), k=len(built)), np.uint8)
    chosen = chance.sample(built.ids, min(len(built), chance.randint(0, 3)))
    parameters = {"node_instance_ids": chosen, "ignore_failure": chance.random() < 0.5}
    parameters |= {"operation": full_name(chance.choice(OPERATIONS)), "skip_undeclared": True}
    parameters["run_by_dependency_order"] = chance.random() < 0.5
    parameters["scalable_entity_name"] = chance.choice(built.nodes).name
    request = Request(workflow, parameters, clean=chance.random() < 0.5)
    answer = PLANNERS[workflow](built, request, History(states), lambda _: SCRIPT)
    if isinstance(answer, Reshape):
        built = answer.topology
        states = np.concatenate((states, np.zeros(len(built) - len(states), np.uint8)))
        answer = PLANNERS[workflow](built, request, History(states), lambda _: SCRIPT)
    return built, answer


def needs_of(graph):
    needs = {position: set() for position in range(len(graph))}
    for position in range(len(graph)):
        for waiting in graph.idx[graph.ptr[position] : graph.ptr[position + 1]].tolist():
            needs[waiting].add(position)
    return needs


def tie_pairs(built):
    """(source instance, target instance, operation to wait for or None) of every relationship instance, rules written out."""
    for number, link in enumerate(built.links):
        rows = np.flatnonzero(built.link == number)
        if link.is_rule:
            for source in built.instances_of(link.source).tolist():
                for target in built.instances_of(link.target).tolist():
                    yield source, target, link.relationship.lifecycle_operation
        for row in rows.tolist():
            yield int(built.source[row]), int(built.target[row]), link.relationship.lifecycle_operation


@given(topologies, st.sets(st.integers(0, 60), max_size=3))
def test_an_operation_never_runs_before_what_it_needs(built, broken):
    world = World.fresh(built)
    seen = []

    def fails(line):
        seen.append(line)
        return len(seen) in broken

    world.run("install", fails=fails)
    started = {}
    for place, line in enumerate(world.lines):
        if line.startswith("=started"):
            started[line.split()[1]] = place
    first = {}
    for place, line in enumerate(world.lines):
        first.setdefault(line.split()[1].partition(">")[0], place)
    for source, target, operation in tie_pairs(built):
        source, target = built.ids[source], built.ids[target]
        if operation is None and source in first:
            assert started[target] < first[source]
    down = World.fresh(built, State.STARTED)
    seen.clear()
    down.run("uninstall", fails=fails)
    gone = {line.split()[1]: place for place, line in enumerate(down.lines) if line.startswith("=deleted")}
    first = {}
    for place, line in enumerate(down.lines):
        first.setdefault(line.split()[1].partition(">")[0], place)
    for source, target, _ in tie_pairs(built):
        source, target = built.ids[source], built.ids[target]
        if target in first:
            assert gone[source] < first[target]


@given(topologies)
def test_uninstall_of_what_install_made_leaves_every_instance_deleted(built):
    world = World.fresh(built)
    assert world.run("install").status == "completed"
    assert set(world.states.tolist()) <= {State.STARTED}
    assert world.run("uninstall").status == "completed"
    assert set(world.states.tolist()) <= {State.DELETED}


@given(topologies, st.integers(1, 40))
def test_uninstall_with_ignored_failures_ends_with_everything_deleted_whatever_install_left(built, broken):
    world = World.fresh(built)
    world.run("install", fails=lambda _: len(world.calls) == broken)
    assert world.run("uninstall", fails=lambda _: True, ignore_failure=True).status == "completed"
    assert set(world.states.tolist()) <= {State.DELETED}


@given(topologies, st.integers(1, 40))
def test_an_install_that_failed_is_completed_by_a_second_one_with_clean_up(built, broken):
    world = World.fresh(built)
    world.run("install", fails=lambda _: len(world.calls) == broken)
    assert world.run("install", clean=True).status == "completed"
    assert set(world.states.tolist()) <= {State.STARTED}


@given(drawn_graphs())
def test_steps_tile_the_graph_and_everything_waits_for_earlier_steps_only(drawn):
    _, graph = drawn
    if not hasattr(graph, "steps"):
        return
    assert [step.first for step in graph.steps] == np.cumsum([0, *(s.count for s in graph.steps)])[:-1].tolist()
    assert sum(step.count for step in graph.steps) == len(graph)
    step_of = np.repeat(np.arange(len(graph.steps)), [step.count for step in graph.steps])
    for position, needs in needs_of(graph).items():
        assert all(step_of[need] < step_of[position] for need in needs)


@given(drawn_graphs())
def test_columns_are_narrow_and_within_their_tables(drawn):
    built, graph = drawn
    if not hasattr(graph, "steps"):
        return
    assert (graph.subject.dtype, graph.policy.dtype, graph.marks.dtype) == (np.int32, np.uint16, np.uint8)
    assert (graph.ptr.dtype, graph.idx.dtype) == (np.int32, np.int32)
    assert graph.policy.max() < len(graph.policies)
    assert len(set(graph.policies)) == len(graph.policies)
    assert set(graph.policy.tolist()) == set(range(len(graph.policies)))
    limits = {
        SubjectKind.INSTANCE: len(built),
        SubjectKind.SOURCE: len(built.source),
        SubjectKind.TARGET: len(built.source),
    }
    for step in graph.steps:
        own = slice(step.first, step.first + step.count)
        subjects, absent = graph.subject[own], (graph.marks[own] & Mark.ABSENT) != 0
        assert step.count > 0
        if step.kind is SubjectKind.NONE:
            assert (subjects == -1).all()
            assert absent.all()
        else:
            assert subjects.min() >= 0
            assert subjects.max() < limits[step.kind]
            assert absent.all() == absent.any()
        assert all(policy.lane.phase == step.phase for policy in _policies(graph, step) if policy.lane.phase)


def _policies(graph, step):
    return [graph.policies[number] for number in graph.policy[step.first : step.first + step.count]]


@given(drawn_graphs())
def test_no_edge_is_there_twice_and_waiting_lists_ascend_but_for_the_chain(drawn):
    _, graph = drawn
    if hasattr(graph, "steps"):
        for position in range(len(graph)):
            waiting = graph.idx[graph.ptr[position] : graph.ptr[position + 1]].tolist()
            assert len(set(waiting)) == len(waiting)


@given(topologies)
def test_the_same_question_has_the_same_answer(built):
    history = History(np.zeros(len(built), np.uint8))
    first, second = (PLANNERS["install"](built, Request("install"), history, lambda _: SCRIPT) for _ in range(2))
    if hasattr(first, "steps"):
        assert (first.steps, first.policies) == (second.steps, second.policies)
        assert all(
            np.array_equal(getattr(first, column), getattr(second, column))
            for column in ("subject", "policy", "marks", "ptr", "idx")
        )


@given(topologies)
def test_all_to_all_order_costs_no_more_than_one_edge_an_instance_and_side(built):
    world = World.fresh(built)
    world.run("install")
    if world.last is None:
        return
    sides = sum(len(built.instances_of(link.source)) + len(built.instances_of(link.target)) for link in built.links)
    calls = sum(step.count for step in world.last.steps)
    assert len(world.last.idx) <= 2 * calls + 2 * sides


@given(topologies, st.integers(1, 30))
def test_an_instance_is_lost_exactly_when_something_it_depends_on_failed(built, broken):
    world = World.fresh(built)
    world.run("install", fails=lambda _: len(world.calls) == broken)
    failed = {p for p, status in world.status.items() if status is Status.FAILED}
    if not failed:
        return
    assert len(failed) == 1
    needs = needs_of(world.last)
    behind = set(failed)
    for position in sorted(needs):
        if needs[position] & behind:
            behind.add(position)
    assert {p for p, status in world.status.items() if status is Status.SKIPPED} == behind - failed
