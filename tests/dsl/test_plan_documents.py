"""B50, B51: the plan of a blueprint, as the ancestor's parser gives it. The cases are golden files."""

import json
from pathlib import Path

import pytest
from tests.dsl.readers import Texts, read, whole

from phaseline.catalog.files.blueprint_files import BlueprintFiles
from phaseline.dsl.documents.merged_plan import plan_document
from phaseline.dsl.reader import read_whole

CASES = sorted(Path(__file__).parents[1].joinpath("cases", "plan_documents").iterdir())
CONTENTS = {
    "nodes",
    "relationships",
    "workflows",
    "inputs",
    "outputs",
    "capabilities",
    "groups",
    "scaling_groups",
    "policies",
    "policy_types",
    "policy_triggers",
    "data_types",
    "labels",
    "blueprint_labels",
    "resource_tags",
    "deployment_settings",
    "description",
    "metadata",
    "version",
    "imported_blueprints",
    "namespaces_mapping",
    "deployment_plugins_to_install",
    "host_agent_plugins_to_install",
    "workflow_plugins_to_install",
    "requirements",
}
BUILT_IN = ("workflows", "relationships", "policy_types", "policy_triggers")
"""Of these the golden files have only what the blueprint itself declares; the built-in ones are tested on their own."""


def plan_of(text: str) -> dict[str, object]:
    return plan_document(*read_whole("blueprint.yaml", Texts({"blueprint.yaml": text})))


def own(document: dict[str, object]) -> dict[str, object]:
    """The document without what the built-in types bring."""
    bare = plan_of(whole("", minor=5))
    return {
        key: {name: item for name, item in value.items() if name not in bare[key]}  # type: ignore[operator]  # mappings
        if key in BUILT_IN and isinstance(value, dict)
        else value
        for key, value in document.items()
    }


def written(case: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(case)
    document = plan_document(*read_whole("blueprint.yaml", BlueprintFiles("blueprint.yaml")))
    return json.dumps(own(document), indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_b50_the_plan_is_the_golden_one(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert written(case, monkeypatch) == (case / "plan.json").read_text("utf-8")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_b51_equal_blueprints_give_equal_plans(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert written(case, monkeypatch) == written(case, monkeypatch)


def test_b50_it_has_all_that_the_ancestors_plan_has() -> None:
    assert set(plan_of(whole(""))) == CONTENTS


def test_b50_an_operation_has_all_its_fields() -> None:
    text = whole("""
    node_types:
      t: {interfaces: {i: {o: {implementation: script.script_runner.tasks.run, executor: central_deployment_agent}}}}
    node_templates: {n: {type: t}}
    """)
    nodes = plan_of(text)["nodes"]
    assert nodes[0]["operations"]["o"] == {  # type: ignore[index]  # a list of mappings
        "name": "i.o",
        "plugin": "script",
        "operation": "script_runner.tasks.run",
        "executor": "central_deployment_agent",
        "inputs": {},
        "has_intrinsic_functions": False,
        "max_retries": None,
        "retry_interval": None,
        "timeout": None,
        "timeout_recoverable": None,
        "inputs_types": {},
    }


def test_b50_requirements_name_secrets_and_capabilities_of_the_environment_each_once() -> None:
    text = whole("""
    inputs: {a: {default: {get_secret: one}}}
    node_templates:
      n:
        type: cloudify.nodes.WebServer
        properties: {port: {concat: [{get_secret: [two, key]}, {get_secret: one}, {get_environment_capability: [zone, 0]}]}}
    outputs: {o: {value: {get_environment_capability: name}}}
    """)
    assert plan_of(text)["requirements"] == {
        "parent_capabilities": [["zone", 0], ["name"]],
        "secrets": ["one", ["two", "key"]],
    }


def test_b50_requirements_name_secrets_of_values_on_import_lines() -> None:
    text = """
    imports: [p.yaml: {region: {get_secret: where}}]
    node_types: {t: {interfaces: {i: {o: p.go}}}}
    node_templates: {n: {type: t}}
    """
    text = whole(text, minor=5, types=False)
    plugin = "plugins: {p: {executor: central_deployment_agent, install: false, properties: {region: {}}}}"
    document = plan_document(*read_whole("blueprint.yaml", Texts({"blueprint.yaml": text, "p.yaml": plugin})))
    assert document["requirements"] == {"parent_capabilities": [], "secrets": ["where"]}


def test_b50_the_script_of_a_workflow_is_a_parameter_without_description() -> None:
    text = """
    plugins: {script: {executor: central_deployment_agent, install: false}}
    workflows: {w: {mapping: a.sh}}
    """
    texts = Texts({"blueprint.yaml": whole(text, types=False)}, ("a.sh",))
    workflows = plan_document(*read_whole("blueprint.yaml", texts))["workflows"]
    assert workflows["w"]["parameters"] == {"script_path": {"default": "a.sh"}}  # type: ignore[index]  # a mapping


def test_b51_planning_has_no_side_effect() -> None:
    text = whole("node_templates: {n: {type: cloudify.nodes.WebServer}}")
    blueprint, sections = read_whole("blueprint.yaml", Texts({"blueprint.yaml": text}))
    before = repr(blueprint)
    plan_document(blueprint, sections)
    assert repr(blueprint) == before
    assert blueprint == read(text)
