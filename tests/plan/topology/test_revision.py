"""W60: what an update makes of nodes, instances and relationships, before anything runs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.plan.test_groups import shapes

from phaseline.calls.batches.trial_call import with_plain_ids
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Blueprint
from phaseline.plan.graph.dependency_order import depths
from phaseline.plan.topology.expansion import expand
from phaseline.plan.topology.revision import revise
from phaseline.store.codec.topologies import blueprint_from_text, blueprint_to_text, from_row, to_row
from phaseline.testing.builders import (
    CONTAINED_IN,
    blueprint,
    group,
    host,
    node,
    relationship,
    scaled,
    topology,
)

TIED = {"establish": "net.tie", "unlink": "net.untie"}


def revised(old: Blueprint, new: Blueprint, made=None, **options):
    return revise(topology(old) if made is None else made, new, suffixes=7, **options)


def named(made, numbers):
    return [f"{made.nodes[made.node[number]].name}_{made.index[number]}" for number in numbers]


def pairs(made, rows):
    return list(zip(named(made, made.source[rows]), named(made, made.target[rows]), strict=True))


def there(made):
    return named(made, made.is_there.nonzero()[0])


def living_pairs(made):
    """(source, target) of everything that counts, rows and rules."""
    found = []
    for number in made.is_there.nonzero()[0].tolist():
        order, ptr = made.rows_by_source
        for row in order[ptr[number] : ptr[number + 1]].tolist():
            if made.is_there[made.target[row]]:
                found.append((number, int(made.target[row])))
        for link in made.links:
            if link.is_rule and link.source == made.node[number]:
                found += [(number, int(target)) for target in made.instances_of(link.target)]
    return sorted((named(made, [one])[0], named(made, [other])[0]) for one, other in found)


APP = (host("vm", instances=2), node("db"), node("web", on="vm", to=["db"]))


def test_w60_the_same_blueprint_changes_nothing():
    found = revised(blueprint(*APP), blueprint(*APP))
    assert not [*found.added, *found.removed, *found.changed, *found.fates.past]
    assert there(found.finished) == there(topology(blueprint(*APP)))


def test_w60_nodes_come_and_go_and_who_stays_keeps_its_number_and_id():
    old = topology(blueprint(*APP))
    found = revised(None, blueprint(APP[0], node("web", on="vm", to=["cache"]), node("cache", instances=2)), old)
    made = found.finished
    assert named(made, found.removed) == ["db_1"]
    assert named(made, found.added) == ["cache_1", "cache_2"]
    assert list(made.ids[: len(old)]) == list(old.ids)
    assert living_pairs(made) == [
        ("web_1", "cache_1"), ("web_1", "cache_2"), ("web_1", "vm_1"),
        ("web_2", "cache_1"), ("web_2", "cache_2"), ("web_2", "vm_2"),
    ]  # fmt: skip
    assert [made.nodes[number].name for number in made.past] == ["db"]


@pytest.mark.parametrize(
    ("new", "why"),
    [
        (node("web", on="vm", to=["db"], types=["cloudify.nodes.Web"]), "its type changes"),
        (node("web", to=["db"]), "its container changes from vm to none"),
        (node("web", relationship("db", connection_type="all_to_one"), on="vm"), "a property of its relationship"),
    ],
)
def test_w60_pd18_what_cannot_change_in_place_is_replaced_with_what_it_contains(new, why):
    app = node("app", on="web")
    found = revised(blueprint(*APP, app), blueprint(*APP[:2], new, app))
    assert list(found.fates.replaced) == ["web"]
    assert why in found.fates.replaced["web"]
    assert named(found.finished, found.removed) == ["web_1", "web_2", "app_1", "app_2"]
    assert {name.partition("_")[0] for name in named(found.finished, found.added)} == {"web", "app"}
    assert len(there(found.finished)) == 7 if new.container else 5
    assert len(set(found.finished.ids)) == len(found.finished.ids)


def test_w60_pd18_members_of_a_group_that_changes_are_replaced():
    old = blueprint(node("a"), node("b"), node("c"), group("g", "a", "b", instances=2))
    new = blueprint(node("a"), node("b"), node("c"), group("g", "a", "c", instances=2))
    found = revised(old, new)
    assert sorted(found.fates.replaced) == ["a", "b", "c"]
    assert sorted(there(found.finished)) == ["a_1", "a_2", "b_1", "c_1", "c_2"]
    again = revise(found.finished, old, suffixes=9)
    assert sorted(there(again.finished)) == ["a_1", "a_2", "b_1", "b_2", "c_1"]
    assert len(there(scaled(again.finished, g=3))) == 7


def test_w60_pd18_a_group_that_comes_to_lie_in_another_one_is_another_group():
    inner, nodes = group("in", "a", instances=2), (node("a"), node("b"))
    found = revised(blueprint(*nodes, inner), blueprint(*nodes, inner, group("out", "in", "b", instances=3)))
    assert sorted(found.fates.replaced) == ["a", "b"]
    assert [len(found.finished.instances_of(at)) for at in range(4)] == [0, 0, 6, 3]


def test_w60_counts_that_the_blueprint_says_as_before_stay_scaled_others_win():
    old = blueprint(node("a", instances=2), node("b", instances=2))
    made = altered_counts(scaled(topology(old), a=5, b=5), a=5, b=5)
    found = revise(made, blueprint(node("a", instances=2), node("b", instances=3)), suffixes=3)
    assert [len(found.finished.instances_of(number)) for number in (0, 1)] == [5, 3]
    assert found.finished.counts == {"a": 5}


def altered_counts(made, **counts):
    from dataclasses import replace

    return replace(made, counts=counts)


def test_n7_w60_relationships_between_nodes_that_stay_are_extended_and_reduced():
    tied = relationship("db", source=TIED)
    old = blueprint(node("db"), node("cache"), node("web", tied, instances=2))
    new = blueprint(node("db"), node("cache"), node("web", relationship("cache", source=TIED), instances=2))
    before = topology(old)
    found = revised(None, new, before)
    assert pairs(before, found.reduced) == [("web_1", "db_1"), ("web_2", "db_1")]
    assert pairs(found.finished, found.extended) == [("web_1", "cache_1"), ("web_2", "cache_1")]
    assert living_pairs(found.finished) == [("web_1", "cache_1"), ("web_2", "cache_1")]


def test_w60_a_relationship_that_is_turned_round_makes_no_circle():
    old = blueprint(node("a", to=["b"]), node("b"))
    new = blueprint(node("a"), node("b", to=["a"]))
    found = revised(old, new)
    assert living_pairs(found.finished) == [("b_1", "a_1")]
    targets = [[link.target for link in found.finished.links if link.source == at and not link.is_cut] for at in (0, 1)]
    assert -1 not in depths(targets)


def test_w60_a_rule_whose_relationship_gets_an_operation_gets_rows_and_no_establish():
    old = blueprint(node("db", instances=2), node("web", to=["db"], instances=2))
    new = blueprint(node("db", instances=2), node("web", relationship("db", source=TIED), instances=2))
    found = revised(old, new)
    assert not len(found.extended)
    assert len(living_pairs(found.finished)) == 4


def test_w61_properties_and_operations_make_drift_relationships_do_not():
    old = blueprint(node("a", properties={"port": 1}, start="x.y"), node("b", start="x.y"), node("c", to=["a"]))
    new = blueprint(node("a", properties={"port": 2}, start="x.y"), node("b", start="x.z"), node("c"))
    found = revised(old, new)
    assert named(found.finished, found.drifted) == ["a_1", "b_1"]
    (change,) = found.changed["a"]
    assert (change.kind, change.what, change.path, change.old, change.new) == (
        "changed", "property", "nodes.a.properties.port", 1, 2,
    )  # fmt: skip


def test_w60_a_node_that_takes_an_input_which_changes_is_changed():
    taking = altered(node("a", properties={"key": {"get_input": "key"}}), has_functions=True)
    found = revised(blueprint(taking), blueprint(taking), changed_inputs=frozenset({"key"}))
    assert named(found.finished, found.drifted) == ["a_1"]


def test_w60_an_update_back_gives_what_was_there_before():
    old, new = blueprint(*APP), blueprint(host("vm", instances=2), node("web", on="vm", to=["cache"]), node("cache"))
    there_and_back = revise(revised(old, new).finished, old, suffixes=11)
    assert living_pairs(there_and_back.finished) == living_pairs(with_plain_ids(expand(old, suffixes=0)))


def test_w60_a_node_that_moves_into_its_former_content_is_replaced_with_it():
    old = blueprint(host("h"), node("x", on="h"), node("y", on="x"))
    new = blueprint(host("h"), node("x"), node("y", relationship("x", CONTAINED_IN)))
    found = revised(old, new)
    assert there(found.finished) == ["h_1", "y_2", "x_1"] or sorted(there(found.finished)) == ["h_1", "x_1", "y_2"]


def test_w60_what_is_past_and_cut_is_stored_and_read_again():
    tied = [relationship(target, source=TIED) for target in ("db", "cache")]
    old = blueprint(host("vm"), node("db"), node("cache"), node("web", *tied, on="vm", instances=2))
    new = blueprint(host("vm"), node("db"), node("web", tied[0], on="vm", types=["x.y"]), node("app", to=["db"]))
    once = revised(old, new).finished
    again = revise(once, altered(new, nodes={**new.nodes, "app": node("app")}), suffixes=3).finished
    stored = blueprint_from_text(blueprint_to_text(again.blueprint))
    found = from_row(to_row(again, again.blueprint), stored)
    assert found.past == again.past
    assert [(link.is_cut, link.place, link.relationship) for link in found.links] == [
        (link.is_cut, link.place, link.relationship) for link in again.links
    ]
    assert [(one.name, one.type, len(one.relationships)) for one in found.nodes] == [
        (one.name, one.type, len(one.relationships)) for one in again.nodes
    ]
    assert living_pairs(found) == living_pairs(again)


def comes_to(made):
    """How many instances each node has, and how many ties there are between each two nodes, whatever their numbers."""
    names = [node.name for node in made.nodes]
    counts = Counter(names[number] for number in made.node[made.is_there].tolist())
    ties = Counter((one.rpartition("_")[0], other.rpartition("_")[0]) for one, other in living_pairs(made))
    return counts, ties


@given(shapes(), shapes(), st.booleans())
@settings(max_examples=30, deadline=None)
def test_w60_any_update_comes_to_what_a_new_deployment_of_the_blueprint_is_and_leads_back(one, other, stored):
    old, new = (blueprint(*nodes, *groups) for nodes, groups in (one, other))
    before = expand(old, suffixes=1)
    there = revise(before, new, suffixes=2)
    made = there.finished
    if stored:
        told = blueprint_from_text(blueprint_to_text(new))
        made = from_row(to_row(made, new), told)
    assert comes_to(made) == comes_to(expand(new, suffixes=3))
    assert len(set(made.ids)) == len(made.ids)
    assert list(made.ids[: len(before)]) == list(before.ids)
    back = revise(made, old, suffixes=4).finished
    assert comes_to(back) == comes_to(before)
    gone = np.flatnonzero(~made.is_there)
    assert set(gone.tolist()) == set(there.removed.tolist())
    assert not set(there.added.tolist()) & set(range(len(before)))
    for number in made.is_there.nonzero()[0].tolist():
        inside = int(made.container[number])
        assert inside < 0 or made.is_there[inside]
        node_of = made.nodes[made.node[number]]
        assert node_of.relationships == new.nodes[node_of.name].relationships


def test_w60_several_relationships_of_a_kind_to_one_node_are_known_again_by_their_order():
    tie = relationship("db", source=TIED)
    old = blueprint(node("db"), node("web", tie, tie))
    found = revised(old, blueprint(node("db"), node("web", tie)))
    assert pairs(found.former, found.reduced) == [("web_1", "db_1")]
    assert not len(found.extended)
