"""B40-B42: intrinsic functions, when they are evaluated, and which instance an attribute means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from tests.dsl.readers import codes, problems, read

from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.dsl.functions.evaluation import MAX_RECURSION, evaluate
from phaseline.dsl.functions.outputs import evaluate_outputs
from phaseline.dsl.functions.plan_and_runtime_scopes import RuntimeScope, StaticScope
from phaseline.dsl.functions.registry import contains_functions, is_function
from phaseline.model.blueprint.blueprint import Blueprint, Output, Value
from phaseline.model.problems.problem import ProblemsError

INPUTS = "inputs: {port: {default: 80}, host: {default: h}, deep: {default: {a: [1, {b: 2}]}}, count: {default: 3}}\n"


def scope(**properties: Mapping[str, Value]) -> StaticScope:
    return StaticScope({"port": 80, "deep": {"a": [1, {"b": 2}]}}, properties, own="web")


def test_b40_a_function_is_a_mapping_with_one_function_key_or_type_beside_it() -> None:
    assert is_function({"get_input": "a"})
    assert is_function({"get_input": "a", "type": "string"})
    assert not is_function({"get_input": "a", "other": 1})
    assert not is_function({"type": "a"})
    assert not is_function("get_input")
    assert contains_functions([{"a": {"concat": []}}])


def test_b40_the_type_beside_a_function_is_checked() -> None:
    assert evaluate({"get_input": "port", "type": "integer"}, scope()) == 80
    with pytest.raises(ProblemsError, match="PL-B074"):
        evaluate({"get_input": "port", "type": "boolean"}, scope())


def test_b40_arguments_are_evaluated_inside_out() -> None:
    value: Value = {"concat": ["http://", {"get_property": ["web", {"concat": ["po", "rt"]}]}, "/"]}
    assert evaluate(value, scope(web={"port": {"get_input": "port"}})) == "http://80/"


def test_b40_functions_that_need_one_another_for_ever_stop_at_the_limit() -> None:
    with pytest.raises(ProblemsError) as caught:
        evaluate({"get_property": ["web", "a"]}, scope(web={"a": {"get_property": ["SELF", "a"]}}))
    (found,) = caught.value.problems
    assert (found.code, found.cloudify_class) == ("PL-B075", "EvaluationRecursionLimitReached")
    assert str(MAX_RECURSION) in found.message


@pytest.mark.parametrize(
    "value",
    [
        "{get_input: []}",
        "{get_input: 5}",
        "{get_property: web}",
        "{get_property: [web]}",
        "{get_property: [5, port]}",
        "{get_attribute: web}",
        "{get_attribute: [web, [a]]}",
        "{concat: text}",
    ],
)
def test_b40_malformed_arguments_fail_while_reading(value: str) -> None:
    (found,) = problems(
        f"{INPUTS}node_templates: {{web: {{type: cloudify.nodes.WebServer, properties: {{port: {value}}}}}}}"
    )
    assert (found.code, found.cloudify_class, found.place.line) == ("PL-B070", "ValueError", 4)


def test_b41_an_undeclared_input_is_told_while_reading() -> None:
    (found,) = problems(f"{INPUTS}outputs: {{o: {{value: {{get_input: prt}}}}}}")
    assert (found.code, found.cloudify_class, found.mend) == ("PL-B071", "UnknownInputError", "did you mean 'port'?")


def test_b41_an_undefined_node_or_property_is_told_while_reading() -> None:
    text = "node_templates: {web: {type: cloudify.nodes.WebServer}}\noutputs: {a: {value: {get_property: [wbe, port]}}, b: {value: {get_property: [web, prot]}}, c: {value: {get_attribute: [nobody, x]}}}"
    assert codes(text) == ["PL-B073", "PL-B074", "PL-B073"]


@pytest.mark.parametrize(
    ("where", "wrong"),
    [("node", ["SOURCE", "TARGET"]), ("relationship", ["SELF"]), ("output", ["SELF", "SOURCE", "TARGET"])],
)
@pytest.mark.parametrize("function", ["get_property", "get_attribute"])
def test_b41_self_source_and_target_mean_something_in_their_places_only(
    where: str, wrong: list[str], function: str
) -> None:
    for reference in ("SELF", "SOURCE", "TARGET"):
        value = f"{{{function}: [{reference}, resource_id]}}"
        node = (
            f", interfaces: {{i: {{run: {{implementation: p.m, inputs: {{a: {value}}}}}}}}}" if where == "node" else ""
        )
        end = (
            f", source_interfaces: {{i: {{run: {{implementation: p.m, inputs: {{a: {value}}}}}}}}}"
            if where == "relationship"
            else ""
        )
        text = f"""
