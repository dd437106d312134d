"""To which deployments another one may belong (LB2, A67)."""

from __future__ import annotations

import pytest
from tests.store import builders as a

from phaseline.model.blueprint.labels import PARENT, Label
from phaseline.model.problems.problem import ProblemsError
from phaseline.ports.tenant_store import TenantStore
from phaseline.store.memory.store import MemoryStore
from phaseline.use_cases.lookup.estate.parents import raise_if_parents_unfit


def chain(*names: str) -> TenantStore:
    """A store in which each of these deployments belongs to the one before."""
    store = MemoryStore(a.FakeClock()).of("mine")
    for at, name in enumerate(names):
        number, _ = store.create_deployment(a.deployment(name))
        store.labels.add(number, [Label(PARENT, names[at - 1])] if at else [])
    return store


def test_a67_the_whole_chain_of_a_circle_is_told() -> None:
    store = chain("a", "b", "c", "d")
    with pytest.raises(ProblemsError, match=r"a → d → c → b → a"):
        raise_if_parents_unfit(store, "a", {PARENT: ["d"]})
    raise_if_parents_unfit(store, "d", {PARENT: ["a", "b"]})


def test_a67_a_circle_that_is_not_ours_does_not_hinder() -> None:
    store = chain("a", "b")
    number = store.deployments()[0].number
    store.labels.add(number, [Label(PARENT, "b")])
    raise_if_parents_unfit(store, "new", {PARENT: ["a"]})


def test_lb2_all_parents_that_cannot_be_are_told_together() -> None:
    with pytest.raises(ProblemsError) as caught:
        raise_if_parents_unfit(chain("a", "b"), "a", {PARENT: ["a", "b", "none", {"get_input": "x"}]})
    assert [problem.place.subject for problem in caught.value.problems] == ["a", "b", "none"]
