"""What was woven before is woven again only if anything of it is other: drawn plans one after the other, each beside one woven anew."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.plan.test_properties import made

from phaseline.lang.fast_dataclasses import as_dict
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import History, Request, RetryPolicy, StopAfter
from phaseline.plan.topology.expansion import named_anew
from phaseline.plan.transforms import pipeline as weaving
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows import install, uninstall
from phaseline.testing.builders import blueprint, group, node, topology

WALKS = (
    Walk(install.SEQUENCE),
    Walk(install.SEQUENCE, tolerant=True),
    Walk(uninstall.SEQUENCE, downwards=True),
    Walk(uninstall.SEQUENCE, in_order=False),
)
SAYINGS = (Declaration(), Declaration(bulk=True), Declaration(bulk=True, max_batch=2))
REQUESTS = (
    Request("install"),
    Request("install", {"any": 1}),
    Request("install", retries=RetryPolicy(task_retries=1)),
    Request("install", stop_after=StopAfter(share=0.5)),
)


def columns(graph):
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in as_dict(graph).items()}


def same_as_new(asked, name, chosen, walk):
    """The graph, which is what comes of it where nothing is remembered."""
    graph = weave(asked, name, chosen, walk)
    assert columns(graph) == columns(weaving._woven(asked, name, chosen, walk))
    return graph


@given(st.integers(0, 2**32))
def test_what_is_woven_is_what_would_be_woven_anew(seed):
    chance = Random(seed)
    built = [made(chance.randint(1, 4), chance.randrange(99)) for _ in range(2)]
    built += [named_anew(one, suffixes=7) for one in built]
    states = {
        len(one): [np.array(chance.choices(list(State), k=len(one)), np.uint8) for _ in range(2)] for one in built
    }
    for _ in range(12):
        one = chance.choice(built)
        chosen = np.array(chance.choices([True, False], [9, 1], k=len(one)), bool)
        if not chosen.any():
            continue
        said = chance.choice(SAYINGS)
        history = History(chance.choice(states[len(one)]))
        asked = Asked(one, chance.choice(REQUESTS), history, lambda _, said=said: said)
        same_as_new(asked, chance.choice(["install", "again"]), chosen, chance.choice(WALKS))


def asked_for(built, said=SAYINGS[1], states=None):
    present = np.zeros(len(built), np.uint8) if states is None else states
    return Asked(built, REQUESTS[0], History(present), lambda _: said)


def test_the_same_deployment_under_other_ids_has_the_same_graph_and_nobody_can_write_it():
    built = topology(blueprint(node("a", create="p.o", instances=3)))
    chosen = np.ones(3, bool)
    graph = same_as_new(asked_for(built), "install", chosen, WALKS[0])
    other = named_anew(built, suffixes=99)
    assert other.ids != built.ids
    assert same_as_new(asked_for(other), "install", chosen, WALKS[0]) is graph
    assert not any(
        column.flags.writeable for column in (graph.subject, graph.policy, graph.marks, graph.ptr, graph.idx)
    )


def test_whatever_a_graph_is_made_of_is_looked_at():
    built = topology(blueprint(node("a", create="p.o", instances=3)))
    chosen = np.ones(3, bool)
    graph = weave(asked_for(built), "install", chosen, WALKS[0])
    present = np.array([0, 0, State.CREATED], np.uint8)
    others = [
        (asked_for(built, SAYINGS[0]), "install", chosen, WALKS[0]),
        (asked_for(built, states=present), "install", chosen, WALKS[0]),
        (asked_for(built), "again", chosen, WALKS[0]),
        (asked_for(built), "install", np.array([True, False, True]), WALKS[0]),
        (asked_for(built), "install", chosen, WALKS[1]),
        (asked_for(replace(built, gone=np.array([False, True, False]))), "install", chosen, WALKS[0]),
    ]
    for other in others:
        assert same_as_new(*other) is not graph
    present[2] = State.UNINITIALIZED  # what was remembered of the states is no array of others
    assert same_as_new(asked_for(built, states=present), "install", chosen, WALKS[0]) is graph


def test_no_more_is_remembered_than_is_bounded():
    built = topology(blueprint(node("a", create="p.o")))
    first = weave(asked_for(built), "install", np.ones(1, bool), WALKS[0])
    for number in range(weaving.MOST_KEPT):
        weave(asked_for(built), f"round {number}", np.ones(1, bool), WALKS[0])
    assert same_as_new(asked_for(built), "install", np.ones(1, bool), WALKS[0]) is not first
    large = topology(blueprint(node("a", create="p.o", instances=weaving.MOST_ENTRIES + 1)))
    graph = weave(asked_for(large), "install", np.ones(len(large), bool), WALKS[0])
    assert weave(asked_for(large), "install", np.ones(len(large), bool), WALKS[0]) is not graph


def test_a_graph_of_many_entries_is_not_remembered_however_few_the_instances():
    built = topology(blueprint(node("a", create="p.o", start="p.o", instances=weaving.MOST_ENTRIES // 2 + 1)))
    chosen = np.ones(len(built), bool)
    graph = weave(asked_for(built), "install", chosen, WALKS[0])
    assert len(graph) > weaving.MOST_ENTRIES
    assert same_as_new(asked_for(built), "install", chosen, WALKS[0]) is not graph


def test_instances_of_scaling_groups_get_other_ids_as_well():
    built = topology(blueprint(node("a"), group("pair", "a", instances=2)))
    other = named_anew(built, suffixes=99)
    assert [id.partition("_")[0] for id in other.groups.ids] == ["pair", "pair"]
    assert not set(other.groups.ids) & set(built.groups.ids)
    assert other.groups.group.tolist() == built.groups.group.tolist()
