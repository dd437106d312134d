"""B12, B15: data types, what their defaults make of a value, and how much they may be."""

import pytest
from tests.dsl.readers import codes, numbers, problems, read

from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.problem import ProblemsError


def node_with(data_types: str, schema: str, given: str = "") -> str:
    more = f", properties: {{p: {given}}}" if given else ""
    return f"data_types: {data_types}\nnode_types: {{t: {{properties: {{p: {schema}}}}}}}\nnode_templates: {{n: {{type: t{more}}}}}"


def p_of(data_types: str, schema: str, given: str = "") -> Value:
    return read(node_with(data_types, schema, given)).nodes["n"].properties["p"]


def given_input(declared: str, given: dict[str, Value], data_types: str = "{}") -> Value:
    return complete_inputs(read(f"data_types: {data_types}\ninputs: {{i: {declared}}}"), given)["i"]


def refusal(declared: str, value: Value, data_types: str = "{}") -> list[tuple[str, str, int | None]]:
    with pytest.raises(ProblemsError) as caught:
        given_input(declared, {"i": value}, data_types)
    return [(problem.code, str(problem.place.subject), problem.cloudify_code) for problem in caught.value.problems]


def test_b12_a_property_of_a_data_type_is_there_with_what_its_defaults_make() -> None:
    assert p_of("{d: {properties: {a: {default: 1}, b: {required: false}}}}", "{type: d}") == {"a": 1}
    assert p_of("{d: {properties: {a: {required: false}}}}", "{type: d}") == {}


def test_b12_what_the_defaults_leave_open_is_missed_where_nothing_is_given() -> None:
    (found,) = problems(node_with("{d: {properties: {a: {}}}}", "{type: d}"))
    assert (found.code, found.cloudify_code) == ("PL-B036", 107)
    assert "'p.a'" in found.message
    assert numbers(node_with("{d: {properties: {a: {}}}}", "{type: d, required: false}")) == [107]


def test_b12_missing_parts_are_allowed_in_the_default_of_a_property_and_completed_by_the_template() -> None:
    types = "{d: {properties: {a: {}, b: {default: 2}}}}"
    assert p_of(types, "{type: d, default: {b: 5}}", "{a: 1}") == {"a": 1, "b": 5}
    assert numbers(node_with(types, "{type: d, default: {b: 5}}")) == [107]


def test_b12_missing_parts_are_not_allowed_in_the_default_of_an_input() -> None:
    types = "data_types: {d: {properties: {a: {}, b: {default: 2}}}}\n"
    assert numbers(types + "inputs: {i: {type: d, default: {b: 5}}}") == [107]
    assert numbers(types + "inputs: {i: {type: d, default: {a: 5}}}") == []


def test_b12_defaults_are_merged_key_by_key_through_nested_data_types() -> None:
    types = "{d: {properties: {a: {default: 1}, e: {type: e}}}, e: {properties: {x: {default: 5}, y: {default: 6}}}}"
    assert p_of(types, "{type: d, default: {e: {x: 9}}}", "{e: {y: 0}}") == {"a": 1, "e": {"x": 9, "y": 0}}


def test_b12_a_part_of_a_data_type_that_does_not_fit_is_told_at_its_place() -> None:
    (found,) = problems(node_with("{d: {properties: {a: {type: integer}}}}", "{type: d}", "{a: x}"))
    assert (found.cloudify_code, found.place.path) == (105, "node_templates.n.properties.p.a")


def test_b12_a_part_that_is_not_declared_is_106_at_any_depth() -> None:
    types = "{d: {properties: {e: {type: e}}}, e: {properties: {x: {default: 5}}}}"
    (found,) = problems(node_with(types, "{type: d}", "{e: {z: 1}}"))
    assert (found.cloudify_code, found.place.path) == (106, "node_templates.n.properties.p.e.z")


def test_b12_a_value_of_a_data_type_must_be_a_mapping_and_null_is_none() -> None:
    types = "{d: {properties: {a: {default: 1}}}}"
    for given in ("5", "null", "[a]"):
        assert numbers(node_with(types, "{type: d}", given)) == [105]
    assert numbers(node_with(types, "{type: d, default: 5}")) == [105]


def test_b12_an_external_resource_within_a_data_type_may_lack_parts() -> None:
    types = "{d: {properties: {use_external_resource: {default: true}, a: {}}}}"
    assert p_of(types, "{type: d}") == {"use_external_resource": True}


def test_b12_a_derived_type_with_the_same_data_type_merges_defaults_with_another_replaces() -> None:
    types = "{d: {properties: {a: {default: 1}, b: {default: 1}}}, e: {properties: {c: {default: 3}}}}"
    text = f"""
data_types: {types}
node_types:
  parent: {{properties: {{p: {{type: d, default: {{a: 7}}}}}}}}
  same: {{derived_from: parent, properties: {{p: {{type: d, default: {{b: 8}}}}}}}}
  other: {{derived_from: parent, properties: {{p: {{type: e}}}}}}
node_templates: {{s: {{type: same}}, o: {{type: other}}}}
"""
    nodes = read(text).nodes
    assert nodes["s"].properties["p"] == {"a": 7, "b": 8}
    assert nodes["o"].properties["p"] == {"c": 3}