plugins: {{p: {{executor: central_deployment_agent, install: false}}}}
node_templates:
  a: {{type: cloudify.nodes.Root, properties: {{resource_id: x}}{node}}}
  b: {{type: cloudify.nodes.Root, relationships: [{{type: cloudify.relationships.connected_to, target: a{end}}}]}}
"""
        if where == "output":
            text += f"outputs: {{o: {{value: {value}}}}}\n"
        assert codes(text) == (["PL-B072"] if reference in wrong else []), (where, reference)


def test_b41_concat_needs_1_1() -> None:
    assert codes("outputs: {o: {value: {concat: [a]}}}", minor=0) == ["PL-B013"]
    assert codes("outputs: {o: {value: {concat: [a]}}}", minor=1) == []


DEPLOYED = f"""{INPUTS}
plugins: {{p: {{executor: central_deployment_agent, install: false}}}}
node_templates:
  db:
    type: cloudify.nodes.Root
    properties: {{resource_id: {{concat: [db-, {{get_input: host}}]}}}}
  web:
    type: cloudify.nodes.WebServer
    instances: {{deploy: {{get_input: count}}}}
    properties: {{port: {{get_input: port}}, resource_id: {{get_property: [db, resource_id]}}}}
    interfaces:
      i:
        run:
          implementation: p.m.f
          inputs:
            known: {{get_property: [SELF, port]}}
            later: {{concat: ['at ', {{get_attribute: [SELF, ip]}}, {{get_input: host}}]}}
    relationships:
      - type: cloudify.relationships.connected_to
        target: db
        source_interfaces:
          i: {{run: {{implementation: p.m.f, inputs: {{db: {{get_property: [TARGET, resource_id]}}, port: {{get_property: [SOURCE, port]}}}}}}}}
outputs:
  url: {{value: {{concat: ['http://', {{get_attribute: [web, ip]}}, ':', {{get_input: port}}]}}}}
  id: {{value: {{get_property: [db, resource_id]}}}}
"""


def deployed(text: str = DEPLOYED, **given: Value) -> Blueprint:
    blueprint = read(text)
    return with_inputs(blueprint, complete_inputs(blueprint, given))


def test_b41_hybrid_functions_are_evaluated_when_inputs_are_given() -> None:
    found = deployed(host="south")
    web, db = found.nodes["web"], found.nodes["db"]
    assert db.properties["resource_id"] == "db-south"
    assert (web.properties["port"], web.properties["resource_id"], web.default_instances) == (80, "db-south", 3)
    assert web.operations["i.run"].inputs["known"] == 80
    assert web.relationships[0].source_operations["i.run"].inputs == {"db": "db-south", "port": 80}
    assert not web.relationships[0].has_functions
    assert not db.has_functions
    assert found.outputs["id"].value == "db-south"


def test_b41_runtime_functions_stay_with_their_arguments_evaluated() -> None:
    web = deployed().nodes["web"]
    assert web.has_functions
    assert web.operations["i.run"].has_functions
    assert web.operations["i.run"].inputs["later"] == {"concat": ["at ", {"get_attribute": ["SELF", "ip"]}, "h"]}


def test_b41_a_property_that_waits_for_run_time_is_not_copied_to_another_node() -> None:
    text = """
    node_templates:
      a: {type: cloudify.nodes.Root, properties: {resource_id: {get_attribute: [SELF, ip]}}}
      b: {type: cloudify.nodes.Root, properties: {resource_id: {get_property: [a, resource_id]}}}
    """
    assert deployed(text).nodes["b"].properties["resource_id"] == {"get_property": ["a", "resource_id"]}


def test_b41_nodes_without_functions_are_the_same_objects() -> None:
    blueprint = read("node_templates: {a: {type: cloudify.nodes.Root}}")
    assert with_inputs(blueprint, {}).nodes["a"] is blueprint.nodes["a"]


def test_b41_everything_that_cannot_be_evaluated_is_told_at_once_and_where() -> None:
    text = f"""{INPUTS}
