"""B11-B13, B15: properties, their values, inputs, data types."""

import pytest
from tests.dsl.readers import codes, numbers, problems, read

from phaseline.dsl.deployment.evaluate_blueprint import with_inputs
from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.model.problems.problem import ProblemsError


def with_property(schema: str, given: str | None = None) -> str:
    properties = f"\n    properties: {{p: {given}}}" if given is not None else ""
    return f"""
node_types:
  t:
    properties:
      p: {schema}
node_templates:
  n:
    type: t{properties}
"""


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        ("integer", ["80", "-1"], ["'80'", "1.5", "true", "[1]"]),
        ("float", ["0.5", "1"], ["'1'", "false"]),
        ("boolean", ["true", "no"], ["1", "'true'"]),
        ("list", ["[]", "[1]"], ["{}", "a"]),
        ("dict", ["{}", "{a: 1}"], ["[]", "a"]),
        ("regex", ["'[a-z]+'"], ["'[a'", "5"]),
        ("textarea", ["a"], ["5"]),
        ("string", ["a", "5", "true", "[1]", "{a: 1}"], []),
    ],
)
def test_b11_values_are_checked_against_primitive_types(kind: str, good: list[str], bad: list[str]) -> None:
    for value in good:
        assert codes(with_property(f"{{type: {kind}}}", value)) == []
        assert codes(with_property(f"{{type: {kind}, default: {value}}}")) == []
    for value in bad:
        assert numbers(with_property(f"{{type: {kind}}}", value)) == [105]
        assert numbers(with_property(f"{{type: {kind}, default: {value}}}")) == [105]


def test_b11_an_unknown_type_is_103() -> None:
    assert numbers(with_property("{type: strimg, default: a}")) == [103]


@pytest.mark.parametrize(
    "kind",
    [
        "blueprint_id",
        "deployment_id",
        "capability_value",
        "scaling_group",
        "node_id",
        "node_type",
        "node_instance",
        "secret_key",
        "operation_name",
    ],
)
def test_b11_types_whose_values_name_something_accept_any_value(kind: str) -> None:
    for value in ("a", "5", "[1]"):
        assert problems(with_property(f"{{type: {kind}}}", value), minor=5) == ()


def test_b11_a_missing_required_value_is_107_and_others_may_be_missing() -> None:
    assert numbers(with_property("{type: string}")) == [107]
    assert numbers(with_property("{type: string, required: false}")) == []
    assert "p" not in read(with_property("{required: false}")).nodes["n"].properties


def test_b12_functions_are_not_checked_against_types() -> None:
    text = "inputs: {port: {}}" + with_property("{type: integer}", "{get_input: port}")
    assert codes(text) == []
    assert read(text).nodes["n"].has_functions


def test_b12_an_undeclared_property_is_106() -> None:
    assert numbers("node_templates: {n: {type: cloudify.nodes.Root, properties: {colour: red}}}") == [106]


def test_b12_template_over_type_over_parent() -> None:
    text = """
    node_types:
      parent: {properties: {a: {default: 1}, b: {default: 1}, c: {default: 1}}}
      child: {derived_from: parent, properties: {b: {default: 2}, c: {default: 2}}}
    node_templates:
      n: {type: child, properties: {c: 3}}
    """
    assert read(text).nodes["n"].properties == {"a": 1, "b": 2, "c": 3}


def test_b12_defaults_of_a_data_type_are_merged_key_by_key() -> None:
    text = """
    node_templates:
      host:
        type: cloudify.nodes.Compute
        properties: {agent_config: {user: me, port: 2222}}
    """
    found = read(text).nodes["host"].properties["agent_config"]
    assert found == {"install_method": "remote", "port": 2222, "network": "default", "user": "me"}


def test_b12_a_child_that_declares_the_same_data_type_again_merges_its_default() -> None:
    text = """
    data_types:
      d: {properties: {x: {default: 0}, y: {default: 0}, z: {default: 0}}}
    node_types:
      parent: {properties: {p: {type: d, default: {x: 1, y: 1}}}}
      child: {derived_from: parent, properties: {p: {type: d, default: {y: 2}}}}
      other: {derived_from: parent, properties: {p: {type: integer, default: 2}}}
    node_templates:
      n: {type: child}
      o: {type: other}
    """
    found = read(text)
    assert found.nodes["n"].properties["p"] == {"x": 1, "y": 2, "z": 0}
    assert found.nodes["o"].properties["p"] == 2


def test_b12_an_external_resource_may_lack_required_properties() -> None:
    text = """
    node_types:
      t: {derived_from: cloudify.nodes.Root, properties: {size: {type: integer}}}
    node_templates:
      n: {type: t, properties: {use_external_resource: true}}
    """
    assert codes(text) == []


def test_b12_an_external_resource_may_lack_parts_of_a_data_type_that_nobody_gives() -> None:
    text = """
    data_types: {d: {properties: {size: {type: integer}}}}
    node_types:
      t: {derived_from: cloudify.nodes.Root, properties: {use_external_resource: {default: false}, c: {type: d}}}
    node_templates:
      n: {type: t, properties: {use_external_resource: true}}
    """
    assert codes(text) == []
    assert numbers(text.replace("resource: true", "resource: false")) == [107]
    assert numbers(text.replace("resource: true", "resource: true, c: {}")) == [107]


