"""Decision 30: what functions make of secrets is known, whoever wrote them."""

from collections.abc import Iterator, Mapping

import pytest

from phaseline.calls.protocol.no_secrets import NoSecrets
from phaseline.calls.protocol.secret_tracking import Watch
from phaseline.dsl.functions.plan_and_runtime_scopes import DeploymentFacts, RuntimeScope
from phaseline.dsl.functions.scope import Scope
from phaseline.dsl.functions.third_party import ANNOUNCED
from phaseline.model.blueprint.blueprint import Value


class Known(NoSecrets):
    """Secrets of which all have one value; whatever is learned is remembered."""

    def __init__(self) -> None:
        self.learned: list[Value] = []

    def get(self, name: str) -> str:
        return "battery-staple"

    def learn(self, value: Value) -> None:
        self.learned.append(value)

    def knows(self, text: str) -> bool:
        return "battery-staple" in text


class Nothing:
    """Instances of a deployment without any."""

    def instances_of(self, _node: str) -> tuple[int, ...]:
        return ()


class Parts:
    """A function of others that gives its argument in four forms."""

    def check(self, written: Mapping[str, Value]) -> None: ...

    def check_in(self, written: Mapping[str, Value], plan: Mapping[str, object]) -> None: ...

    def evaluate(self, written: Mapping[str, Value], _scope: Scope) -> Value:
        text = str(written["acme_parts"])
        return {"half": text[:7], "whole": text, "length": len(text)} if text else len(text)


class Finder:
    def names(self) -> tuple[str, ...]:
        return ("acme_parts",)

    def load(self, _name: str) -> Parts:
        return Parts()


@pytest.fixture
def others() -> Iterator[None]:
    ANNOUNCED.look_in(Finder)
    yield
    ANNOUNCED.look_in(None)


SECRET: Value = {"get_secret": "a"}


@pytest.mark.parametrize(
    ("value", "learned"),
    [
        (SECRET, []),
        ({"concat": ["x", SECRET]}, []),
        ({"string_upper": SECRET}, ["BATTERY-STAPLE"]),
        ({"string_lower": {"string_upper": SECRET}}, ["BATTERY-STAPLE"]),
        ({"get_property": ["web", "conf"]}, ["BATTERY-STAPLE"]),
        ([{"string_upper": "plain"}, {"string_split": [SECRET, "-"]}], [["battery", "staple"]]),
        ({"merge": [{"a": "plain"}, {"b": {"string_upper": SECRET}}]}, ["BATTERY-STAPLE"]),
        ({"string_find": [SECRET, "-"]}, []),
        ({"string_upper": {"get_input": "hush"}}, ["hush", "HUSH"]),
        ({"string_upper": {"get_input": "plain"}}, []),
        ({"acme_parts": "plain"}, []),
        ({"acme_parts": SECRET}, [{"half": "battery", "whole": "battery-staple", "length": 14}]),
        ({"concat": [{"string_upper": SECRET}, {"string_upper": "plain"}]}, ["BATTERY-STAPLE", "BATTERY-STAPLEPLAIN"]),
    ],
)
@pytest.mark.usefixtures("others")
def test_d30_what_functions_make_of_secrets_is_known(value: Value, learned: list[Value]) -> None:
    secrets = Known()
    inputs: dict[str, Value] = {"hush": "hush", "plain": "plain"}
    conf: dict[str, Value] = {"conf": {"port": 80, "login": {"string_upper": SECRET}, "host": {"string_upper": "h"}}}
    scope = RuntimeScope(inputs, {"web": conf}, Nothing(), own_node="web", facts=DeploymentFacts(secrets=secrets))  # type: ignore[arg-type]  # no more is asked for
    Watch(inputs, {"hush"}, secrets).evaluate(value, scope)
    assert secrets.learned == learned