node_templates:
  a:
    type: cloudify.nodes.Root
    properties: {{resource_id: {{get_input: [deep, x]}}}}
    instances: {{deploy: {{get_input: host}}}}
  b:
    type: cloudify.nodes.Root
    properties: {{resource_id: {{get_property: [a, resource_id, y]}}}}
"""
    with pytest.raises(ProblemsError) as caught:
        deployed(text)
    found = [(problem.code, problem.place.path, problem.place.line > 0) for problem in caught.value.problems]
    assert ("PL-B076", "node_templates.a.properties.resource_id", True) in found
    assert ("PL-B050", "node_templates.a.capabilities.scalable.properties.default_instances", True) in found
    assert len(found) == 3


def test_b19_instances_must_be_known_before_anything_runs() -> None:
    with pytest.raises(ProblemsError, match="PL-B050"):
        deployed("node_templates: {a: {type: cloudify.nodes.Root, instances: {deploy: {get_attribute: [a, n]}}}}")


def test_get_input_follows_keys_and_indexes() -> None:
    assert evaluate({"get_input": ["deep", "a", 1, "b"]}, scope()) == 2
    assert evaluate({"get_input": ["deep", "a", "0"]}, scope()) == 1
    with pytest.raises(ProblemsError, match="PL-B076"):
        evaluate({"get_input": ["deep", "a", 5]}, scope())
    with pytest.raises(ProblemsError, match="PL-B071"):
        evaluate({"get_input": "nothing"}, scope())


def test_get_property_follows_keys_and_indexes() -> None:
    found = scope(web={"a": {"b": [1, 2]}})
    assert evaluate({"get_property": ["SELF", "a", "b", 1]}, found) == 2
    with pytest.raises(ProblemsError, match="PL-B074"):
        evaluate({"get_property": ["SELF", "a", "c"]}, found)
    with pytest.raises(ProblemsError, match="PL-B073"):
        evaluate({"get_property": ["nobody", "a"]}, found)
    with pytest.raises(ProblemsError, match="PL-B072"):
        evaluate({"get_property": ["SOURCE", "a"]}, found)


@dataclass
class Handful:
    """``Instances`` by a small table: number -> (node, id, index, runtime properties, targets)."""

    nodes: Sequence[str]
    documents: Mapping[int, Mapping[str, Value]] = field(default_factory=dict)
    targets: Mapping[int, Sequence[int]] = field(default_factory=dict)
    groups: Mapping[int, Mapping[str, int]] = field(default_factory=dict)

    def instances_of(self, node: str) -> Sequence[int]:
        return [number for number, name in enumerate(self.nodes) if name == node]

    def node_of(self, instance: int) -> str:
        return self.nodes[instance]

    def targets_of(self, instance: int, node: str) -> Sequence[int]:
        return [target for target in self.targets.get(instance, ()) if self.nodes[target] == node]

    def groups_of(self, instance: int) -> Mapping[str, int]:
        return self.groups.get(instance, {})

    def within(self, node: str, group: str, number: int) -> Sequence[int]:
        return [found for found in self.instances_of(node) if self.groups_of(found).get(group) == number]

    def id_of(self, instance: int) -> str:
        return f"{self.nodes[instance]}_{instance}"

    def index_of(self, instance: int) -> int:
        return self.instances_of(self.nodes[instance]).index(instance) + 1

    def runtime_properties(self, instance: int) -> Mapping[str, Value]:
        return self.documents.get(instance, {})


PROPERTIES: dict[str, dict[str, Value]] = {
    "web": {"port": 80, "me": {"get_attribute": ["SELF", "ip"]}},
    "db": {},
    "app": {},
    "none": {},
}
HANDFUL = Handful(
    ["web", "web", "db", "db", "app"],
    {0: {"ip": "w0", "deep": {"list": [1, 2]}}, 1: {"ip": "w1"}, 2: {"ip": "d2"}, 3: {"ip": "d3"}, 4: {"ip": "a4"}},
    {0: [2, 4], 1: [2, 3]},
)


def attribute(
    node: str, *path: str | int, own: int | None = None, source: int | None = None, target: int | None = None
) -> Value:
    running = RuntimeScope({}, PROPERTIES, HANDFUL, own, source, target)
    return evaluate({"get_attribute": [node, *path]}, running)


def test_b42_1_an_instance_of_that_node_means_itself() -> None:
    assert attribute("web", "ip", own=1) == "w1"
    assert attribute("web", "ip", source=1, target=2) == "w1"
    assert attribute("db", "ip", source=1, target=3) == "d3"


def test_b42_2_the_only_instance_of_a_node_is_meant() -> None:
    assert attribute("app", "ip") == "a4"


def test_b42_3_the_only_relationship_target_of_that_node_is_meant() -> None:
    assert attribute("db", "ip", own=0) == "d2"
    assert attribute("db", "ip", source=0, target=4) == "d2"


def test_b42_5_otherwise_it_cannot_be_resolved_unambiguously() -> None:
    for found in ({"own": 1}, {}, {"own": 4}):
        with pytest.raises(ProblemsError, match="unambiguously"):
            attribute("db", "ip", **found)


def test_b42_no_instance_at_all_is_an_error() -> None:
    with pytest.raises(ProblemsError, match="has no instance"):
        attribute("none", "ip")


def test_b42_self_source_and_target_are_direct() -> None:
    assert attribute("SELF", "ip", own=1) == "w1"
    assert attribute("SOURCE", "ip", source=0, target=2) == "w0"
    assert attribute("TARGET", "ip", source=0, target=2) == "d2"
    with pytest.raises(ProblemsError, match="PL-B072"):
        attribute("SELF", "ip", source=0, target=2)


def test_get_attribute_looks_at_runtime_then_special_names_then_properties_then_null() -> None:
    assert attribute("SELF", "deep", "list", 1, own=0) == 2
    assert attribute("SELF", "node_instance_id", own=1) == "web_1"
    assert attribute("SELF", "node_instance_index", own=1) == 2
    assert attribute("SELF", "port", own=0) == 80
    assert attribute("SELF", "me", own=0) == "w0"
    assert attribute("SELF", "nothing", own=0) is None


def test_a_property_of_another_node_is_read_as_that_node_sees_it() -> None:
    running = RuntimeScope({}, PROPERTIES, HANDFUL, own=0)
    assert evaluate({"get_property": ["SELF", "me"]}, running) == "w0"
    with pytest.raises(ProblemsError, match="unambiguously"):
        evaluate({"get_property": ["web", "me"]}, RuntimeScope({}, PROPERTIES, HANDFUL, own=4))


def test_b24_an_attribute_that_cannot_be_told_is_an_error_text_in_outputs_only() -> None:
    outputs = {
        "bad": Output({"concat": ["ip: ", {"get_attribute": ["web", "ip"]}]}),
        "good": Output({"get_attribute": ["app", "ip"]}),
        "none": Output({"get_property": ["nobody", "x"]}),
    }
    found = evaluate_outputs(outputs, RuntimeScope({}, PROPERTIES, HANDFUL, own=0))
    assert found["good"] == "a4"
    assert str(found["bad"]).startswith("ip: <ERROR: 'web' has several instances")
    assert found["none"] == "<ERROR: there is no node 'nobody'>"


def test_b41_runtime_only_evaluation_leaves_all_functions_but_what_instances_are_made_of() -> None:
    blueprint = read(DEPLOYED)
    found = with_inputs(blueprint, complete_inputs(blueprint, {}), runtime_only=True)
    web = found.nodes["web"]
    assert web.default_instances == 3
    assert web.properties["port"] == {"get_input": "port"}
    assert web.operations["i.run"].inputs["known"] == {"get_property": ["SELF", "port"]}
    assert found.outputs["id"].value == {"get_property": ["db", "resource_id"]}
    assert web.has_functions
    assert web.operations["i.run"].has_functions


def test_b41_runtime_only_evaluation_knows_how_instances_are_connected() -> None:
    text = """
    inputs: {how: {default: all_to_one}}
    node_templates:
      db: {type: cloudify.nodes.Root}
      web:
        type: cloudify.nodes.Root
        relationships:
          - {type: cloudify.relationships.connected_to, target: db, properties: {connection_type: {get_input: how}}}
    """
    blueprint = read(text)
    (tie,) = with_inputs(blueprint, {"how": "all_to_one"}, runtime_only=True).nodes["web"].relationships
    assert tie.connection_type == "all_to_one"
