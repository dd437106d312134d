"""Source document 3 and the decisions: how install and uninstall end, from what their rounds came to."""

from __future__ import annotations

import numpy as np
import pytest

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import History, Request, Round, StopAfter, Verdict
from phaseline.model.graph.graph import Graph
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, node, topology

APP = topology(blueprint(node("a", create="p.c", delete="p.d", instances=2), node("b", to=["a"])))


def ask(workflow, *rounds, canceled=False, attempt=0, request=None, states=None):
    present = np.zeros(len(APP), np.uint8) if states is None else states
    history = History(present, rounds, canceled, attempt)
    return PLANNERS[workflow](APP, request or Request(workflow), history, lambda _: Declaration())


@pytest.mark.parametrize("workflow", ["install", "uninstall"])
def test_first_a_graph_then_a_verdict(workflow):
    graph = ask(workflow)
    assert isinstance(graph, Graph)
    assert ask(workflow, Round(graph.name, 0, {"completed": len(graph)})) == Verdict("completed")


@pytest.mark.parametrize("workflow", ["install", "uninstall"])
def test_w4_the_reason_counts_what_failed(workflow):
    done = Round(workflow, 0, {"completed": 5, "failed": 2, "skipped": 7})
    assert ask(workflow, done) == Verdict("failed", "2 operations failed, 7 steps that depend on them were skipped")


@pytest.mark.parametrize("workflow", ["install", "uninstall"])
def test_w7_a_canceled_execution_is_canceled_whatever_its_graph_came_to(workflow):
    done = Round(workflow, 0, {"completed": 5, "canceled": 7})
    assert ask(workflow, done, canceled=True) == Verdict("canceled", "7 steps were canceled")
    assert ask(workflow, canceled=True) == Verdict("canceled")


def test_a_round_that_a_retry_reopened_counts_for_its_new_attempt():
    assert ask("install", Round("install", 1, {"completed": 3}), attempt=1) == Verdict("completed")


def test_a_retry_with_clean_up_plans_anew_from_the_present_states():
    failed = Round("install", 0, {"failed": 1})
    states = np.array([2, 7, 0], np.uint8)
    graph = ask("install", failed, attempt=1, states=states, request=Request("install", clean=True))
    assert graph.name == "clean-up"
    again = ask("install", failed, Round("clean-up", 1, {"completed": 1}), attempt=1, states=states)
    assert again.name == "install"


def test_decision_1_unsure_entries_make_attention():
    verdict = ask("install", Round("install", 0, {"completed": 1, "unsure": 1}))
    assert verdict.status == "attention"
    assert verdict.reason == "of 1 operation it is not known whether it was carried out"


def test_w8_an_unsure_clean_up_is_not_followed_by_an_install():
    verdict = ask("install", Round("clean-up", 0, {"unsure": 1}), request=Request("install", clean=True))
    assert verdict.status == "attention"


def test_stop_after_a_share_counts_by_node():
    request = Request("install", stop_after=StopAfter(share=0.1))
    assert ask("install", request=request).group.tolist() == [0, 0, 1]
    assert len(ask("install").group) == 0