def test_b12_functions_for_properties_are_not_checked_against_their_type() -> None:
    text = """
    inputs: {x: {default: text}}
    data_types: {d: {properties: {q: {type: integer, default: {get_input: x}}}}}
    node_types:
      t: {properties: {p: {type: integer, default: {get_input: x}}, d: {type: d}, own: {type: integer}}}
    node_templates: {n: {type: t, properties: {own: {get_input: x}}}}
    """
    blueprint = read(text, types=False)
    found = with_inputs(blueprint, complete_inputs(blueprint, {})).nodes["n"].properties
    assert found == {"p": "text", "d": {"q": "text"}, "own": "text"}


def test_b12_whether_a_resource_is_external_cannot_be_a_function() -> None:
    text = "node_templates: {n: {type: cloudify.nodes.Root, properties: {use_external_resource: {concat: [a]}}}}"
    assert numbers(text) == [219]


def test_b15_data_types_nest_and_derive() -> None:
    text = """
    data_types:
      inner: {properties: {a: {type: integer}}}
      outer: {properties: {inner: {type: inner}, b: {default: 1}}}
      derived: {derived_from: outer, properties: {c: {default: 2}}}
    node_types: {t: {properties: {p: {type: derived}}}}
    node_templates:
      good: {type: t, properties: {p: {inner: {a: 5}}}}
    """
    assert read(text).nodes["good"].properties["p"] == {"inner": {"a": 5}, "b": 1, "c": 2}
    assert numbers(text.replace("a: 5", "a: five")) == [105]
    assert numbers(text.replace("{a: 5}", "{}")) == [107]
    assert numbers(text.replace("{a: 5}", "{a: 5, x: 1}")) == [106]


def test_b15_circles_primitives_and_unknown_parents_have_the_ancestors_numbers() -> None:
    assert numbers("data_types: {a: {properties: {p: {type: b}}}, b: {properties: {p: {type: a}}}}") == [100]
    assert numbers("data_types: {a: {derived_from: b}, b: {derived_from: a}}") == [100]
    assert numbers("data_types: {integer: {}}") == [104]
    assert numbers("data_types: {a: {derived_from: nothing}}") == [103]


INPUTS = """
inputs:
  port: {type: integer, default: 80}
  name: {}
  nothing: {default: ~}
  note: {required: false}
  ratio: {type: float, default: 1}
  debug: {type: boolean, default: false}
"""


def complaints(given: dict[str, object]) -> list[tuple[str, str]]:
    with pytest.raises(ProblemsError) as caught:
        complete_inputs(read(INPUTS), given)  # type: ignore[arg-type]  # values of tests
    return [(problem.code, problem.message) for problem in caught.value.problems]


def test_b13_defaults_complete_what_is_given() -> None:
    found = complete_inputs(read(INPUTS), {"name": "a", "nothing": "b"})
    assert found == {"port": 80, "name": "a", "nothing": "b", "note": None, "ratio": 1, "debug": False}
    assert list(found) == ["port", "name", "nothing", "note", "ratio", "debug"]


def test_b13_all_missing_inputs_are_named_and_a_default_of_null_is_none() -> None:
    assert complaints({}) == [("PL-B080", "required inputs are missing: name, nothing")]


def test_b13_unknown_inputs_are_named_with_what_was_meant() -> None:
    with pytest.raises(ProblemsError) as caught:
        complete_inputs(read(INPUTS), {"name": "a", "nothing": "b", "prt": 1})
    (found,) = caught.value.problems
    assert (found.code, found.cloudify_class, found.mend) == ("PL-B081", "UnknownInputError", "did you mean 'port'?")


def test_b13_wrong_types_missing_and_unknown_are_told_together() -> None:
    found = complaints({"port": "80", "debug": 1, "x": 1})
    assert [code for code, _ in found] == ["PL-B080", "PL-B082", "PL-B082", "PL-B081"]


def test_b13_auto_correct_casts_texts() -> None:
    given = {"port": "81", "ratio": "0.5", "debug": "true", "name": "1", "nothing": "x"}
    found = complete_inputs(read(INPUTS), given, auto_correct=True)
    assert (found["port"], found["ratio"], found["debug"], found["name"]) == (81, 0.5, True, "1")


def test_b13_auto_correct_leaves_what_is_no_number() -> None:
    with pytest.raises(ProblemsError, match="PL-B082"):
        complete_inputs(read("inputs: {port: {type: integer}}"), {"port": "yes"}, auto_correct=True)


def test_b13_hidden_and_required_without_default_is_215() -> None:
    assert numbers("inputs: {p: {hidden: true}}") == [215]
    assert numbers("inputs: {p: {hidden: true, default: a}, q: {hidden: true, required: false}}") == []


def test_b13_hidden_with_a_default_of_null_is_let_through_as_by_the_ancestor() -> None:
    assert numbers("inputs: {p: {hidden: true, default: null}}") == []


def test_b13_display_belongs_to_textarea() -> None:
    assert numbers("inputs: {p: {type: string, display: {rows: 2}}}") == [216]
    assert numbers("inputs: {p: {type: textarea, display: {rows: 2}}}") == []


def test_b13_a_default_is_checked() -> None:
    assert numbers("inputs: {p: {type: integer, default: a}}") == [105]
