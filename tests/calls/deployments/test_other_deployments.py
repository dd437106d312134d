"""DP1, DP2, DP12, DP13: what a deployment sees of the others, as the store has it."""

from __future__ import annotations

import pytest
from tests.calls.deployments.estates import Estate

from phaseline.calls.deployments.other_deployments import CapabilityMemo, OtherDeployments, environment_of
from phaseline.calls.protocol.no_secrets import NoSecrets
from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.other_deployments import CapabilityReads
from phaseline.dsl.functions.plan_and_runtime_scopes import RuntimeScope
from phaseline.dsl.functions.topology_view import TopologyInstances
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.blueprint.labels import Label
from phaseline.model.problems.problem import ProblemsError
from phaseline.testing.builders import blueprint, node, topology

ADDRESS: Value = {"get_attribute": ["host", "ip"]}
NOTHING = TopologyInstances(topology(blueprint(node("host"))), lambda _: {})


def seen(beyond: OtherDeployments, value: Value) -> Value:
    return evaluate(value, RuntimeScope({}, {}, NOTHING, others=lambda: CapabilityReads(beyond)))


def looking(estate: Estate, row, **more) -> OtherDeployments:
    return OtherDeployments(estate.store.of(row.tenant), NoSecrets(), row, **more)


def test_dp12_only_what_is_committed_is_seen() -> None:
    estate = Estate()
    net, app = estate.add("net", capabilities={"address": ADDRESS}), estate.add("app")
    value: Value = {"get_capability": ["net", "address"]}
    assert seen(looking(estate, app), value) is None
    estate.write(net.number, 0, "ip", "10.0.0.1")
    assert seen(looking(estate, app), value) == "10.0.0.1"


def test_dp2_what_shares_a_memo_sees_one_value_and_each_capability_is_evaluated_once() -> None:
    estate, memo = Estate(), CapabilityMemo()
    net = estate.add("net", capabilities={"address": ADDRESS, "other": "x"})
    rows = [estate.add("app"), estate.add("shop")]
    estate.write(net.number, 0, "ip", "before")
    found = []
    for row in rows * 3:
        found.append(seen(looking(estate, row, memo=memo), {"get_capability": ["net", "address"]}))
        estate.write(net.number, 0, "ip", "after")
    assert (set(found), memo.evaluated) == ({"before"}, 1)
    assert seen(looking(estate, rows[0], memo=CapabilityMemo()), {"get_capability": ["net", "address"]}) == "after"


def test_dp2_an_error_is_kept_like_a_value() -> None:
    estate, memo = Estate(), CapabilityMemo()
    estate.add("net", capabilities={"bad": {"get_attribute": ["nobody", "ip"]}})
    app = estate.add("app")
    for _ in range(3):
        with pytest.raises(ProblemsError, match="nobody"):
            seen(looking(estate, app, memo=memo), {"get_capability": ["net", "bad"]})
    assert memo.evaluated == 1


def test_dp1_a_large_provider_reads_the_properties_that_are_asked_for() -> None:
    estate = Estate()
    net = estate.add("net", capabilities={"all": {"get_attributes_list": ["host", "ip"]}}, instances=1_001)
    estate.write(net.number, 1_000, "ip", "last")
    found = seen(looking(estate, estate.add("app")), {"get_capability": ["net", "all"]})
    assert found == [*[None] * 1_000, "last"]


def test_dp1_a_provider_of_another_tenant_does_not_exist() -> None:
    estate = Estate()
    estate.add("net", capabilities={"x": 1}, tenant="other")
    app = estate.add("app")
    with pytest.raises(ProblemsError, match="PL-B170"):
        seen(looking(estate, app), {"get_capability": ["net", "x"]})


def test_dp1_no_group_exists_yet_and_the_error_names_the_way() -> None:
    estate = Estate()
    app = estate.add("app")
    with pytest.raises(ProblemsError, match="there is no group of deployments 'shops'") as caught:
        seen(looking(estate, app), {"get_group_capability": ["shops", "x"]})
    assert caught.value.problems[0].code == "PL-B170"


def test_dp6_of_several_parents_the_oldest_is_the_environment() -> None:
    estate = Estate()
    for name in ("old", "new"):
        estate.add(name)
    store = estate.store.of("default_tenant")
    labels = [Label("csys-obj-parent", name) for name in ("gone", "new", "old")]
    assert environment_of(store, labels) == "old"
    assert environment_of(store, labels[:1]) == "gone"
    assert environment_of(store, [Label("team", "x")]) is None


def test_dp13_consumers_are_those_with_a_record_and_the_children_each_once() -> None:
    estate = Estate()
    net = estate.add("net", capabilities={"x": 1})
    read: Value = {"get_capability": ["net", "x"]}
    estate.add("app", outputs={"a": read, "b": read})
    estate.add("child", outputs={"a": read}, labels={"csys-obj-parent": ["net"]})
    estate.add("plain")
    assert sorted(looking(estate, net).consumers()) == [("app", "app"), ("child", "child")]


def test_dp5_only_providers_with_a_computed_name_are_noted() -> None:
    estate, noted = Estate(), []
    net, app = estate.add("net", capabilities={"x": 1}), estate.add("app")
    beyond = looking(estate, app, noted=lambda *use: noted.append(use))
    seen(beyond, {"get_capability": ["net", "x"]})
    assert noted == []
    seen(beyond, {"get_capability": [{"concat": ["n", "et"]}, "x"]})
    assert noted == [(app.number, '{"get_capability":[{"concat":["n","et"]},"x"]}', net.number)]
