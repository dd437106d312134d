"""N5-N7: what is added, removed and related when counts change; held against a naive reading of the rules."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.plan.test_groups import CALLED, shapes

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.topology.expansion import expand
from phaseline.plan.topology.modification import WantedCount, modify
from phaseline.testing.builders import blueprint, group, host, node, relationship, scaled, topology


def change(made, _counts=None, **wanted):
    asked = {name: one if isinstance(one, WantedCount) else WantedCount(one) for name, one in wanted.items()}
    return modify(made, asked, suffixes=5, counts=_counts or {})


def named(found, numbers):
    """Instances as node and index, which say more than ids that look random."""
    made = found.topology
    return [f"{made.nodes[made.node[number]].name}_{made.index[number]}" for number in numbers]


def rows(found, numbers):
    made = found.finished
    ends = zip(named(found, made.source[numbers]), named(found, made.target[numbers]), strict=True)
    return list(ends)


def problem(made, **wanted):
    with pytest.raises(ProblemsError) as caught:
        change(made, **wanted)
    (found,) = caught.value.problems
    return found


def test_n6_growth_adds_in_every_container_and_the_content_comes_along():
    made = topology(blueprint(host("h", instances=2), node("web", on="h", instances=2), node("app", on="web")))
    found = change(made, web=3)
    assert named(found, found.added.changed) == ["web_5", "web_6", "app_5", "app_6"]
    assert rows(found, found.added.rows) == [("web_5", "h_1"), ("web_6", "h_2"), ("app_5", "web_5"), ("app_6", "web_6")]
    assert not len(found.removed.changed)


def test_n6_shrinking_removes_in_every_container_the_highest_index_first_and_the_content_goes_along():
    made = topology(blueprint(host("h", instances=2), node("web", on="h", instances=2), node("app", on="web")))
    found = change(made, web=1)
    assert named(found, found.removed.changed) == ["web_2", "web_4", "app_2", "app_4"]
    assert named(found, found.removed.related) == ["h_1", "h_2"]


def test_n6_new_containers_have_as_much_content_as_is_in_force():
    made = topology(blueprint(host("h"), node("web", on="h")))
    found = change(made, {"web": 3}, h=2)
    assert named(found, found.added.changed) == ["h_2", "web_2", "web_3", "web_4"]
    assert found.counts == {"h": 2, "web": 3}


def test_n6_what_is_not_modified_keeps_its_instances():
    made = topology(blueprint(host("h", instances=2), node("web", on="h", instances=2), node("db")))
    found = change(made, {"web": 5}, db=2)
    assert named(found, found.added.changed) == ["db_2"]


@pytest.mark.parametrize(
    ("include", "exclude", "gone"),
    [
        ((), (), ["a_3", "a_4"]),
        (("a_1",), (), ["a_1", "a_4"]),
        (("a_1", "a_2", "a_3"), (), ["a_2", "a_3"]),
        ((), ("a_4",), ["a_2", "a_3"]),
        ((), ("a_2", "a_3", "a_4"), ["a_1", "a_4"]),
        (("a_1",), ("a_4", "a_3"), ["a_1", "a_2"]),
    ],
)
def test_n6_included_ids_go_first_and_excluded_ones_last(include, exclude, gone):
    made = topology(blueprint(node("a", instances=4)))
    found = change(made, a=WantedCount(2, include, exclude))
    assert named(found, found.removed.changed) == gone


def test_n6_a_group_is_named_by_its_instances_or_by_what_lies_in_them():
    made = topology(blueprint(host("h"), node("web", on="h"), group("g", "h", instances=3)))
    for id in (made.groups.ids[1], "h_2", "web_2"):
        found = change(made, g=WantedCount(2, include=(id,)))
        assert named(found, found.removed.changed) == ["h_2", "web_2"]
        assert found.removed_groups.tolist() == [1]


def test_n6_a_group_grows_by_whole_instances():
    made = topology(blueprint(node("b"), node("a", to=["b"], instances=2), group("g", "a", "b")))
    found = change(made, g=2)
    assert named(found, found.added.changed) == ["b_2", "a_3", "a_4"]
    assert rows(found, found.added.rows) == [("a_3", "b_2"), ("a_4", "b_2")]
    assert not len(found.added.related)
    assert found.topology.groups_around(3) == {"g": 1}
    assert found.topology.groups.ids[1].startswith("g_")


def test_n6_a_member_of_a_group_grows_in_every_instance_of_it():
    tie = relationship("b", source=CALLED)
    made = topology(blueprint(node("b"), node("a", tie), group("g", "a", "b", instances=2)))
    found = change(made, b=2)
    assert rows(found, found.added.rows) == [("a_1", "b_3"), ("a_2", "b_4")]
    assert named(found, found.added.related) == ["a_1", "a_2"]


def test_n7_neighbours_in_either_direction_are_related_with_their_relationships_to_the_changed_alone():
    ties = [relationship("db", source=CALLED), relationship("net", source=CALLED)]
    made = topology(blueprint(node("net"), node("db", instances=2), node("web", *ties, on=None, instances=2)))
    found = change(made, db=3)
    assert named(found, found.added.changed) == ["db_3"]
    assert named(found, found.added.related) == ["web_1", "web_2"]
    assert rows(found, found.added.rows) == [("web_1", "db_3"), ("web_2", "db_3")]
    found = change(made, db=1)
    assert rows(found, found.removed.rows) == [("web_1", "db_2"), ("web_2", "db_2")]


def test_n7_a_container_of_an_added_instance_is_related_without_relationships_of_its_own():
    made = topology(blueprint(node("net"), host("h", to=["net"]), node("web", on="h")))
    found = change(made, web=2)
    assert named(found, found.added.related) == ["h_1"]
    assert rows(found, found.added.rows) == [("web_2", "h_1")]


def test_n7_relationships_without_rows_relate_as_well():
    made = topology(blueprint(node("db", instances=2), node("web", to=["db"], instances=2)))
    found = change(made, db=3)
    assert named(found, found.added.related) == ["web_1", "web_2"]
    assert (found.added.rows.tolist(), found.added.rules.tolist()) == ([], [0])


def test_n2_all_to_one_keeps_the_target_in_use():
    tie = relationship("db", connection_type="all_to_one")
    made = topology(blueprint(node("db", instances=2), node("web", tie)))
    found = change(made, web=2)
    assert rows(found, found.added.rows) == [("web_2", "db_1")]
    again = change(change(found.finished, db=3).finished, web=3)
    assert rows(again, again.added.rows) == [("web_3", "db_1")]


def test_n2_all_to_one_takes_another_target_when_the_one_in_use_is_removed():
    tie = relationship("db", connection_type="all_to_one")
    made = topology(blueprint(node("db", instances=3), node("web", tie, instances=2)))
    found = change(made, db=WantedCount(2, include=("db_1",)))
    assert named(found, found.extended.changed) == ["web_1", "web_2"]
    assert rows(found, found.extended.rows) == [("web_1", "db_2"), ("web_2", "db_2")]
    assert named(found, found.extended.related) == ["db_2"]
    assert len(found.topology.link) == len(made.link) == 2
    again = change(found.finished, web=3)
    assert rows(again, again.added.rows) == [("web_3", "db_2")]
    again = change(found.rolled_back(), web=3)
    assert rows(again, again.added.rows) == [("web_3", "db_1")]


def test_n2_sources_without_a_target_get_the_first_that_comes():
    tie = relationship("db", connection_type="all_to_one")
    made = topology(blueprint(node("db", instances=0), node("web", tie, instances=2)))
    found = change(made, db=1)
    assert rows(found, found.added.rows) == [("web_1", "db_1"), ("web_2", "db_1")]


def test_n2_several_targets_of_an_all_to_one_are_refused():
    tie = relationship("db", source=CALLED)
    made = topology(blueprint(node("db", instances=2), node("web", tie)))
    one = relationship("db", source=CALLED, connection_type="all_to_one")
    odd = topology(blueprint(node("db", instances=2), node("web", one)))
    broken = altered(odd, link=made.link, source=made.source, target=made.target)
    found = problem(broken, web=2)
    assert (found.code, found.cloudify_class) == ("PL-N007", "IllegalAllToOneState")


def test_n5_new_ids_and_indexes_are_never_those_of_others():
    made = expand(blueprint(node("a", instances=3)), suffixes=1)
    less = modify(made, {"a": WantedCount(1)}, suffixes=1).finished
    more = modify(less, {"a": WantedCount(3)}, suffixes=1, counts={"a": 1})
    assert more.topology.index.tolist() == [1, 2, 3, 4, 5]
    assert len(set(more.topology.ids)) == 5
    assert more.topology.instances_of(0).tolist() == [0, 3, 4]


def test_n8_rolled_back_the_added_are_gone_and_the_others_as_they_were():
    made = topology(blueprint(node("a"), group("g", "a")))
    found = change(made, g=3)
    back = found.rolled_back()
    assert back.instances_of(0).tolist() == [0]
    assert back.groups.is_there.tolist() == [True, False, False]
    assert change(back, g=2).added.changed.tolist() == [3]


def test_n8_a_scaled_topology_has_the_added_and_not_the_removed():
    made = scaled(topology(blueprint(node("a"), node("b", instances=2))), a=2, b=1)
    assert [id for id, there in zip(made.ids, made.is_there, strict=True) if there] == ["a_1", "b_1", "a_2"]


def test_n8_finished_the_removed_are_gone():
    made = topology(blueprint(node("a", instances=2), group("g", "a", instances=2)))
    done = change(made, g=1).finished
    assert done.instances_of(0).tolist() == [0, 1]
    assert done.groups.is_there.tolist() == [True, False]


@pytest.mark.parametrize("count", [-1, True, "3", 1.5, 20_000_000])
def test_n6_a_wrong_count_is_told(count):
    assert problem(topology(blueprint(node("a"))), a=WantedCount(count)).code == "PL-N009"


def test_n6_an_unknown_node_is_told_with_a_guess():
    found = problem(topology(blueprint(node("web"), group("shop", "web"))), shopp=2)
    assert (found.code, found.mend) == ("PL-N008", "did you mean 'shop'?")


def test_n6_an_id_of_something_else_is_told():
    made = topology(blueprint(node("a"), node("b")))
    assert problem(made, a=WantedCount(0, include=("b_1",))).code == "PL-N011"
    assert problem(change(made, a=0).finished, a=WantedCount(0, exclude=("a_1",))).code == "PL-N011"


def test_b19_limits_are_enforced_unless_forced():
    one = node("a")
    limited = type(one)(
        **{name: getattr(one, name) for name in one.__dataclass_fields__} | {"min_instances": 1, "max_instances": 2}
    )
    made = topology(blueprint(limited))
    assert {problem(made, a=count).code for count in (0, 3)} == {"PL-N010"}
    assert len(modify(made, {"a": WantedCount(3)}, suffixes=0, force_limits=True).added.changed) == 2
    assert len(change(made, a=2).added.changed) == 1


def test_decision_11_more_than_a_million_new_relationships_must_be_asked_for():
    made = topology(blueprint(node("db"), node("web", relationship("db", source=CALLED), instances=1001)))
    assert problem(made, db=1001).code == "PL-P002"
    found = modify(made, {"db": WantedCount(1001)}, suffixes=0, yes_many=True)
    assert len(found.added.rows) == 1_001_000


def living(made):
    """{(entity, index): parent} of what is there, by walking the columns."""
    name = [made.nodes[number].name for number in made.node]
    found = {}
    for number in range(len(made)):
        if made.is_there[number]:
            inside = made.group[number] if len(made.group) else -1
            container = made.container[number]
            upper = (
                group_key(made, inside)
                if inside >= 0
                else (name[container], int(made.index[container]))
                if container >= 0
                else None
            )
            found[name[number], int(made.index[number])] = upper
    for number in range(len(made.groups)):
        if made.groups.is_there[number]:
            outer, container = made.groups.outer[number], made.groups.container[number]
            upper = (
                group_key(made, outer)
                if outer >= 0
                else (name[container], int(made.index[container]))
                if container >= 0
                else None
            )
            found[group_key(made, number)] = upper
    return found


def group_key(made, number):
    return made.groups.names[made.groups.group[number]], int(made.groups.index[number])


def naive(before, parts, wanted, counts, highest):
    """What is there afterwards: parents first, in every parent as many as are wanted."""
    groups = {one.name: one for one in parts if not hasattr(one, "relationships")}
    nodes = {one.name: one for one in parts if hasattr(one, "relationships")}
    within = {member: one.name for one in groups.values() for member in one.members}

    def parent(name):
        if name in within:
            return within[name]
        while name in groups:
            name = groups[name].members[0]
        return nodes[name].container

    after = {}
    done = set()
    while len(done) < len(parts):
        for name in (*nodes, *groups):
            if name in done or (parent(name) and parent(name) not in done):
                continue
            done.add(name)
            parents = [key for key in after if key[0] == parent(name)] if parent(name) else [None]
            for upper in sorted(parents, key=lambda key: key or ()):
                mine = sorted(key for key, above in before.items() if key[0] == name and above == upper)
                is_new = upper is not None and upper not in before
                count = wanted.get(name, counts[name] if is_new else len(mine))
                kept = mine[:count]
                for key in kept:
                    after[key] = upper
                for _ in range(count - len(kept)):
                    highest[name] += 1
                    after[name, highest[name]] = upper
    return after


@given(shapes(), st.data())
@settings(max_examples=60, deadline=None)
def test_n6_n7_what_is_there_afterwards_is_that_of_a_naive_reading(shape, data):
    nodes, groups = shape
    parts = [*nodes, *groups]
    made = topology(blueprint(*parts))
    counts = {one.name: one.default_instances for one in parts}
    for _ in range(2):
        names = data.draw(st.lists(st.sampled_from(sorted(counts)), unique=True, min_size=1, max_size=2))
        wanted = {name: data.draw(st.integers(0, 3)) for name in names}
        before = living(made)
        highest = defaultdict(int)
        for number in range(len(made)):
            name = made.nodes[made.node[number]].name
            highest[name] = max(highest[name], int(made.index[number]))
        for number in range(len(made.groups)):
            name, index = group_key(made, number)
            highest[name] = max(highest[name], index)
        found = modify(made, {name: WantedCount(count) for name, count in wanted.items()}, suffixes=3, counts=counts)
        after = naive(before, parts, wanted, counts, highest)
        counts |= wanted
        made = found.finished
        assert living(made) == after
        check_related(found, before, after)
        check_rows(made, nodes, groups, after)


def keys(found, numbers):
    made = found.topology
    return {(made.nodes[made.node[number]].name, int(made.index[number])) for number in numbers}


def check_related(found, before, after):
    groups = set(found.topology.groups.names)
    assert keys(found, found.added.changed) == {key for key in after.keys() - before.keys() if key[0] not in groups}
    assert keys(found, found.removed.changed) == {key for key in before.keys() - after.keys() if key[0] not in groups}
    for side, there in ((found.added, after), (found.removed, before)):
        ends = keys(found, found.topology.source[side.rows]) | keys(found, found.topology.target[side.rows])
        changed = keys(found, side.changed)
        assert keys(found, side.related) == {key for key in ends - changed if key in there}


def check_rows(made, nodes, groups, after):
    """Every pair that the rules tie has a row, and no other that is there."""
    grouped = {one.name for one in groups}

    def way(key):
        found = []
        while key is not None:
            found.append(key)
            key = after[key]
        return found

    expected = set()
    for source in nodes:
        for tie in source.relationships:
            for one in (key for key in after if key[0] == source.name):
                for other in (key for key in after if key[0] == tie.target):
                    up, across = way(one), way(other)
                    if tie.is_containment:
                        fits = other in up
                    else:
                        shared = next((key for key in up if key[0] in {step[0] for step in across} & grouped), None)
                        fits = shared is None or shared in across
                    if fits:
                        expected.add((one, other))
    there = made.is_there[made.source] & made.is_there[made.target]
    key = [(made.nodes[made.node[number]].name, int(made.index[number])) for number in range(len(made))]
    found = [(key[one], key[other]) for one, other in zip(made.source[there], made.target[there], strict=True)]
    assert len(found) == len(set(found)) or any(len(one.relationships) > 1 for one in nodes)
    assert set(found) == expected
    for number in np.flatnonzero(made.is_there).tolist():
        container = int(made.container[number])
        real = next((step for step in way(key[number])[1:] if step[0] not in grouped), None)
        assert (key[container] if container >= 0 else None) == real


def test_n5_a_modification_of_more_instances_than_a_deployment_may_have_is_refused():
    made = topology(blueprint(node("web"), node("db")))
    assert len(modify(made, {"web": WantedCount(4)}, suffixes=5, most=5).finished) == 5
    with pytest.raises(ProblemsError) as refused:
        modify(made, {"web": WantedCount(5)}, suffixes=5, most=5)
    (found,) = refused.value.problems
    assert (found.code, found.message) == ("PL-N005", "the modification makes 4 instances")
