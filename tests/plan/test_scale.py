"""Plans of many instances, many nodes and deep chains: narrow, and made without a loop for each instance."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import History, Request
from phaseline.plan.topology.expansion import expand
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import CONTAINED_IN, blueprint, node, relationship

NAMES = ("precreate", "create", "configure", "start", "poststart", "prestop", "stop", "delete", "postdelete")
BULK = Declaration(bulk=True)


def many_instances():
    return blueprint(node("a", instances=100_000, **dict.fromkeys(NAMES, "p.o")))


def many_nodes():
    return blueprint(*[node(f"n{i}", **{name: f"p.{name}_{i}" for name in NAMES}) for i in range(10_000)])


def deep_chain():
    tie = [[relationship(f"n{i - 1}", CONTAINED_IN)] if i else [] for i in range(3_000)]
    return blueprint(*[node(f"n{i}", *tie[i], **dict.fromkeys(NAMES, "p.o")) for i in range(3_000)])


def wide_pair():
    names = dict.fromkeys(NAMES, "p.o")
    return blueprint(node("db", instances=20_000, **names), node("web", to=["db"], instances=20_000, **names))


def graph_of(built, workflow):
    states = np.full(len(built), 0 if workflow == "install" else 7, np.uint8)
    return PLANNERS[workflow](built, Request(workflow), History(states), lambda _: BULK)


def python_calls(work):
    """How many Python functions ``work`` enters: a measure of loops that no machine makes faster."""
    count = 0

    def counted(_frame, event, _argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("make", [many_instances, many_nodes, deep_chain, wide_pair])
def test_an_entry_takes_at_most_25_bytes(make):
    built = expand(make(), suffixes=1)
    for workflow, operations in (("install", 5), ("uninstall", 4)):
        graph = graph_of(built, workflow)
        columns = [getattr(graph, name) for name in ("subject", "policy", "marks", "ptr", "idx", "group")]
        assert sum(column.nbytes for column in columns) <= 25 * len(graph)
        assert operations * len(built) <= len(graph) <= operations * len(built) + 1


def test_a_flat_graph_of_100_000_instances_is_made_without_a_loop_for_each():
    built = expand(many_instances(), suffixes=1)
    assert python_calls(lambda: graph_of(built, "install")) < 2_000


def test_10_000_nodes_cost_a_few_calls_each():
    built = expand(many_nodes(), suffixes=1)
    assert python_calls(lambda: graph_of(built, "install")) < 5 * 50_000


def test_all_to_all_order_goes_through_one_milestone():
    graph = graph_of(expand(wide_pair(), suffixes=1), "install")
    assert [step.count for step in graph.steps if step.phase == "milestone"] == [1]
    assert len(graph.idx) == 2 * 20_000 * 4 + 2 * 20_000


def test_policies_are_shared():
    assert len(graph_of(expand(many_nodes(), suffixes=1), "install").policies) == 5
