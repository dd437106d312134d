"""From node templates to node instances: N1-N5."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.topology.expansion import MAX_INSTANCES, expand
from phaseline.testing.builders import CONNECTED_TO, blueprint, host, node, relationship, topology


def problems(*nodes, **given):
    with pytest.raises(ProblemsError) as caught:
        topology(blueprint(*nodes), **given)
    return caught.value.problems


def pairs(made, link=0):
    rows = made.link == link
    return [
        (made.ids[source], made.ids[target])
        for source, target in zip(made.source[rows], made.target[rows], strict=True)
    ]


def test_n1_counts_of_contained_nodes_multiply():
    made = topology(
        blueprint(host("h", instances=2), node("web", on="h", instances=3), node("app", on="web", instances=2))
    )
    assert [len(made.instances_of(number)) for number in range(3)] == [2, 6, 12]


def test_n1_every_container_instance_gets_its_own():
    made = topology(blueprint(host("h", instances=2), node("web", on="h", instances=2)))
    assert [made.ids[i] if i >= 0 else "" for i in made.container] == ["", "", "h_1", "h_1", "h_2", "h_2"]
    assert pairs(made) == [("web_1", "h_1"), ("web_2", "h_1"), ("web_3", "h_2"), ("web_4", "h_2")]


def test_n1_a_container_without_instances_has_no_content():
    assert len(topology(blueprint(host("h", instances=0), node("web", on="h", instances=3)))) == 0


def test_a_blueprint_without_nodes_has_no_instances():
    assert len(topology(blueprint())) == 0


def test_n2_all_to_all_without_operations_is_a_rule_and_no_rows():
    made = topology(blueprint(node("db", instances=3), node("web", to=["db"], instances=2)))
    assert made.links[0].is_rule
    assert len(made.source) == 0


def test_n2_all_to_all_with_an_operation_has_a_row_for_each_pair():
    tie = relationship("db", source={"establish": "p.e"})
    made = topology(blueprint(node("db", instances=2), node("web", tie, instances=2)))
    assert pairs(made) == [("web_1", "db_1"), ("web_1", "db_2"), ("web_2", "db_1"), ("web_2", "db_2")]


def test_n2_an_operation_that_is_declared_but_not_mapped_makes_no_rows():
    tie = relationship("db", source={"establish": ""})
    assert topology(blueprint(node("db"), node("web", tie))).links[0].is_rule


def test_n2_all_to_one_takes_the_smallest_index():
    tie = relationship("db", connection_type="all_to_one")
    made = topology(blueprint(node("db", instances=2), node("web", tie, instances=2)))
    assert pairs(made) == [("web_1", "db_1"), ("web_2", "db_1")]


@pytest.mark.parametrize(("targets", "sources"), [(0, 2), (2, 0), (0, 0)])
@pytest.mark.parametrize("how", ["all_to_all", "all_to_one"])
def test_n2_without_instances_on_one_side_there_are_no_rows(targets, sources, how):
    tie = relationship("db", source={"establish": "p.e"}, connection_type=how)
    made = topology(blueprint(node("db", instances=targets), node("web", tie, instances=sources)))
    assert len(made.source) == 0


def test_n2_an_unknown_connection_type_is_a_problem_with_a_guess():
    (problem,) = problems(node("db"), node("web", relationship("db", connection_type="all_to_on")))
    assert (problem.code, problem.mend) == ("PL-N001", "did you mean 'all_to_one'?")
    assert "all_to_on" in problem.message


def test_n2_the_connection_type_of_a_container_is_not_asked():
    tie = relationship("h", "cloudify.relationships.contained_in", connection_type="whatever")
    assert len(topology(blueprint(host("h"), node("web", tie)))) == 2


def test_n3_all_relationships_between_the_same_nodes_are_kept_in_order():
    ties = [relationship("db", source={"establish": f"p.{name}"}) for name in "ab"]
    made = topology(blueprint(node("db"), node("web", *ties)))
    assert [(link.place, len(pairs(made, number))) for number, link in enumerate(made.links)] == [(0, 1), (1, 1)]


def test_n4_the_host_is_the_innermost_compute_itself_included():
    nodes = [host("outer"), host("inner", relationship("outer", "cloudify.relationships.contained_in"))]
    made = topology(blueprint(*nodes, node("web", on="inner"), node("app", on="web"), node("alone")))
    hosts = {made.ids[i]: made.ids[made.host[i]] if made.host[i] >= 0 else None for i in range(len(made))}
    assert hosts == {
        "outer_1": "outer_1",
        "inner_1": "inner_1",
        "web_1": "inner_1",
        "app_1": "inner_1",
        "alone_1": None,
    }


def test_n4_connections_give_no_host():
    assert topology(blueprint(host("h"), node("web", to=["h"]))).host.tolist() == [0, -1]


def test_n5_ids_are_the_node_and_six_characters_and_indexes_count_from_one():
    made = expand(blueprint(node("web", instances=3)), suffixes=1)
    assert all(re.fullmatch("web_[a-z0-9]{6}", text) for text in made.ids)
    assert made.index.tolist() == [1, 2, 3]


def test_instances_are_numbered_by_depth_then_template_then_index():
    nodes = [node("web", to=["db"], instances=2), node("db", to=["net"]), node("net"), node("alone")]
    assert topology(blueprint(*nodes)).ids == ["net_1", "alone_1", "db_1", "web_1", "web_2"]


def test_depth_is_the_longest_way_to_a_node_without_targets():
    nodes = [node("a", to=["c", "b"]), node("b", to=["c"]), node("c")]
    assert topology(blueprint(*nodes)).ids == ["c_1", "b_1", "a_1"]


def test_a_circle_of_containers_is_spelled_out():
    (problem,) = problems(node("a", on="b"), node("b", on="c"), node("c", on="a"))
    assert problem.code == "PL-N002"
    assert "a -> b -> c -> a" in problem.message


def test_a_circle_of_dependencies_is_spelled_out():
    (problem,) = problems(node("x"), node("a", to=["b"]), node("b", on="a"), node("c", to=["a"]))
    assert problem.code == "PL-N003"
    assert "a -> b -> a" in problem.message


def test_every_circle_is_a_problem_of_its_own():
    assert len(problems(node("a", to=["b"]), node("b", to=["a"]), node("c", on="d"), node("d", on="c"))) == 2


@pytest.mark.parametrize("count", [-1, 1.5, True, "3", {"get_input": "n"}, None])
def test_a_count_that_is_no_whole_number_is_a_problem(count):
    (problem,) = problems(node("a", instances=count))
    assert problem.code == "PL-N004"


def test_more_instances_than_anyone_can_mean_are_a_problem():
    (problem,) = problems(host("h", instances=MAX_INSTANCES), node("web", on="h", instances=1000))
    assert problem.code == "PL-N005"
    assert "of 'web'" in problem.message


def test_decision_11_more_than_a_million_relationship_calls_must_be_asked_for():
    tie = relationship("db", source={"establish": "p.e"}, to={"establish": "p.e"})
    nodes = [node("db", instances=1000), node("web", tie, instances=501)]
    (problem,) = problems(*nodes)
    assert problem.code == "PL-P002"
    assert "1,002,000 calls" in problem.message
    assert "--yes-many" in problem.mend
    assert len(topology(blueprint(*nodes), yes_many=True).source) == 501_000


def test_decision_11_operations_on_the_node_or_all_to_one_are_no_relationship_calls():
    tie = relationship("db", source={"establish": "p.e"}, connection_type="all_to_one")
    assert len(topology(blueprint(node("db", instances=2000), node("web", tie, instances=2000)))) == 4000


shapes = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.integers(0, 5), max_size=2), st.booleans(), st.booleans()), max_size=6
)


@given(shapes)
def test_targets_have_lower_numbers_and_hosts_are_found_by_walking_up(shape):
    nodes = []
    for number, (count, targets, contained, is_host) in enumerate(shape):
        names = [f"n{target % number}" for target in targets] if number else []
        ties = [relationship(name, CONNECTED_TO, source={"establish": "p.e"}) for name in names[1:]]
        if names:
            kind = "cloudify.relationships.contained_in" if contained else CONNECTED_TO
            ties.append(relationship(names[0], kind, connection_type="all_to_one"))
        nodes.append((host if is_host else node)(f"n{number}", *ties, instances=count))
    made = topology(blueprint(*nodes))
    assert (made.target < made.source).all()
    for number in range(len(made)):
        up = number
        while up >= 0 and not made.nodes[made.node[up]].is_host:
            up = made.container[up]
        assert made.host[number] == up
