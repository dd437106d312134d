"""B40: malformed arguments fail while a blueprint is read, with the class that the ancestor raises."""

import pytest
from tests.dsl.readers import codes, problems, read

from phaseline.dsl.functions.registry import FUNCTIONS

VALUE, CHECKED = "ValueError", "FunctionValidationError"


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("{get_attributes_list: web}", VALUE),
        ("{get_attributes_list: [web, [a]]}", VALUE),
        ("{get_attributes_dict: [web]}", VALUE),
        ("{get_attributes_dict: [web, {a: b}]}", VALUE),
        ("{get_attributes_dict: [web, []]}", VALUE),
        ("{get_secret: []}", CHECKED),
        ("{get_secret: [one]}", CHECKED),
        ("{get_secret: {a: b}}", CHECKED),
        ("{get_capability: network}", VALUE),
        ("{get_capability: [network]}", VALUE),
        ("{get_capability: [network, {a: b}]}", VALUE),
        ("{get_group_capability: [edge]}", VALUE),
        ("{get_group_capability: [edge, a, [b]]}", VALUE),
        ("{get_environment_capability: [a]}", CHECKED),
        ("{get_environment_capability: 5}", CHECKED),
        ("{get_label: 5}", CHECKED),
        ("{get_label: [team]}", CHECKED),
        ("{get_label: [team, first]}", CHECKED),
        ("{get_sys: deployment}", VALUE),
        ("{get_consumers: all}", VALUE),
        ("{get_consumers: [ids]}", VALUE),
        ("{merge: {a: 1}}", VALUE),
        ("{string_find: text}", CHECKED),
        ("{string_find: [text, 5]}", CHECKED),
        ("{string_replace: [a, b]}", CHECKED),
        ("{string_replace: [a, b, c, d]}", CHECKED),
        ("{string_split: [a]}", CHECKED),
        ("{string_split: [a, b, c]}", CHECKED),
        ("{string_lower: 5}", CHECKED),
        ("{string_upper: [a]}", CHECKED),
    ],
)
def test_b40_wrong_arguments_are_told_with_the_class_of_the_ancestor(value: str, kind: str) -> None:
    (found,) = problems(f"node_templates: {{web: {{type: cloudify.nodes.Root}}}}\noutputs: {{o: {{value: {value}}}}}")
    assert (found.code, found.cloudify_class, found.place.line) == ("PL-B070", kind, 4)


def test_b40_what_is_no_mapping_cannot_be_merged() -> None:
    (found,) = problems("outputs: {o: {value: {merge: [{a: 1}, text]}}}")
    assert (found.code, found.message) == ("PL-B070", "'merge' takes a list of mappings, and 'text' is none")


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.name)
def test_b40_every_function_is_read_as_its_example_shows(function) -> None:  # type: ignore[no-untyped-def]  # a Function
    text = f"""
    tosca_definitions_version: {"phaseline_dsl_1_0" if function.is_extension else "cloudify_dsl_1_5"}
    imports: [cloudify/types/types.yaml]
    inputs: {{port: {{}}, host: {{}}, name: {{}}, more: {{}}}}
    node_templates: {{web: {{type: cloudify.nodes.WebServer, properties: {{port: 1}}}}}}
    outputs: {{o: {{value: {function.example}}}}}
    """
    assert codes(text) == []


@pytest.mark.parametrize(("name", "minor"), [("concat", 1), ("merge", 3)])
def test_b40_a_function_of_a_later_version_is_told(name: str, minor: int) -> None:
    text = f"outputs: {{o: {{value: {{{name}: []}}}}}}"
    (found,) = problems(text, minor=minor - 1)
    assert (found.code, found.cloudify_class) == ("PL-B013", CHECKED)
    assert codes(text, minor=minor) == []


def test_b41_to_string_is_an_extension_and_off_in_the_language_of_the_ancestor() -> None:
    (found,) = problems("outputs: {o: {value: {to_string: 5}}}", minor=5)
    assert (found.code, "phaseline_dsl_1_0" in found.mend) == ("PL-B013", True)


@pytest.mark.parametrize(
    ("asked", "kind", "mend"),
    [
        ("[deploymnt, id]", "UnknownSysEntityError", "did you mean 'deployment'?"),
        ("[deployment, nam]", "UnknownSysPropertyError", "did you mean 'name'?"),
        ("[tenant, id]", "UnknownSysPropertyError", "it has 'name'"),
    ],
)
def test_b41_get_sys_knows_few_things(asked: str, kind: str, mend: str) -> None:
    (found,) = problems(f"outputs: {{o: {{value: {{get_sys: {asked}}}}}}}")
    assert (found.code, found.cloudify_class, found.mend) == ("PL-B077", kind, mend)


def test_b41_what_is_a_function_itself_is_checked_when_it_is_known() -> None:
    text = """
    inputs: {a: {default: deployment}}
    outputs: {o: {value: {get_sys: [{get_input: a}, id]}}, p: {value: {get_consumers: {get_input: a}}}}
    """
    assert codes(text) == []


def test_b41_equal_paths_of_get_attributes_dict_are_told() -> None:
    text = """
    node_templates: {web: {type: cloudify.nodes.Root}}
    outputs: {o: {value: {get_attributes_dict: [web, a.b, [a, b], c]}}}
    """
    (found,) = problems(text)
    assert (found.code, found.cloudify_class) == ("PL-B074", "FunctionEvaluationError")


@pytest.mark.parametrize("name", ["get_attribute", "get_attributes_list", "get_attributes_dict"])
def test_b41_functions_over_instances_name_nodes(name: str) -> None:
    (found,) = problems(
        f"node_templates: {{web: {{type: cloudify.nodes.Root}}}}\noutputs: {{o: {{value: {{{name}: [wbe, a]}}}}}}"
    )
    assert (found.code, found.cloudify_class, found.mend) == ("PL-B073", "KeyError", "did you mean 'web'?")
    (found,) = problems(
        f"node_templates: {{web: {{type: cloudify.nodes.Root}}}}\noutputs: {{o: {{value: {{{name}: [SELF, a]}}}}}}"
    )
    assert (found.code, found.cloudify_class) == ("PL-B072", "ValueError")


def test_b41_functions_of_other_deployments_are_read_and_stay() -> None:
    text = """
    outputs:
      a: {value: {get_capability: [network, {concat: [a, b]}, 0]}}
      b: {value: {get_group_capability: [edge, [a, b], 0]}}
      c: {value: {get_environment_capability: [a, b]}}
      d: {value: {get_consumers: count}}
    """
    assert read(text).outputs["c"].value == {"get_environment_capability": ["a", "b"]}
