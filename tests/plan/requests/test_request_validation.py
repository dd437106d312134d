"""Requests that cannot be meant are refused before they are submitted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from phaseline.model.blueprint.blueprint import PropertySchema, WorkflowMapping
from phaseline.model.execution.execution import Request
from phaseline.plan.requests.request_validation import check
from phaseline.testing.builders import blueprint, node, topology

APP = topology(blueprint(node("web", instances=2), node("db", types=("shop.Database",))))


def found(workflow="install", **parameters):
    return [(problem.code, problem.mend) for problem in check(APP, Request(workflow, parameters))]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"node_ids": ["web"], "node_instance_ids": ["web_1"], "type_names": ["shop.Database"]},
        {"node_ids": "web"},
    ],
)
def test_what_can_be_meant_is_no_problem(parameters):
    assert found(**parameters) == []
    assert found("uninstall", ignore_failure=True, retry_ignored=False, **parameters) == []


@pytest.mark.parametrize(
    ("which", "wrong", "guess"),
    [
        ("node_ids", "wep", "web"),
        ("node_instance_ids", "web_3", "web_2"),
        ("type_names", "shop.Databas", "shop.Database"),
    ],
)
def test_filters_that_name_what_is_not_there_are_problems_with_a_guess(which, wrong, guess):
    ((code, mend),) = found(**{which: [wrong]})
    assert code == "PL-P001"
    assert f"did you mean '{guess}'?" in mend


def test_all_mistakes_are_found_at_once():
    codes = [code for code, _ in found("uninstall", node_ids=["x", "y"], ignore_failure="yes", speed=3)]
    assert sorted(codes) == ["PL-P001", "PL-P001", "PL-P004", "PL-P004"]


def test_install_ignores_no_failures():
    ((code, mend),) = found("install", ignore_failure=True)
    assert code == "PL-P004"
    assert "it has: type_names" in mend


def test_a_filter_is_a_list_of_names():
    assert [code for code, _ in found(node_ids=3)] == ["PL-P004"]


def test_an_unknown_workflow_is_a_problem_with_a_guess():
    ((code, mend),) = found("instal")
    assert code == "PL-P009"
    assert "did you mean 'install'?" in mend


def test_b23_parameters_that_the_blueprint_declares_or_that_are_custom_are_let_through():
    declared = {"install": WorkflowMapping("install", "", parameters={"speed": PropertySchema()})}
    fast = replace(APP, blueprint=replace(APP.blueprint, workflows=declared))
    assert check(fast, Request("install", {"speed": 3})) == ()
    assert [problem.code for problem in check(APP, Request("install", {"speed": 3}))] == ["PL-P004"]
    assert check(APP, Request("install", {"speed": 3}), with_custom=True) == ()


def test_b23_a_parameter_that_would_have_to_do_something_we_cannot_do_is_refused():
    assert found("update", plan=1, reevaluate_active_statuses=False) == []
    ((code, mend),) = found("update", plan=1, reevaluate_active_statuses=True)
    assert (code, mend) == ("PL-P004", "leave it out for now")
