"""C1, section 15: tools that call the ancestor's parser get plans and exceptions of its form."""

from pathlib import Path
from typing import Any

import pytest

import phaseline.compat.cloudify

phaseline.compat.cloudify.enable()

from dsl_parser import constants, exceptions, functions, parser, tasks  # type: ignore[import-not-found]  # noqa: E402 - of the shim

BLUEPRINT = """
tosca_definitions_version: cloudify_dsl_1_3
imports: [cloudify/types/types.yaml, more.yaml]
inputs: {count: {type: integer}, word: {default: a}}
node_templates:
  vm:
    type: cloudify.nodes.Compute
    properties: {ip: {concat: [{get_input: word}, b]}, agent_config: {install_method: none}}
    capabilities: {scalable: {properties: {default_instances: {get_input: count}}}}
  web: {type: Web, relationships: [{type: cloudify.relationships.contained_in, target: vm}]}
  db: {type: cloudify.nodes.Root, relationships: [{type: cloudify.relationships.connected_to, target: web}]}
groups: {all: {members: [vm]}}
policies: {p: {type: cloudify.policies.scaling, targets: [all]}}
outputs: {o: {value: {get_secret: s}}}
"""


def written(folder: Path, text: str = BLUEPRINT) -> str:
    (folder / "more.yaml").write_text("node_types: {Web: {derived_from: cloudify.nodes.WebServer}}\n")
    (folder / "blueprint.yaml").write_text(text)
    return str(folder / "blueprint.yaml")


def test_c1_a_plan_is_a_mapping_with_attributes(tmp_path: Path) -> None:
    plan = parser.parse_from_path(written(tmp_path))
    assert sorted(node["name"] for node in plan["nodes"]) == ["db", "vm", "web"]
    assert (list(plan.inputs), plan.version.definitions_version) == (["count", "word"], (1, 3))
    assert plan.node_templates == plan["nodes"]
    assert plan[constants.INPUTS] == plan.inputs
    assert parser.parse(BLUEPRINT, str(tmp_path)) == plan
    assert not hasattr(plan, "nothing")


def test_c1_a_deployment_plan_has_inputs_and_instances(tmp_path: Path) -> None:
    plan = tasks.parse_dsl(written(tmp_path), None)
    made = tasks.prepare_deployment_plan(plan, lambda name: name, {"count": "2"}, auto_correct_types=True)
    (vm,) = [node for node in made["nodes"] if node["name"] == "vm"]
    assert (made["inputs"], vm["properties"]["ip"]) == ({"count": 2, "word": "a"}, "ab")
    found: dict[str, list[Any]] = {}
    for instance in made["node_instances"]:
        found.setdefault(instance["name"], []).append(instance)
    assert {name: len(each) for name, each in found.items()} == {"vm": 2, "web": 2, "db": 1}
    hosts = {instance["id"] for instance in found["vm"]}
    assert {instance["relationships"][0]["target_id"] for instance in found["web"]} == hosts
    assert {instance["host_id"] for instance in found["web"]} == hosts
    assert len(found["db"][0]["relationships"]) == 2
    assert "host_id" not in found["db"][0]
    assert [group["name"] for group in found["web"][0]["scaling_groups"]] == ["all"]
    late = tasks.prepare_deployment_plan(plan, inputs={"count": 1}, runtime_only_evaluation=True)
    assert late["nodes"] != made["nodes"]


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("inputs: [", "DSLParsingFormatException", -1),
        ("inputs: {}", "DSLParsingLogicException", 27),
        (BLUEPRINT.replace("type: Web", "type: Wbe"), "DSLParsingLogicException", 7),
        (BLUEPRINT.replace("get_input: count", "get_input: cuont"), "UnknownInputError", None),
        (BLUEPRINT.replace("{concat: [{get_input: word}, b]}", "{get_property: [vm]}"), "ValueError", None),
        (BLUEPRINT.replace("{concat: [{get_input: word}, b]}", "{string_upper: [a]}"), "FunctionValidationError", None),
    ],
)
def test_s15_the_first_mistake_is_raised_as_the_ancestors_class(
    tmp_path: Path, text: str, kind: str, number: int | None
) -> None:
    with pytest.raises(exceptions.DSLParsingException) as caught:
        parser.parse_from_path(written(tmp_path, text))
    names = [each.__name__ for each in type(caught.value).__mro__]
    assert kind in names
    assert caught.value.err_code == number
    assert caught.value.problems
    assert str(tmp_path) in str(caught.value)


def test_s15_inputs_and_secrets_that_are_missing_are_raised(tmp_path: Path) -> None:
    plan = parser.parse_from_path(written(tmp_path))

    def nothing(name: str) -> str:
        error = KeyError(name)
        error.status_code = 404  # type: ignore[attr-defined]  # as the client's errors
        raise error

    def broken(name: str) -> str:
        error = OSError(name)
        error.status_code = 500  # type: ignore[attr-defined]  # as the client's errors
        raise error

    for get_secret, inputs, expected in (
        (None, {}, exceptions.MissingRequiredInputError),
        (None, {"count": 1, "cuont": 1}, exceptions.UnknownInputError),
        (nothing, {"count": 1}, exceptions.UnknownSecretError),
        (lambda _: None, {"count": 1}, exceptions.UnknownSecretError),
        (broken, {"count": 1}, OSError),
    ):
        with pytest.raises(expected):
            tasks.prepare_deployment_plan(plan, get_secret, inputs)


def test_c1_functions_can_be_told_from_values() -> None:
    assert functions.is_function({"get_input": "a"})
    assert functions.get_function({"get_input": "a", "type": "string"}) == ("get_input", "a")
    assert functions.get_function({"port": 80}) is None
    assert functions.parse(5) == 5
    assert functions.parse({"get_input": "a"}) != {"get_input": "a"}

    @functions.register(name="acme_mine")
    class Mine:
        pass

    assert (functions.TEMPLATE_FUNCTIONS["acme_mine"], Mine.name, Mine.func_eval_type) == (  # type: ignore[attr-defined]  # set
        Mine,
        "acme_mine",
        functions.HYBRID_FUNC,
    )
    functions.unregister("acme_mine")
    assert "acme_mine" not in functions.TEMPLATE_FUNCTIONS
