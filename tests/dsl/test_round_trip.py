"""Blueprints that are right, made by chance: what is written of them is read back as it was, from YAML, from JSON, from a store."""

import json
from random import Random
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dsl.garbling import Garbler, try_reading
from tests.dsl.readers import MAIN, Texts

from phaseline.dsl.documents.merged_plan import plan_document
from phaseline.dsl.reader import read_whole

ROOT = "cloudify.nodes.Root"
LIFECYCLE = "cloudify.interfaces.lifecycle"
DEFAULTS: dict[str, list[Any]] = {
    "string": ["a", "größe", "", "1e5", "- x: y", "yes"],
    "integer": [0, -3, 10**12],
    "float": [0.5, 2, -1.25],
    "boolean": [True, False],
    "list": [[], [1, "a", None], [{"a": [1]}]],
    "dict": [{}, {"a": {"b": [1, None]}}, {"true": True}],
    "regex": ["[a-z]+"],
}


class Maker(Garbler):
    """Makes blueprints that are right."""

    def schema(self, kinds: list[str]) -> dict[str, Any]:
        kind = self.one([*DEFAULTS, *kinds])
        found: dict[str, Any] = {"type": kind, "description": "what it is"}
        if kind in DEFAULTS:
            found["default"] = self.one(DEFAULTS[kind])
        return found

    def operations(self) -> dict[str, Any]:
        names = ["create", "start", "stop"]
        return {self.one(names): self.operation() for _ in self.some(3)}

    def operation(self) -> Any:
        return self.one(
            [
                "p.module.function",
                {},
                {"implementation": "p.module.other", "inputs": {"x": self.value_of("string")}, "max_retries": 2},
                {"implementation": "echo 1\necho 2\n", "executor": "central_deployment_agent", "timeout": 3},
            ]
        )

    def value_of(self, kind: str) -> Any:
        functions = [{"get_input": "i0"}, {"concat": ["a", {"get_input": "i0"}]}, {"get_secret": "s"}]
        return self.one([*DEFAULTS[kind], *functions, {"get_attribute": ["n0", "x"]}])

    def blueprint(self) -> dict[str, Any]:
        kinds = [f"d{number}" for number in self.some(3)]
        data_types = {kind: {"properties": {"x": self.schema(kinds[:place])}} for place, kind in enumerate(kinds)}
        types: dict[str, Any] = {}
        for number in range(1 + self.chance.randrange(3)):
            properties = {f"p{number}_{place}": self.schema(kinds) for place in self.some(4)}
            types[f"t{number}"] = {"derived_from": self.one([ROOT, *types]), "properties": properties}
        nodes: dict[str, Any] = {}
        for number in range(1 + self.chance.randrange(5)):
            nodes[f"n{number}"] = self.node(types, list(nodes))
        groups = {"g": {"members": ["n0"]}} if self.rarely() or self.chance.randrange(2) else {}
        return {
            "tosca_definitions_version": "cloudify_dsl_1_5",
            "imports": ["cloudify/types/types.yaml"],
            "description": self.one(DEFAULTS["string"]),
            "plugins": {"p": {"executor": "central_deployment_agent", "install": False}},
            "inputs": {
                "i0": {"default": "x"},
                "i1": {"type": "integer", "default": 3, "constraints": [{"less_than": 9}]},
            },
            "data_types": data_types,
            "node_types": types,
            "node_templates": nodes,
            "groups": groups,
            "policies": {name: {"type": "cloudify.policies.scaling", "targets": [name]} for name in groups},
            "workflows": {"w": {"mapping": "p.a.b", "parameters": {"x": self.schema(kinds)}}},
            "outputs": {"o": {"value": self.value_of("dict")}},
            "capabilities": {"c": {"value": self.value_of("list"), "description": "c"}},
            "labels": {"l": {"values": ["a", "b"]}},
            "resource_tags": {"t": self.value_of("string")},
        }

    def node(self, types: dict[str, Any], earlier: list[str]) -> dict[str, Any]:
        kind = self.one(list(types))
        given = {
            name: self.value_of(schema["type"])
            for name, schema in types[kind]["properties"].items()
            if schema["type"] in DEFAULTS and self.chance.randrange(2)
        }
        node: dict[str, Any] = {"type": kind, "properties": given, "interfaces": {LIFECYCLE: self.operations()}}
        if earlier and self.chance.randrange(2):
            way = self.one(["connected_to", "depends_on", "contained_in"])
            node["relationships"] = [{"type": f"cloudify.relationships.{way}", "target": self.one(earlier)}]
        if self.chance.randrange(3) == 0:
            node["capabilities"] = {"scalable": {"properties": {"default_instances": self.chance.randrange(4)}}}
        return node


def plan_of(files: dict[str, str]) -> dict[str, Any]:
    return plan_document(*read_whole(MAIN, Texts(files)))


@given(st.integers(0, 2**32))
@settings(max_examples=25)
def test_what_is_written_of_a_blueprint_is_read_back_as_it_was(seed: int) -> None:
    written = Maker(Random(seed)).blueprint()
    by_json = {MAIN: json.dumps(written)}
    assert try_reading(by_json)
    assert plan_of(by_json) == plan_of({MAIN: yaml.safe_dump(written, allow_unicode=True, sort_keys=False)})


@given(st.integers(0, 2**32))
@settings(max_examples=12)
def test_b08_under_a_namespace_it_is_the_same_with_longer_names(seed: int) -> None:
    written = Maker(Random(seed)).blueprint()
    part = {key: value for key, value in written.items() if key != "tosca_definitions_version"}
    main = "tosca_definitions_version: cloudify_dsl_1_5\n"
    plain = plan_of({MAIN: main + "imports: [part.yaml]\n", "part.yaml": json.dumps(part)})
    named = plan_of({MAIN: main + "imports: [ns--part.yaml]\n", "part.yaml": json.dumps(part)})
    assert {node["id"] for node in named["nodes"]} == {f"ns--{node['id']}" for node in plain["nodes"]}
    for one, other in zip(plain["nodes"], named["nodes"], strict=True):
        assert [item["target_id"] for item in other["relationships"]] == [
            f"ns--{item['target_id']}" for item in one["relationships"]
        ]
        same = json.dumps(other["properties"]).replace("ns--", "")
        assert same == json.dumps(one["properties"])


def test_b51_the_order_of_the_sections_does_not_matter() -> None:
    written = Maker(Random(1)).blueprint()
    backwards = dict(reversed(written.items()))
    first, second = plan_of({MAIN: json.dumps(written)}), plan_of({MAIN: json.dumps(backwards)})
    assert first == second
