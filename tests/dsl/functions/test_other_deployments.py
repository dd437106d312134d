"""DP1–DP4, DP13: functions that read other deployments, evaluated where the capability is declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from tests.dsl.functions.test_function_rules import Handful

from phaseline.dsl.functions.evaluation import MAX_RECURSION, evaluate
from phaseline.dsl.functions.other_deployments import Beyond, CapabilityReads, Provider, Reading
from phaseline.dsl.functions.plan_and_runtime_scopes import RuntimeScope
from phaseline.dsl.functions.scope import Scope
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Output, Value
from phaseline.model.problems.problem import Problem, ProblemsError


@dataclass
class Touched:
    """A watcher that only knows whether a secret was read."""

    is_touched: bool = False

    def touch(self) -> None:
        self.is_touched = True

    def begin(self) -> bool:
        return self.is_touched

    def end(self, before: bool, name: str, result: Value) -> None:
        del result
        self.is_touched = self.is_touched or before or name == "get_secret"


class Safe:
    def get(self, name: str) -> str:
        return f"secret {name}"

    def missing(self, names: object) -> Sequence[str]:
        del names
        return ()


@dataclass
class Deployment:
    """One deployment of the estate: ``ip`` is an attribute of its only instance ``host``; ``size`` is an input."""

    name: str
    values: Mapping[str, Value] = field(default_factory=dict)
    ip: Value = None

    @property
    def capabilities(self) -> Mapping[str, Output]:
        return {name: Output(value) for name, value in self.values.items()}

    def scope(self, others: CapabilityReads) -> Scope:
        from phaseline.dsl.functions.plan_and_runtime_scopes import DeploymentFacts

        instances = Handful(["host"], {0: {} if self.ip is None else {"ip": self.ip}})
        facts = DeploymentFacts(secrets=Safe())
        watcher = Touched()
        return RuntimeScope({"size": 3}, {"host": {}}, instances, facts=facts, watcher=watcher, others=lambda: others)


@dataclass
class Estate:
    """``Beyond`` over a few deployments in memory. ``counted`` counts evaluations, ``used`` what functions read."""

    deployments: Mapping[str, Deployment]
    parent: str | None = None
    in_groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    known: Sequence[tuple[str, str]] = ()
    is_kept: bool = False
    kept: dict[tuple[str, str], tuple[Value, bool]] = field(default_factory=dict)
    counted: list[str] = field(default_factory=list)
    used: list[tuple[str, Value, tuple[str, ...]]] = field(default_factory=list)

    def names(self) -> Sequence[str]:
        return list(self.deployments)

    def provider(self, name: str) -> Provider | None:
        return self.deployments.get(name)

    def environment(self) -> str | None:
        return self.parent

    def members(self, group: str) -> Sequence[str] | None:
        return self.in_groups.get(group)

    def groups(self) -> Sequence[str]:
        return list(self.in_groups)

    def consumers(self) -> Sequence[tuple[str, str]]:
        return self.known

    def once(self, provider: str, capability: str, compute: Callable[[], tuple[Value, bool]]) -> tuple[Value, bool]:
        key = provider, capability
        if key not in self.kept or not self.is_kept:
            self.counted.append(f"{provider}.{capability}")
            self.kept[key] = compute()
        return self.kept[key]

    def uses(self, reading: Reading, written: Mapping[str, Value], providers: Sequence[str]) -> None:
        self.used.append((reading, dict(written), tuple(providers)))

    def seen_from(self, provider: Provider) -> Beyond:
        del provider
        return self


NET = Deployment(
    "net",
    {
        "address": {"get_attribute": ["host", "ip"]},
        "ports": {"web": [80, {"get_input": "size"}]},
        "text": "plain",
        "key": {"concat": ["k=", {"get_secret": "token"}]},
    },
    ip="10.0.0.1",
)


def estate(*more: Deployment, **facts: object) -> Estate:
    return Estate({one.name: one for one in (NET, *more)}, **facts)  # type: ignore[arg-type]  # fields of the estate


def seen(beyond: Beyond | None, value: Value) -> Value:
    """Evaluate a value in a consumer whose host has another address than any provider's."""
    others = None if beyond is None else (lambda beyond=beyond: CapabilityReads(beyond))
    scope = RuntimeScope({"size": 9}, {"host": {}}, Handful(["host"], {0: {"ip": "consumer"}}), others=others)
    return evaluate(value, scope)


