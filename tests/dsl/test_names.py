"""Names in a blueprint: what is refused, with its place, wherever a name can be given (decision 33)."""

import json

import pytest
from tests.dsl.readers import codes, problems, read

from phaseline.dsl.documents.json_codec import blueprint_from_json, blueprint_to_json

EVERYWHERE = {
    "node": "node_templates: {NAME: {type: cloudify.nodes.Root}}",
    "node type": "node_types: {NAME: {derived_from: cloudify.nodes.Root}}",
    "property": "node_types: {t: {properties: {NAME: {default: 1}}}}",
    "interface": "node_types: {t: {interfaces: {NAME: {start: {}}}}}",
    "operation": "node_types: {t: {interfaces: {i: {NAME: {}}}}}",
    "input of an operation": "node_types: {t: {interfaces: {i: {start: {inputs: {NAME: {default: 1}}}}}}}",
    "interface of a template": "node_templates: {w: {type: cloudify.nodes.Root, interfaces: {NAME: {start: {}}}}}",
    "relationship type": "relationships: {NAME: {derived_from: cloudify.relationships.depends_on}}",
    "data type": "data_types: {NAME: {properties: {}}}",
    "input": "inputs: {NAME: {default: 1}}",
    "output": "outputs: {NAME: {value: 1}}",
    "capability": "capabilities: {NAME: {value: 1}}",
    "plugin": "plugins: {NAME: {executor: central_deployment_agent, install: false}}",
    "property of a plugin": "plugins: {p: {executor: host_agent, install: false, properties: {NAME: {value: 1}}}}",
    "workflow": "plugins: {p: {executor: host_agent, install: false}}\nworkflows: {NAME: {mapping: p.m.f}}",
    "parameter": "plugins: {p: {executor: host_agent, install: false}}\n"
    "workflows: {w: {mapping: p.m.f, parameters: {NAME: {default: 1}}}}",
    "group": "node_templates: {w: {type: cloudify.nodes.Root}}\ngroups: {NAME: {members: [w]}}",
    "policy": "node_templates: {w: {type: cloudify.nodes.Root}}\ngroups: {g: {members: [w]}}\n"
    "policies: {NAME: {type: cloudify.policies.scaling, targets: [g]}}",
    "policy type": "policy_types: {NAME: {source: a.clj}}",
    "policy trigger": "policy_triggers: {NAME: {source: a.clj}}",
    "label": "labels: {NAME: {values: [a]}}",
    "label of the blueprint": "blueprint_labels: {NAME: {values: [a]}}",
    "resource tag": "resource_tags: {NAME: a}",
    "schedule": "deployment_settings: {default_schedules: {NAME: {workflow: install, since: '10:00'}}}",
}
SIGNS = {"NUL": r"\0", "escape": r"\e[2J", "bidirectional override": r"\u202e", "path": "/../x"}


@pytest.mark.parametrize("text", EVERYWHERE.values(), ids=EVERYWHERE)
@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_decision_33_a_name_that_may_do_harm_is_refused_at_its_place(text: str, sign: str) -> None:
    hostile = text.replace("NAME", f'"a{sign}"')
    good = text.replace("NAME", '"a b"')
    assert codes(good, minor=5) == []
    [problem] = problems(hostile, minor=5)
    assert problem.code == "PL-B130"
    assert problem.place.line > 2
    assert "\\" not in sign or sign[1] not in "0e" or problem.message.isprintable()


@pytest.mark.parametrize("sign", [r"\0", r"\e[2J", r"\u202e"])
def test_decision_33_namespaces_are_names_too(sign: str) -> None:
    imports = 'imports: [cloudify/types/types.yaml, "aSIGN--other.yaml"]'
    assert codes(imports.replace("SIGN", ""), others={"other.yaml": "{}"}) == []
    assert codes(imports.replace("SIGN", sign), others={"other.yaml": "{}"}) == ["PL-B130"]


def test_decision_33_a_name_has_at_most_255_characters() -> None:
    assert codes(f"inputs: {{{'a' * 255}: {{default: 1}}}}") == []
    [problem] = problems(f"inputs: {{{'a' * 256}: {{default: 1}}}}")
    assert (problem.code, "256" in problem.message, len(problem.message) < 120) == ("PL-B130", True, True)


def test_decision_33_whoever_refers_to_such_a_name_hears_of_it_once() -> None:
    text = """
    inputs: {"a/b": {default: 1}}
    node_templates:
      "x/y": {type: cloudify.nodes.Root}
      web:
        type: cloudify.nodes.Root
        relationships: [{type: cloudify.relationships.depends_on, target: x/y}]
    outputs: {o: {value: {get_input: a/b}}}
    """
    assert codes(text) == ["PL-B130", "PL-B130"]


def test_decision_33_keys_of_values_are_no_names() -> None:
    text = """
    node_types: {t: {properties: {p: {default: {}}}}}
    node_templates: {web: {type: t, properties: {p: {"a/b": 1, "a\\tb": 2}}}}
    """
    assert read(text).nodes["web"].properties == {"p": {"a/b": 1, "a\tb": 2}}


def test_decision_33_what_was_stored_before_is_still_read() -> None:
    stored = json.dumps(blueprint_to_json(read("node_templates: {webserver: {type: cloudify.nodes.Root}}")))
    assert list(blueprint_from_json(json.loads(stored.replace("webserver", "../\\u0000\\u202ex"))).nodes) == [
        "../\0\u202ex"
    ]
