"""B7: what files that import one another merge to, and what is a conflict."""

import pytest
from tests.dsl.readers import codes, numbers, read


def test_b07_sections_merge_by_key() -> None:
    others = {"a.yaml": "node_templates: {b: {type: cloudify.nodes.Root}}\ninputs: {port: {default: 1}}\n"}
    text = "imports: [cloudify/types/types.yaml, a.yaml]\nnode_templates: {a: {type: cloudify.nodes.Root}}\ninputs: {host: {default: x}}\n"
    found = read(text, others=others)
    assert list(found.nodes) == ["a", "b"]
    assert list(found.inputs) == ["host", "port"]


def test_b07_the_same_key_from_two_files_is_4() -> None:
    assert numbers(
        "imports: [a.yaml]\nplugins: {p: {executor: host_agent, install: false}}",
        others={"a.yaml": "plugins: {p: {executor: host_agent, install: false}}"},
    ) == [4]


def test_b07_names_that_start_with_cloudify_are_replaced_by_the_later_file() -> None:
    text = """
    imports: [cloudify/types/types.yaml]
    node_types:
      cloudify.nodes.Tier:
        derived_from: cloudify.nodes.Root
        properties: {own: {default: 1}}
    node_templates: {web: {type: cloudify.nodes.Tier}}
    """
    assert "own" not in read(text).nodes["web"].properties


@pytest.mark.parametrize(
    ("own", "targets"),
    [("relationships: [{type: cloudify.relationships.depends_on, target: app}]", ["app", "db"]), ("", ["db"])],
)
def test_b07_a_template_with_only_relationships_extends_the_other(own: str, targets: list[str]) -> None:
    others = {
        "more.yaml": "node_templates: {web: {relationships: [{type: cloudify.relationships.connected_to, target: db}]}}"
    }
    text = f"""
    imports: [cloudify/types/types.yaml, more.yaml]
    node_templates:
      db: {{type: cloudify.nodes.Root}}
      app: {{type: cloudify.nodes.Root}}
      web:
        type: cloudify.nodes.Root
        {own}
    """
    assert [item.target for item in read(text, others=others).nodes["web"].relationships] == targets


def test_b07_wd1_the_main_files_workflow_replaces_the_built_in_one_with_a_warning() -> None:
    text = """
    plugins: {mine: {executor: central_deployment_agent, install: false}}
    workflows: {install: mine.flows.install}
    """
    found = read(text)
    assert (found.workflows["install"].plugin, found.workflows["install"].mapping) == ("mine", "flows.install")
    assert [warning.code for warning in found.warnings] == ["PL-B027"]


def test_b07_of_two_equal_workflows_the_earlier_keeps_its_fields_and_gets_the_missing_ones() -> None:
    others = {"a.yaml": "workflows: {go: {mapping: mine.a.go, parameters: {speed: {default: 5}}}}"}
    text = "imports: [a.yaml]\nplugins: {mine: {executor: central_deployment_agent, install: false}}\nworkflows: {go: mine.b.go}"
    found = read(text, others=others).workflows["go"]
    assert found.mapping == "b.go"
    assert found.parameters["speed"].default == 5


def test_b07_labels_description_and_metadata_of_the_first_file_win() -> None:
    others = {"a.yaml": "description: other\nmetadata: {a: 2}\nlabels: {l: {values: [b]}}"}
    found = read("imports: [a.yaml]\ndescription: main\nmetadata: {a: 1}\nlabels: {l: {values: [a]}}", others=others)
    assert (found.description, found.metadata) == ("main", {"a": 1})


def test_b07_inputs_in_two_files_need_1_3() -> None:
    others = {"a.yaml": "inputs: {b: {default: 1}}"}
    assert numbers("imports: [a.yaml]\ninputs: {a: {default: 1}}", minor=2, others=others) == [3]
    assert numbers("imports: [a.yaml]\ninputs: {a: {default: 1}}", minor=3, others=others) == []


def test_b07_anchors_do_not_cross_files() -> None:
    assert codes("imports: [a.yaml]\ndsl_definitions: {x: &x 1}", others={"a.yaml": "metadata: {x: *x}"}) == ["PL-B004"]