def problem(beyond: Beyond | None, value: Value) -> Problem:
    with pytest.raises(ProblemsError) as caught:
        seen(beyond, value)
    (found,) = caught.value.problems
    return found


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ({"get_capability": ["net", "address"]}, "10.0.0.1"),
        ({"get_capability": ["net", "ports", "web", 1]}, 3),
        ({"get_capability": ["net", "ports", "web", "0"]}, 80),
        ({"get_capability": ["net", {"concat": ["te", "xt"]}]}, "plain"),
        ({"concat": ["http://", {"get_capability": ["net", "address"]}]}, "http://10.0.0.1"),
    ],
)
def test_dp3_a_capability_is_evaluated_in_its_provider_and_the_path_walked_afterwards(
    value: Value, result: Value
) -> None:
    assert seen(estate(), value) == result


def test_dp4_an_attribute_that_is_not_there_yet_is_null() -> None:
    idle = Deployment("idle", {"address": {"get_attribute": ["host", "ip"]}})
    assert seen(estate(idle), {"get_capability": ["idle", "address"]}) is None


SHOPS = (
    Deployment("b", {"url": {"get_attribute": ["host", "ip"]}, "port": 2}, ip="b-ip"),
    Deployment("a", {"url": {"get_attribute": ["host", "ip"]}}, ip="a-ip"),
    Deployment("none", {"other": 1}),
)
GROUP = {"in_groups": {"shops": ["none", "b", "a"]}}


@pytest.mark.parametrize(
    ("asked", "result"),
    [
        ("url", ["a-ip", "b-ip"]),
        ("deployment_id:url", {"a": "a-ip", "b": "b-ip"}),
        (["url", "port"], [["a-ip", None], ["b-ip", 2]]),
        (["deployment_id:url", "port"], {"a": ["a-ip", None], "b": ["b-ip", 2]}),
        ("port", [2]),
        ("nothing", []),
    ],
)
def test_a27_a_group_capability_is_a_list_or_a_mapping_computed_in_the_providers(asked: Value, result: Value) -> None:
    assert seen(estate(*SHOPS, **GROUP), {"get_group_capability": ["shops", asked]}) == result


def test_a27_a_path_is_followed_in_each_value_of_a_group() -> None:
    pair = [Deployment(name, {"ports": {"web": [name]}}) for name in ("x", "y")]
    beyond = estate(*pair, in_groups={"pair": ["x", "y"]})
    assert seen(beyond, {"get_group_capability": ["pair", "ports", "web", 0]}) == ["x", "y"]


def test_dp6_the_environment_is_read_by_the_label_of_the_parent() -> None:
    beyond = estate(parent="net")
    assert seen(beyond, {"get_environment_capability": "text"}) == "plain"
    assert seen(beyond, {"get_environment_capability": ["ports", "web", 0]}) == 80
    assert [reading for reading, _, _ in beyond.used] == ["environment", "environment"]


@pytest.mark.parametrize(("asked", "result"), [("ids", ["app", "shop"]), ("names", ["The app", "Shop"]), ("count", 2)])
def test_dp13_consumers_are_told_by_id_by_name_and_as_a_number(asked: str, result: Value) -> None:
    beyond = estate(known=[("shop", "Shop"), ("app", "The app")])
    assert seen(beyond, {"get_consumers": asked}) == result


def test_dp5_each_use_is_noted_with_the_function_as_it_is_written() -> None:
    beyond = estate()
    written: dict[str, Value] = {"get_capability": [{"concat": ["n", "et"]}, "text"]}
    assert seen(beyond, written) == "plain"
    assert beyond.used == [("capability", written, ("net",))]


def test_dp2_a_capability_computed_from_a_secret_touches_the_watcher_of_the_consumer() -> None:
    for value, is_touched in (("key", True), ("text", False)):
        watcher = Touched()
        beyond = estate(is_kept=True)
        scope = RuntimeScope({}, {}, Handful([]), watcher=watcher, others=lambda beyond=beyond: CapabilityReads(beyond))
        for _ in range(2):  # the second time the value is kept, and so is what it was computed from
            watcher.is_touched = False
            evaluate({"get_capability": ["net", value]}, scope)
            assert watcher.is_touched is is_touched


