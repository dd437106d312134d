"""How operations are to be called: lanes, retries, and one policy for all that are alike."""

from __future__ import annotations

import pytest

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import RetryPolicy
from phaseline.model.problems.problem import ProblemsError
from phaseline.plan.graph.call_policies import MAX_POLICIES, SCRIPT, Policies, PolicyOverrides, lane
from phaseline.testing.builders import operation

NAME = "cloudify.interfaces.lifecycle.create"


def made(implementation, declared=SCRIPT, **fields):
    return lane(operation(NAME, implementation, **fields), declared)


def test_a_bulk_function_shares_its_calls_and_keeps_its_limits():
    declared = Declaration(bulk=True, max_batch=7, batch_key="properties.region", concurrency=3)
    spec = made("p.c", declared)
    assert (spec.form, spec.max_batch, spec.key, spec.concurrency) == ("bulk", 7, "properties.region", 3)
    assert spec.phase == NAME


@pytest.mark.parametrize("declared", [Declaration(), Declaration(flavour="cloudify")])
def test_any_other_function_is_called_for_each_in_threads(declared):
    assert (made("p.c", declared).form, made("p.c", declared).pool) == ("each", "threads")


def test_decision_7_scripts_and_functions_with_a_timeout_go_to_worker_processes():
    assert (made("scripts/create.sh").form, made("scripts/create.sh").pool) == ("each", "workers")
    assert made("p.c", timeout_s=3).pool == "workers"
    assert made("p.c", timeout_s=0).pool == "threads"


def test_a_script_is_not_asked_what_it_declares():
    def declare(_):
        raise AssertionError

    policies = Policies(declare, RetryPolicy())
    assert policies.numbering(PolicyOverrides())(operation(NAME, "scripts/create.sh")) == 0
    assert not next(iter(policies.callings)).repeatable


def test_operations_that_are_called_alike_share_a_policy():
    policies = Policies(lambda _: Declaration(repeatable=True), RetryPolicy())
    number = policies.numbering(PolicyOverrides())
    assert number(operation(NAME, "p.a")) == number(operation(NAME, "p.b", max_retries=60))
    assert number(operation(NAME, "p.a", timeout_s=2, timeout_recoverable=True)) == 1
    assert [policy.repeatable for policy in policies.callings] == [True, True]


def test_states_make_a_policy_another_one():
    policies = Policies(lambda _: SCRIPT, RetryPolicy())
    number = policies.numbering(PolicyOverrides(enter=(2,), leave=(3,)))(operation(NAME, "p.a"))
    numbers = [policies.final(number, (), ()), policies.final(number, (1,), (7,)), policies.final(number, (), ())]
    assert numbers == [0, 1, 0]
    assert [(policy.enter, policy.leave) for policy in policies.table()] == [((2,), (3,)), ((1, 2), (3, 7))]


def test_more_ways_than_the_column_holds_are_refused():
    policies = Policies(lambda _: SCRIPT, RetryPolicy())
    for number in range(MAX_POLICIES + 1):
        policies.final(number, (), ())
    with pytest.raises(ProblemsError, match="PL-P003"):
        policies.table()
