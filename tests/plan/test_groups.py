"""N1, N2 with scaling groups: how instances multiply, and who is connected to whom, against a naive reading."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.model.problems.problem import ProblemsError
from phaseline.testing.builders import blueprint, group, host, node, relationship, topology

CALLED = {"establish": "p.e"}


def around(made, id):
    return [(name, made.groups.index[number]) for name, number in made.groups_around(made.number_of[id]).items()]


def pairs(made):
    return [(made.ids[source], made.ids[target]) for source, target in zip(made.source, made.target, strict=True)]


def test_n1_a_group_multiplies_its_members_together():
    made = topology(blueprint(node("a", instances=2), node("b"), group("g", "a", "b", instances=3)))
    assert made.ids == ["a_1", "a_2", "a_3", "a_4", "a_5", "a_6", "b_1", "b_2", "b_3"]
    assert [around(made, f"a_{index}") for index in range(1, 7)] == [[("g", index)] for index in (1, 1, 2, 2, 3, 3)]
    assert [around(made, f"b_{index}") for index in range(1, 4)] == [[("g", index)] for index in (1, 2, 3)]


def test_n1_group_instances_are_numbered_apart_and_have_ids_of_their_own():
    made = topology(blueprint(node("a"), group("g", "a", instances=2)))
    assert len(made) == 2
    assert len(set(made.groups.ids)) == 2
    assert all(id.startswith("g_") for id in made.groups.ids)


def test_n1_groups_nest_and_an_instance_records_its_chain_innermost_first():
    made = topology(blueprint(node("a", instances=2), group("in", "a", instances=2), group("out", "in", instances=2)))
    assert len(made) == 8
    assert around(made, "a_5") == [("in", 3), ("out", 2)]


def test_n1_the_outermost_group_takes_over_the_container_of_its_members():
    nodes = [host("h", instances=2), node("a", on="h"), node("b", on="h")]
    made = topology(blueprint(*nodes, group("in", "a"), group("out", "in", "b", instances=3)))
    assert [made.ids[made.container[number]] for number in made.instances_of(1)] == ["h_1"] * 3 + ["h_2"] * 3
    assert [made.ids[number] if number >= 0 else "" for number in made.groups.container] == ["h_1"] * 3 + [
        "h_2"
    ] * 3 + ["h_1"] * 3 + ["h_2"] * 3


def test_n1_what_lies_in_a_member_goes_with_it_and_lies_in_its_group():
    made = topology(blueprint(host("h", instances=2), node("web", on="h", instances=2), group("g", "h", instances=2)))
    assert [len(made.instances_of(number)) for number in (0, 1)] == [4, 8]
    assert made.group.tolist() == [0, 0, 1, 1] + [-1] * 8
    assert around(made, "web_5") == [("g", 2)]


def test_n2_all_to_all_stays_within_the_nearest_group_that_both_share():
    tie = relationship("b", source=CALLED)
    made = topology(blueprint(node("b", instances=2), node("a", tie, instances=2), group("g", "a", "b", instances=2)))
    assert pairs(made) == [
        ("a_1", "b_1"), ("a_1", "b_2"), ("a_2", "b_1"), ("a_2", "b_2"),
        ("a_3", "b_3"), ("a_3", "b_4"), ("a_4", "b_3"), ("a_4", "b_4"),
    ]  # fmt: skip


def test_n2_within_a_group_there_is_a_row_for_each_pair_though_nothing_is_called():
    made = topology(blueprint(node("b"), node("a", to=["b"]), group("g", "a", "b", instances=2)))
    assert (made.links[0].is_rule, made.links[0].ties_all, pairs(made)) == (
        False,
        False,
        [("a_1", "b_1"), ("a_2", "b_2")],
    )


def test_n2_nodes_of_different_groups_are_connected_whole():
    made = topology(
        blueprint(node("b"), node("a", to=["b"]), group("g", "a", instances=2), group("h", "b", instances=2))
    )
    assert made.links[0].is_rule


def test_n2_containment_counts_for_sharing_a_group():
    nodes = [host("h"), node("b", on="h"), node("a", on="h", to=["b"])]
    made = topology(blueprint(*nodes, group("g", "h", instances=2)))
    assert [pair for pair in pairs(made) if pair[0][0] == "a" and pair[1][0] == "b"] == [("a_1", "b_1"), ("a_2", "b_2")]


def test_n2_all_to_one_within_a_group_is_refused():
    tie = relationship("b", connection_type="all_to_one")
    with pytest.raises(ProblemsError) as caught:
        topology(blueprint(node("b"), node("a", tie), group("g", "a", "b")))
    (problem,) = caught.value.problems
    assert (problem.code, problem.cloudify_class) == ("PL-N006", "UnsupportedAllToOneInGroup")


def test_n5_groups_that_multiply_beyond_reason_are_a_problem():
    parts = [node("a", instances=0), group("in", "a", instances=10_000_000), group("out", "in", instances=10_000_000)]
    with pytest.raises(ProblemsError, match="PL-N005"):
        topology(blueprint(*parts))


@st.composite
def shapes(draw):
    """Nodes in containers, some of them in groups; relationships between neighbours of the forest."""
    count = draw(st.integers(2, 6))
    on = [draw(st.integers(-1, number - 1)) if number else -1 for number in range(count)]
    instances = [draw(st.integers(0, 2)) for _ in range(count)]
    loose = [number for number in range(count) if on[number] < 0]
    held = draw(st.lists(st.sampled_from(loose), unique=True, max_size=3))
    groups = []
    if held:
        cut = draw(st.integers(1, len(held)))
        inner = [f"n{number}" for number in held[:cut]]
        groups.append(group("in", *inner, instances=draw(st.integers(0, 2))))
        outer = [f"n{number}" for number in held[cut:]]
        if draw(st.booleans()):
            groups.append(group("out", "in", *outer, instances=draw(st.integers(0, 2))))
    nodes = []
    for number in range(count):
        ties = []
        if number and draw(st.booleans()):
            ties.append(relationship(f"n{draw(st.integers(0, number - 1))}", source=CALLED))
        nodes.append(
            node(f"n{number}", *ties, on=f"n{on[number]}" if on[number] >= 0 else None, instances=instances[number])
        )
    return nodes, groups


def naive(nodes, groups):
    """{entity: [its way from the root: (entity, place within its parent)…]} by going down from every parent."""
    within = {member: one.name for one in groups for member in one.members}
    parent = {one.name: within.get(one.name, one.container) for one in nodes}
    parent |= {one.name: within.get(one.name) for one in groups}
    each = {one.name: one.default_instances for one in (*nodes, *groups)}
    made = {}

    def ways(name):
        if name not in made:
            above = ways(parent[name]) if parent[name] else [()]
            made[name] = [(*way, (name, place)) for way in above for place in range(each[name])]
        return made[name]

    return {name: ways(name) for name in each}


@given(shapes())
@settings(max_examples=60, deadline=None)
def test_n1_n2_instances_and_rows_are_those_of_a_naive_reading(shape):
    nodes, groups = shape
    made = topology(blueprint(*nodes, *groups))
    ways = naive(nodes, groups)
    grouped = {one.name for one in groups}
    number = {name: {way: f"{name}_{place + 1}" for place, way in enumerate(found)} for name, found in ways.items()}
    assert sorted(made.ids) == sorted(id for name, ids in number.items() if name not in grouped for id in ids.values())
    for name, found in ways.items():
        for way in found if name not in grouped else ():
            id = number[name][way]
            inside = [(step, number[step][way[: place + 1]]) for place, (step, _) in enumerate(way) if step in grouped]
            assert around(made, id) == [(step, int(own.rpartition("_")[2])) for step, own in reversed(inside)]
            container = made.container[made.number_of[id]]
            holder = next(one for one in nodes if one.name == name).container
            upper = next((number[step][way[: place + 1]] for place, (step, _) in enumerate(way) if step == holder), "")
            assert (made.ids[container] if container >= 0 else "") == upper
    expected = []
    for source in nodes:
        for tie in source.relationships:
            for one, other in itertools.product(ways[source.name], ways[tie.target]):
                if tie.is_containment:
                    fits = one[: len(other)] == other
                else:
                    steps = {step: place for place, (step, _) in enumerate(other) if step in grouped}
                    shared = next((step for step, _ in reversed(one) if step in steps), None)
                    place = next((place for place, (step, _) in enumerate(one) if step == shared), -1)
                    fits = one[: place + 1] == other[: place + 1]
                if fits:
                    expected.append((number[source.name][one], number[tie.target][other]))
    assert sorted(pairs(made)) == sorted(expected)
