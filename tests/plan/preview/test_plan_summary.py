"""The plan for the user: blocks, counts of waves, batches and calls, warnings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from phaseline.model.blueprint.blueprint import PropertySchema
from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import History, Request
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.graph.call_policies import SCRIPT
from phaseline.plan.preview.plan_summary import summarise
from phaseline.plan.preview.plan_text import plan_text
from phaseline.plan.workflows import PLANNERS
from phaseline.testing.builders import blueprint, host, node, relationship, topology

BULK = Declaration(bulk=True, max_batch=10)


def summary(*nodes, declared=SCRIPT, slots=None, **given):
    built = topology(blueprint(*nodes), yes_many=True)
    states = np.zeros(len(built), np.uint8)
    graph = PLANNERS["install"](built, Request("install"), History(states), lambda _: declared)
    return summarise(built, graph, slots=slots or {"threads": 4, "workers": 2}, **given)


def test_a_bulk_operation_costs_one_call_a_batch():
    found = summary(node("a", create="p.c", instances=25), declared=BULK)
    assert (found.waves, found.batches, found.calls) == (1, 3, 3)


def test_bulk_calls_are_made_for_each_function_of_a_batch():
    found = summary(node("a", create="p.a", instances=5), node("b", create="p.b", instances=7), declared=BULK)
    assert (found.batches, found.calls) == (2, 3)


def test_what_becomes_ready_together_shares_a_batch_across_nodes():
    found = summary(*[node(f"n{i}", create="p.c") for i in range(10)], declared=BULK)
    assert (found.batches, found.calls) == (1, 1)


def test_both_sides_of_relationships_and_instances_that_wait_for_all_are_counted():
    tie = relationship("db", source={"establish": "p.s"}, to={"establish": "p.t"})
    found = summary(node("db", create="p.c", instances=2), node("web", tie, create="p.c", instances=2), declared=BULK)
    assert [(phase.name.rpartition(".")[2], phase.count, phase.calls) for phase in found.phases] == [
        ("create", 4, 2),
        ("establish", 8, 2),
    ]
    assert summary(node("a", create="p.c"), yes_many=True).calls == 1


def test_what_becomes_ready_later_needs_a_call_of_its_own():
    nodes = [node(f"n{i}", to=[f"n{i - 1}"] if i else [], create="p.c") for i in range(5)]
    found = summary(*nodes, declared=BULK)
    assert (found.waves, found.batches, found.calls) == (5, 5, 5)


def test_an_operation_for_each_costs_a_call_an_instance():
    found = summary(node("a", create="p.c", instances=25), declared=Declaration(repeatable=True))
    assert (found.batches, found.calls) == (1, 25)


def test_what_must_not_be_repeated_is_handed_out_for_free_slots_only():
    found = summary(node("a", create="p.c", instances=9))
    assert (found.batches, found.calls) == (3, 9)


def test_decision_7_scripts_run_in_workers():
    (phase,) = summary(node("a", create="scripts/create.sh", instances=4)).phases
    assert (phase.pool, phase.form, phase.batches) == ("workers", "each", 2)


def test_a_batch_key_makes_counts_least_ones():
    found = summary(node("a", create="p.c"), declared=Declaration(bulk=True, batch_key="properties.region"))
    assert found.phases[0].is_least
    assert "at least 1 plugin call" in plan_text(found)


def test_waves_follow_the_longest_way_and_entries_without_a_call_cost_none():
    nodes = [node("a", create="p.c", start="p.s"), node("b", to=["a"]), node("c", to=["b"], create="p.c")]
    assert summary(*nodes).waves == 3


def test_decision_8_agents_count_as_none_and_one_warning_names_their_hosts():
    asking = replace(host("h1"), properties={"agent_config": {"install_method": "remote"}})
    also = replace(host("h2"), properties={"install_agent": True, "agent_config": {"install_method": "none"}})
    (warning,) = summary(asking, also, host("h3")).warnings
    assert (warning.code, warning.severity) == ("PL-P005", "warning")
    assert "h1 (remote), h2 (remote) run on this machine" in warning.message


def test_decision_8_old_blueprints_switch_the_agent_off():
    quiet = replace(host("h"), properties={"install_agent": False, "agent_config": {"install_method": "remote"}})
    assert summary(quiet).warnings == ()


def test_decision_11_a_million_relationship_calls_must_be_asked_for():
    tie = relationship("db", source={"establish": "p.e"})
    nodes = [node("db", instances=1001), node("web", tie, instances=1000)]
    with pytest.raises(ProblemsError, match="PL-P002"):
        summary(*nodes)


def test_decision_30_values_of_hidden_inputs_are_not_shown():
    secret = replace(node("a", properties={"key": "swordfish", "port": 80}, create="p.c"))
    written = blueprint(replace(secret, properties={"key": {"concat": [{"get_input": "word"}]}, "port": 80}))
    written = replace(written, inputs={"word": PropertySchema(hidden=True)})
    (found,) = summary(secret, written=written).nodes
    assert found.properties == {"key": "(hidden)", "port": 80}


def test_an_empty_plan_says_so():
    found = summary(node("a"))
    assert (found.waves, found.calls) == (0, 0)
    assert plan_text(found).endswith("execution: nothing is called\n")


def test_long_values_are_cut_and_inline_scripts_counted():
    made = replace(node("a", properties={"text": "x" * 100}, create="p.c"))
    operation = replace(made.operations["cloudify.interfaces.lifecycle.create"], form="inline", implementation="a\nb")
    text = plan_text(summary(replace(made, operations={operation.name: operation})))
    assert f"text: {'x' * 59}…\n" in text
    assert "create  inline script of 2 lines" in text
