"""What every store promises (PlanShelf): plans as they were given, one execution each, named bounds."""

from __future__ import annotations

import pytest
from tests.store import builders as a

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.code_location import CodeLocation
from phaseline.model.execution.execution import Request, RetryPolicy
from phaseline.model.execution.stored_plans import MOST_WAITING, Aim, StoredPlan
from phaseline.testing.builders import blueprint, group, host, node

AIM = Aim(
    blueprint(host("vm"), node("web", on="vm", create="x.y", properties={"port": 1}), group("g", "web", instances=2)),
    {"key": {"sealed": "abc"}},
    CodeLocation("/b", ("/p",), (("ns", "/q"),)),
    suffixes=2**62,
    changed_inputs=("key",),
    uses={"": 3},
)


def plan(number: int, **fields) -> StoredPlan:
    given = {
        "request": Request("update", {"plan": 1}, RetryPolicy(3, 1.0)),
        "created_at": 1000,
        "created_by": "eve",
        "base": {"states": "abc"},
        "body": {"steps": [1]},
        "text": "~ web",
    }
    return StoredPlan(0, number, **{**given, **fields})


@pytest.fixture
def store(reopen):
    return reopen()


@pytest.fixture
def number(store):
    with store.own("test"):
        return store.create_deployment(a.deployment())[0]


def test_a_plan_comes_back_as_it_was_given(store, number):
    added = store.stored_plans.add(plan(number, aim=AIM))
    assert (added.number, added.id) == (1, "plan-1")
    found = store.stored_plans.find(1)
    assert altered(found, aim=None) == altered(added, aim=None)
    assert altered(found.aim, blueprint=None) == altered(AIM, blueprint=None)
    assert {name: one.properties for name, one in found.aim.blueprint.nodes.items()} == {
        name: one.properties for name, one in AIM.blueprint.nodes.items()
    }
    assert store.stored_plans.find(2) is None


def test_lists_are_brief_and_of_one_deployment_if_it_is_named(store, number):
    store.stored_plans.add(plan(number, aim=AIM))
    store.stored_plans.add(plan(number + 1))
    assert [(row.number, row.text, row.aim) for row in store.stored_plans.all()] == [(1, "", None), (2, "", None)]
    assert [row.number for row in store.stored_plans.all(number)] == [1]


def test_one_execution_carries_a_plan_out(store, number):
    shelf = store.stored_plans
    shelf.add(plan(number))
    assert shelf.of_execution(7) is None
    assert shelf.apply(1, 7)
    assert not shelf.apply(1, 8)
    assert not shelf.apply(2, 7)
    assert shelf.of_execution(7).number == 1
    assert not shelf.delete(1)


def test_plans_that_wait_have_a_bound_and_applied_ones_do_not_count(store, number):
    shelf = store.stored_plans
    shelf.add(plan(number))
    shelf.apply(1, 7)
    for _ in range(MOST_WAITING + 2):
        shelf.add(plan(number))
    assert [row.number for row in shelf.all(number)] == [1, *range(4, MOST_WAITING + 4)]
    assert shelf.delete(4)
    assert not shelf.delete(4)


def test_a_purge_takes_what_nobody_has_applied_for_so_long_and_the_plans_of_what_it_removes(store, number):
    shelf = store.stored_plans
    shelf.add(plan(number, created_at=1000))
    shelf.add(plan(number, created_at=3000))
    shelf.add(plan(number, created_at=1000, execution=99))
    a.purge(store, 2000)
    assert 1 not in {row.number for row in shelf.all()}
    assert 2 in {row.number for row in shelf.all()}
