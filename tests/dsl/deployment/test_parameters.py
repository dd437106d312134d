"""B23: workflows of a blueprint, and the parameters with which one is started."""

import pytest
from tests.dsl.readers import numbers, problems, read

from phaseline.dsl.deployment.parameters import merge_parameters
from phaseline.dsl.documents.json_codec import blueprint_from_json, blueprint_to_json
from phaseline.model.blueprint.blueprint import Availability, Value, WorkflowMapping
from phaseline.model.problems.problem import ProblemsError

PLUGINS = "plugins: {flows: {executor: central_deployment_agent, install: false}}\n"


def workflow(text: str, *, scripts: tuple[str, ...] = ()) -> WorkflowMapping:
    """The workflow ``go`` of a blueprint that says ``text``."""
    return read(f"{PLUGINS}workflows:\n  go: {text}\n", scripts=scripts).workflows["go"]


def merged(parameters: str, given: dict[str, Value], **more: bool) -> dict[str, Value]:
    return merge_parameters(workflow(f"{{mapping: flows.all.go, parameters: {parameters}}}"), given, **more)  # type: ignore[arg-type]  # flags


def refused(parameters: str, given: dict[str, Value]) -> list[tuple[str, str]]:
    with pytest.raises(ProblemsError) as caught:
        merged(parameters, given)
    return [(problem.code, problem.message) for problem in caught.value.problems]


def test_b23_a_text_is_the_mapping() -> None:
    assert workflow("flows.all.go") == workflow("{mapping: flows.all.go}")
    found = workflow("flows.all.go")
    assert (found.form, found.plugin, found.mapping) == ("function", "flows", "all.go")


def test_b23_a_workflow_may_be_a_script_beside_the_blueprint_or_an_inline_one() -> None:
    found = workflow("scripts/go.py", scripts=("scripts/go.py",))
    assert (found.form, found.plugin, found.mapping) == ("script", "script", "scripts/go.py")
    assert workflow('"print(1)\\nprint(2)"').form == "inline"


def test_b23_the_mapping_is_required() -> None:
    assert numbers("workflows: {go: {parameters: {}}}") == [1]


def test_b23_workflows_of_the_types_are_mapped_to_the_built_in_ones() -> None:
    found = read("node_templates: {}").workflows
    assert {name: item.built_in for name, item in found.items()} == {name: name for name in found}
    assert workflow("flows.all.go").built_in == ""


def test_b23_cascading_and_availability_are_kept() -> None:
    found = workflow(
        "{mapping: flows.all.go, is_cascading: true,"
        " availability_rules: {available: false, node_instances_active: [all, none], node_types_required: [a.B]}}"
    )
    assert found.is_cascading
    assert found.availability == Availability(False, ("all", "none"), ("a.B",))
    assert workflow("flows.all.go").availability == Availability()


def test_b23_how_many_instances_are_active_is_one_of_three_words() -> None:
    (found,) = problems(
        PLUGINS + "workflows: {go: {mapping: flows.a.b, availability_rules: {node_instances_active: [al]}}}"
    )
    assert (found.code, found.mend) == ("PL-B015", "did you mean 'all'?")
    assert found.place.path == "workflows.go.availability_rules.node_instances_active[0]"


def test_b23_a_default_of_the_wrong_type_is_105() -> None:
    assert numbers(PLUGINS + "workflows: {go: {mapping: flows.a.b, parameters: {n: {type: integer, default: x}}}}") == [
        105
    ]


def test_b23_workflows_come_back_from_the_store_as_they_were() -> None:
    blueprint = read(
        PLUGINS + "workflows: {go: {mapping: flows.a.b, is_cascading: true,"
        " availability_rules: {node_instances_active: [all]}, parameters: {n: {type: integer}}}}"
    )
    written = blueprint_to_json(blueprint)
    assert dict(blueprint_from_json(written).workflows) == dict(blueprint.workflows)


def test_b23_workflows_that_an_older_version_stored_can_be_read() -> None:
    written = blueprint_to_json(read(PLUGINS + "workflows: {go: flows.a.b}"))
    for item in written["workflows"]:
        for name in ("form", "is_cascading", "availability"):
            item.pop(name, None)
    assert blueprint_from_json(written).workflows["go"] == WorkflowMapping("go", "a.b", "flows")


def test_b23_a_default_counts_unless_something_is_given() -> None:
    assert merged("{n: {default: 1}, m: {default: null}}", {}) == {"n": 1, "m": None}
    assert merged("{n: {default: 1}}", {"n": 2}) == {"n": 2}


def test_b23_without_default_a_parameter_is_mandatory_unless_it_is_not_required() -> None:
    assert merged("{n: {required: false}}", {}) == {}
    assert refused("{n: {}, m: {description: how many.}}", {}) == [
        ("PL-P008", "the parameter 'n' of 'go' is missing"),
        ("PL-P008", "the parameter 'm' of 'go' is missing (how many)"),
    ]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [("integer", "3", 3), ("float", "0.5", 0.5), ("boolean", "true", True), ("boolean", "False", False)],
)
def test_b23_texts_are_converted_where_they_can_be(kind: str, text: str, value: Value) -> None:
    assert merged(f"{{n: {{type: {kind}}}}}", {"n": text}) == {"n": value}


def test_b23_texts_stay_texts_where_nothing_else_is_asked_for() -> None:
    assert merged("{n: {}, m: {type: string}}", {"n": "3", "m": "4"}) == {"n": "3", "m": "4"}


def test_b23_all_wrong_types_are_listed() -> None:
    types = "{n: {type: integer}, m: {type: list}, s: {type: boolean, default: false}}"
    found = refused(types, {"n": "three", "m": {"a": 1}, "s": "maybe"})
    assert [code for code, _ in found] == ["PL-P004"] * 3
    assert found[0][1] == "the parameter 'n' of 'go' is 'three', which is not of type integer"


def test_b23_null_is_a_value_where_nothing_need_be_given() -> None:
    types = "{n: {type: integer, required: false}, m: {type: list, default: null}}"
    assert merged(types, {"n": None, "m": None}) == {"n": None, "m": None}
    assert [code for code, _ in refused("{n: {type: integer}}", {"n": None})] == ["PL-P004"]


def test_b23_unknown_names_are_refused_with_a_guess_unless_custom_ones_are_allowed() -> None:
    with pytest.raises(ProblemsError) as caught:
        merged("{level: {default: 1}}", {"levels": 2, "other": 3})
    first, second = caught.value.problems
    assert first.mend.startswith("did you mean 'level'?")
    assert second.mend.startswith("it has 'level'; to")
    assert merged("{level: {default: 1}}", {"levels": 2}, allow_custom=True) == {"level": 1, "levels": 2}
    assert merge_parameters(workflow("flows.all.go"), {"extra": 1}, more=["extra"]) == {"extra": 1}


def test_b23_a_workflow_without_parameters_says_so() -> None:
    with pytest.raises(ProblemsError) as caught:
        merge_parameters(workflow("flows.all.go"), {"n": 1})
    assert caught.value.problems[0].mend.startswith("it has no parameters; to")
