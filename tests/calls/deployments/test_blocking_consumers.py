"""DP7: which living deployments read what would be touched."""

from __future__ import annotations

import numpy as np
import pytest
from tests.calls.deployments.estates import Estate

from phaseline.calls.deployments.blocking_consumers import NAMED, Consumer, Touch, blocking, raise_if_read, told
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.problem import ProblemsError

CHAIN: Value = {"get_attribute": ["host", "ip"]}


def names(estate: Estate, row, touch: Touch, **more) -> list[str]:
    store = estate.store.of("default_tenant")
    return [one.name for one in blocking(store, row, store.topology(row.number), touch, **more)]


@pytest.fixture
def estate() -> Estate:
    found = Estate()
    found.add("net", capabilities={"ip": CHAIN, "mixed": {"concat": [CHAIN, "x"]}}, instances=2)
    found.add("chain", outputs={"a": {"get_capability": ["net", "ip"]}})
    found.add("mixed", outputs={"a": {"get_capability": ["net", "mixed"]}})
    found.add("child", labels={"csys-obj-parent": ["net"]})
    found.add("idle", outputs={"a": {"get_capability": ["net", "ip"]}}, is_living=False)
    return found


@pytest.mark.parametrize(
    ("instances", "blocked"),
    [
        (None, ["chain", "mixed", "child"]),
        ([1, 1], ["chain", "mixed", "child"]),
        ([0, 1], ["chain", "mixed"]),
        ([0, 0], []),
    ],
)
def test_dp7_a_child_is_touched_by_what_takes_the_whole_away(
    estate: Estate, instances: list[int] | None, blocked: list[str]
) -> None:
    net = estate.store.of("default_tenant").deployment("net")
    assert names(estate, net, Touch(None if instances is None else np.array(instances, bool))) == blocked


def test_dp7_those_that_go_down_with_it_do_not_block(estate: Estate) -> None:
    store = estate.store.of("default_tenant")
    net, child = store.deployment("net"), store.deployment("child")
    assert child is not None
    assert names(estate, net, Touch(None), besides={child.number}) == ["chain", "mixed"]


def test_dp7_of_very_many_consumers_a_bounded_number_is_named() -> None:
    estate = Estate()
    net = estate.add("net", capabilities={"ip": CHAIN})
    for at in range(NAMED + 60):
        estate.add(f"app{at:03}", outputs={"a": {"get_capability": ["net", "ip"]}})
    store = estate.store.of("default_tenant")
    found = blocking(store, net, store.topology(net.number), Touch(None))
    assert len(found) == NAMED
    with pytest.raises(ProblemsError) as caught:
        raise_if_read(net, found, "uninstall")
    (problem,) = caught.value.problems
    assert f"at least {NAMED} other deployments read" in problem.message
    assert f"app004 (outputs.a) and at least {NAMED - 5} more" in problem.message
    assert len(problem.details["consumers"]) == NAMED


def test_dp8_the_consumers_are_told_in_one_line() -> None:
    assert (
        told([Consumer("app", ("web.ip", "web.x")), Consumer("b", ("outputs.y",))])
        == "app (web.ip, web.x), b (outputs.y)"
    )
    raise_if_read(None, [], "uninstall")  # type: ignore[arg-type]  # it is not looked at
