"""The dependency order of nodes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from phaseline.plan.graph.dependency_order import circles, depths

graphs = st.integers(0, 12).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, max(size - 1, 0)), max_size=3 if size else 0), min_size=size, max_size=size
    )
)


def test_a_node_lies_one_deeper_than_its_deepest_target():
    assert depths([[], [0], [0, 1], [], [2, 3]]) == [0, 1, 2, 0, 3]


def test_the_same_target_twice_counts_once():
    assert depths([[], [0, 0]]) == [0, 1]


def test_circles_are_found_each_once_beginning_with_their_first_node():
    assert circles([[1], [0], [3], [4], [2], [0]]) == [[0, 1], [2, 3, 4]]


def test_a_node_that_is_its_own_target_is_a_circle():
    assert circles([[0]]) == [[0]]


@given(graphs)
def test_targets_lie_less_deep_or_there_is_a_circle(targets):
    found = depths(targets)
    for source, needs in enumerate(targets):
        assert found[source] < 0 or all(0 <= found[target] < found[source] for target in needs)
    assert (-1 in found) == bool(circles(targets))


@given(graphs)
def test_circles_are_circles(targets):
    for circle in circles(targets):
        for node, following in zip(circle, circle[1:] + circle[:1], strict=True):
            assert following in targets[node]
