"""What every store promises (SwitchShelf): hook classes that are switched off, by name and deployment."""

import pytest
from tests.store import builders as a

from phaseline.model.rows.hook_switches import EVERYWHERE
from phaseline.model.rows.rows import Actor

ANN = Actor("ann")


@pytest.fixture
def store(reopen):
    return reopen()


def test_h51_a_class_is_off_where_it_was_put_off_and_nowhere_else(store):
    assert store.hook_switches.all() == []
    assert store.hook_switches.put_off("quota", 3, "too strict", ANN) is None
    assert store.hook_switches.put_off("quota", EVERYWHERE, "", ANN) is None
    found = [(one.name, one.deployment, one.actor, one.reason) for one in store.hook_switches.all()]
    assert found == [("quota", EVERYWHERE, "ann", ""), ("quota", 3, "ann", "too strict")]


def test_h51_a_reason_given_later_takes_the_place_of_the_former_one_and_none_keeps_it(store):
    store.hook_switches.put_off("quota", 3, "too strict", ANN)
    former = store.hook_switches.put_off("quota", 3, "ordered by bob", Actor("eve"))
    assert (former.actor, former.reason) == ("ann", "too strict")
    former = store.hook_switches.put_off("quota", 3, "", ANN)
    assert (former.actor, former.reason) == ("eve", "ordered by bob")
    assert [(one.actor, one.reason) for one in store.hook_switches.all()] == [("eve", "ordered by bob")]


def test_it_is_on_again_once(store):
    store.hook_switches.put_off("quota", EVERYWHERE, "", ANN)
    assert not store.hook_switches.put_on("quota", 1)
    assert store.hook_switches.put_on("quota", EVERYWHERE)
    assert not store.hook_switches.put_on("quota", EVERYWHERE)
    assert store.hook_switches.all() == []


def test_a_purge_forgets_those_of_deployments_that_are_gone(store):
    with store.own("test"):
        number = store.create_deployment(a.deployment())[0]
        store.hook_switches.put_off("quota", number, "", ANN)
        store.hook_switches.put_off("quota", EVERYWHERE, "", ANN)
        store.delete_deployment(number, ANN)
        a.purge(store, 10**15)
    assert [one.deployment for one in store.hook_switches.all()] == [EVERYWHERE]
