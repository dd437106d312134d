"""B41, B42: what functions look up while something runs."""

from collections.abc import Collection, Mapping, Sequence

import pytest
from tests.dsl.functions.test_function_rules import HANDFUL, PROPERTIES, Handful

from phaseline.dsl.functions.evaluation import evaluate
from phaseline.dsl.functions.outputs import evaluate_outputs
from phaseline.dsl.functions.plan_and_runtime_scopes import DeploymentFacts, RuntimeScope, StaticScope
from phaseline.model.blueprint.blueprint import Output, Value
from phaseline.model.problems.problem import ProblemsError


class Safe:
    """Secrets in a mapping."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values

    def get(self, name: str) -> str:
        return self.values[name]

    def missing(self, names: Collection[str]) -> Sequence[str]:
        return [name for name in names if name not in self.values]


FACTS = DeploymentFacts(
    labels={"team": ["web", {"get_input": "second"}]},
    system={"deployment": {"id": "shop", "blueprint": "shop.yaml"}, "tenant": {"name": "default_tenant"}},
    secrets=Safe({"key": "s3cret", "account": '{"name": "joe", "ids": [4, 5]}'}),
)
RUNNING = RuntimeScope({"second": "ops"}, PROPERTIES, HANDFUL, own=0, facts=FACTS)


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ({"get_attributes_list": ["web", "ip"]}, ["w0", "w1"]),
        ({"get_attributes_list": ["web", "deep", "list", 0]}, [1, None]),
        ({"get_attributes_list": ["SELF", "node_instance_id"]}, ["web_0", "web_1"]),
        ({"get_attributes_list": ["none", "ip"]}, []),
        ({"get_attributes_list": ["web", "me"]}, ["w0", "w1"]),
        (
            {"get_attributes_dict": ["web", "ip", ["deep", "list"]]},
            {"web_0": {"ip": "w0", "deep.list": [1, 2]}, "web_1": {"ip": "w1", "deep.list": None}},
        ),
        ({"get_attributes_dict": ["none", "ip"]}, {}),
        ({"get_secret": "key"}, "s3cret"),
        ({"get_secret": ["account", "ids", 1]}, 5),
        ({"concat": ["key=", {"get_secret": "key"}]}, "key=s3cret"),
        ({"get_label": "team"}, ["web", "ops"]),
        ({"get_label": ["team", 1]}, "ops"),
        ({"get_label": ["team", "0"]}, "web"),
        ({"get_sys": ["deployment", "id"]}, "shop"),
        ({"get_sys": ["tenant", "name"]}, "default_tenant"),
        ({"get_sys": ["deployment", "owner"]}, None),
    ],
)
def test_b41_runtime_functions_answer_while_something_runs(value: Value, result: Value) -> None:
    assert evaluate(value, RUNNING) == result


@pytest.mark.parametrize(
    "value",
    [
        {"get_attributes_list": ["web", "ip"]},
        {"get_attributes_dict": ["web", "ip"]},
        {"get_secret": "key"},
        {"get_label": "team"},
        {"get_sys": ["deployment", "id"]},
        {"get_capability": ["net", "ip"]},
        {"get_group_capability": ["edge", "ip"]},
        {"get_environment_capability": "ip"},
        {"get_consumers": "ids"},
    ],
)
def test_b41_runtime_functions_stay_while_a_deployment_is_made(value: Value) -> None:
    assert evaluate(value, StaticScope({}, {"web": {}})) == value


@pytest.mark.parametrize(
    ("value", "code", "kind"),
    [
        ({"get_secret": "other"}, "PL-B079", "UnknownSecretError"),
        ({"get_secret": ["key", "a"]}, "PL-B074", "FunctionEvaluationError"),
        ({"get_secret": ["account", "b"]}, "PL-B074", "FunctionEvaluationError"),
        ({"get_label": "tem"}, "PL-B074", "FunctionEvaluationError"),
        ({"get_label": ["team", 2]}, "PL-B074", "FunctionEvaluationError"),
        ({"get_attributes_list": ["nobody", "ip"]}, "PL-B073", "KeyError"),
        ({"get_attributes_list": ["SOURCE", "ip"]}, "PL-B072", "ValueError"),
        ({"get_attributes_dict": ["web", "ip", {"concat": ["i", "p"]}]}, "PL-B074", "FunctionEvaluationError"),
        ({"get_capability": ["net", "ip"]}, "PL-B078", "FunctionEvaluationError"),
        ({"get_group_capability": ["edge", "ip"]}, "PL-B078", "FunctionEvaluationError"),
        ({"get_environment_capability": "ip"}, "PL-B078", "FunctionEvaluationError"),
        ({"get_consumers": "ids"}, "PL-B078", "FunctionEvaluationError"),
    ],
)
def test_b41_what_cannot_be_looked_up_is_told(value: Value, code: str, kind: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        evaluate(value, RUNNING)
    (found,) = caught.value.problems
    assert (found.code, found.cloudify_class) == (code, kind)
    assert "s3cret" not in f"{found.message}{found.mend}"


def test_b41_without_a_store_of_secrets_there_are_none() -> None:
    with pytest.raises(ProblemsError, match="PL-B150") as caught:
        evaluate({"get_secret": "key"}, RuntimeScope({}, PROPERTIES, HANDFUL))
    assert caught.value.problems[0].cloudify_class == "UnsupportedGetSecretError"


def test_b24_an_output_that_is_an_absent_secret_is_left_out() -> None:
    outputs = {
        "gone": Output({"get_secret": "other"}),
        "part": Output({"concat": ["a ", {"get_secret": "other"}]}),
        "there": Output({"get_secret": "key"}),
    }
    found = evaluate_outputs(outputs, RUNNING)
    assert found == {"part": "<ERROR: there is no secret 'other'>", "there": "s3cret"}


IN_GROUPS = Handful(
    ["a", "a", "b", "b", "c"],
    {2: {"ip": "b2"}, 3: {"ip": "b3"}},
    groups={
        0: {"g": 7, "outer": 1},
        1: {"g": 8, "outer": 1},
        2: {"g": 7, "outer": 1},
        3: {"g": 8, "outer": 1},
        4: {"outer": 1},
    },
)
IN_ONE = Handful(["a", "b", "b"], {1: {"ip": "b1"}}, groups={0: {"outer": 1}, 1: {"outer": 1}, 2: {"outer": 2}})


@pytest.mark.parametrize(
    ("instances", "seen", "result"),
    [
        (IN_GROUPS, {"own": 0}, "b2"),
        (IN_GROUPS, {"own": 1}, "b3"),
        (IN_GROUPS, {"source": 4, "target": 1}, "b3"),
        (IN_GROUPS, {"source": 0, "target": 1}, "b2"),
        (IN_ONE, {"own": 0}, "b1"),
        (IN_GROUPS, {"own": 4}, None),
        (IN_GROUPS, {}, None),
    ],
)
def test_b42_4_the_instance_in_the_same_instance_of_the_nearest_scaling_group_is_meant(
    instances: Handful, seen: dict[str, int], result: str | None
) -> None:
    running = RuntimeScope({}, {"a": {}, "b": {}, "c": {}}, instances, **seen)  # type: ignore[arg-type]  # own, source, target
    value: Value = {"get_attribute": ["b", "ip"]}
    if result is not None:
        assert evaluate(value, running) == result
        return
    with pytest.raises(ProblemsError, match="unambiguously"):
        evaluate(value, running)


def test_b42_a_relationship_to_one_of_them_goes_before_the_group() -> None:
    both = Handful(IN_GROUPS.nodes, IN_GROUPS.documents, {0: [3]}, IN_GROUPS.groups)
    assert evaluate({"get_attribute": ["b", "ip"]}, RuntimeScope({}, {"a": {}, "b": {}}, both, own=0)) == "b3"