def test_dp2_what_is_kept_is_evaluated_once() -> None:
    beyond = estate(is_kept=True)
    for _ in range(5):
        assert seen(beyond, {"get_capability": ["net", "address"]}) == "10.0.0.1"
    assert beyond.counted == ["net.address"]


def test_dp3_a_circle_of_capabilities_is_named() -> None:
    ring = [
        Deployment(name, {"value": {"get_capability": [to, "value"]}})
        for name, to in (("a", "b"), ("b", "c"), ("c", "b"))
    ]
    found = problem(estate(*ring), {"get_capability": ["a", "value"]})
    assert found.code == "PL-B075"
    assert found.message == "capabilities need one another in a circle: b.value → c.value → b.value"


def test_dp3_a_capability_that_needs_itself_is_a_circle() -> None:
    own = Deployment("own", {"value": {"concat": ["x", {"get_capability": ["own", "value"]}]}})
    assert "own.value → own.value" in problem(estate(own), {"get_capability": ["own", "value"]}).message


@pytest.mark.parametrize(("count", "is_refused"), [(MAX_RECURSION - 1, False), (MAX_RECURSION, True)])
def test_dp3_nesting_over_deployments_counts_against_the_limit(count: int, is_refused: bool) -> None:
    chain = [Deployment(f"d{at}", {"value": {"get_capability": [f"d{at + 1}", "value"]}}) for at in range(count)]
    beyond = estate(*chain, Deployment(f"d{count}", {"value": "end"}))
    if is_refused:
        assert problem(beyond, {"get_capability": ["d0", "value"]}).code == "PL-B075"
    else:
        assert seen(beyond, {"get_capability": ["d0", "value"]}) == "end"


def capability(*path: Value) -> Value:
    return {"get_capability": ["net", *path]}


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        ({"get_capability": ["nett", "address"]}, "PL-B170", "there is no deployment 'nett'; did you mean 'net'?"),
        ({"get_capability": ["x" * 9, "address"]}, "PL-B170", "there is 'net'"),
        (capability("addrez"), "PL-B074", "'net' has no capability 'addrez'; did you mean 'address'?"),
        (capability("text", 0), "PL-B074", "the capability 'text' of 'net' has no index 0"),
        (capability("ports", "web", 7), "PL-B074", "has no index 7"),
        (capability("ports", "web", -1), "PL-B074", "has no index -1"),
        (capability("ports", "ssh"), "PL-B074", "has no key 'ssh'"),
        ({"get_capability": [{"get_attribute": ["host", "none"]}, "a"]}, "PL-B074", "is no name of a deployment"),
        ({"get_capability": [{"get_input": "size"}, "a"]}, "PL-B074", "is no name of a deployment"),
        ({"get_capability": [{"get_attributes_list": ["host", "ip"]}, "a"]}, "PL-B074", "is no name of a deployment"),
        (
            {"get_group_capability": ["shopps", "url"]},
            "PL-B170",
            "no group of deployments 'shopps'; did you mean 'shops'",
        ),
        ({"get_environment_capability": "url"}, "PL-B170", "the deployment belongs to no environment"),
        ({"get_consumers": {"concat": ["f", "oo"]}}, "PL-B074", "'get_consumers' knows no 'foo'"),
    ],
)
def test_dp3_bad_input_is_told_with_its_mend(value: Value, code: str, text: str) -> None:
    found = problem(estate(in_groups={"shops": []}), value)
    assert found.code == code
    assert text in f"{found.message}; {found.mend}"


def test_dp1_where_no_deployment_can_be_read_all_four_functions_say_so() -> None:
    for value in (
        {"get_capability": ["net", "address"]},
        {"get_group_capability": ["net", "address"]},
        {"get_environment_capability": "address"},
        {"get_consumers": "ids"},
    ):
        assert problem(None, value).code == "PL-B078"


def test_dp1_the_parts_of_a_value_that_need_no_other_deployment_are_evaluated_as_ever() -> None:
    scope = RuntimeScope({"size": 9}, {}, Handful([]))
    assert evaluate({"a": {"get_input": "size"}}, altered(scope, others=lambda: CapabilityReads(estate()))) == {"a": 9}