def test_b15_a_derived_data_type_has_the_properties_of_its_parent() -> None:
    types = "{d: {properties: {a: {default: 1}}}, e: {derived_from: d, properties: {b: {default: 2}}}}"
    assert p_of(types, "{type: e}", "{a: 3}") == {"a": 3, "b": 2}
    found = read(node_with(types, "{type: e}")).data_types["e"]
    assert found.hierarchy == ("d", "e")
    assert list(found.properties) == ["a", "b"]


def test_b15_description_and_version_are_allowed() -> None:
    assert read("data_types: {d: {description: what, version: '1.2'}}").data_types["d"].description == "what"


@pytest.mark.parametrize("link", ["derived_from: d{}", "properties: {{x: {{type: d{}}}}}"])
def test_b15_data_types_too_deep_within_one_another_are_refused_and_never_overflow(link: str) -> None:
    types = [f"  d{number}: {{{link.format(number + 1)}}}" for number in range(1500)]
    found = codes("data_types:\n" + "\n".join([*types, "  d1500: {}"]))
    assert "PL-B007" in found


def test_b15_defaults_that_multiply_are_refused_within_their_bound() -> None:
    types = [f"  d{n}: {{properties: {{x: {{type: d{n + 1}}}, y: {{type: d{n + 1}}}}}}}" for n in range(60)]
    text = "data_types:\n" + "\n".join([*types, "  d60: {properties: {z: {default: 1}}}"]) + "\ninputs: {x: {type: d0}}"
    found = problems(text)
    assert found
    assert {problem.code for problem in found} == {"PL-B007"}


def test_b13_an_input_of_a_data_type_is_completed_by_its_defaults() -> None:
    types = "{d: {properties: {a: {default: 1}, b: {required: false}}}}"
    assert given_input("{type: d}", {}, types) == {"a": 1}
    assert given_input("{type: d}", {"i": {"b": 2}}, types) == {"a": 1, "b": 2}
    assert given_input("{type: d, default: {a: 7, b: 2}}", {}, types) == {"a": 7, "b": 2}
    assert given_input("{type: d, default: {a: 7, b: 2}}", {"i": {"b": 5}}, types) == {"a": 1, "b": 5}


def test_b13_an_input_of_a_data_type_that_its_defaults_do_not_satisfy_must_be_given() -> None:
    with pytest.raises(ProblemsError) as caught:
        given_input("{type: d}", {}, "{d: {properties: {a: {default: 1}, b: {}}}}")
    assert [problem.code for problem in caught.value.problems] == ["PL-B080"]


def test_b13_a_value_against_its_data_type_is_214_at_each_part() -> None:
    types = "{d: {properties: {a: {type: integer}, e: {type: e}, r: {}}}, e: {properties: {x: {default: 1}}}}"
    assert refusal("{type: d}", {"a": "x", "c": 5, "e": {"y": 1}}, types) == [
        ("PL-B082", "inputs.i.c", 214),
        ("PL-B082", "inputs.i.a", 214),
        ("PL-B082", "inputs.i.e.y", 214),
        ("PL-B082", "inputs.i.r", 214),
    ]
    assert refusal("{type: d}", 5, types) == [("PL-B082", "inputs.i", 214)]


def test_b13_item_type_belongs_to_lists_else_218_and_is_primitive_else_217() -> None:
    assert numbers("inputs: {i: {type: string, item_type: integer}}") == [218]
    assert numbers("inputs: {i: {item_type: integer}}") == [218]
    assert numbers("data_types: {d: {}}\ninputs: {i: {type: list, item_type: d}}") == [217]
    assert numbers("inputs: {i: {type: list, item_type: integer}}") == []


def test_b13_items_of_defaults_and_values_are_checked() -> None:
    assert numbers("inputs: {i: {type: list, item_type: integer, default: [1, a]}}") == [105]
    assert given_input("{type: list, item_type: integer}", {"i": [1, 2]}) == [1, 2]
    assert refusal("{type: list, item_type: integer}", [4, "x", 5, "y"]) == [
        ("PL-B082", "inputs.i[1]", 214),
        ("PL-B082", "inputs.i[3]", 214),
    ]


def test_b13_display_with_rows_belongs_to_textarea_else_216() -> None:
    (found,) = problems("inputs: {i: {type: string, display: {rows: 5}}}")
    assert (found.code, found.cloudify_code, found.cloudify_class) == ("PL-B094", 216, "DSLParsingInputTypeException")
    assert numbers("inputs: {i: {type: textarea, display: {rows: a}}}") == [1]
    assert read("inputs: {i: {type: textarea, display: {rows: 5}}}").inputs["i"].display_rows == 5
