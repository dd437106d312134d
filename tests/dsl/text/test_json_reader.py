"""Blueprints as JSON: the same values and places as the YAML reader gives, and its words for what is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.dsl.readers import MAIN, Texts

from phaseline.dsl.reader import read_blueprint
from phaseline.dsl.text.document import Document, read_document
from phaseline.dsl.text.json_reader import NotPlainJson, read_json
from phaseline.dsl.text.problem_report import ProblemReport
from phaseline.dsl.text.yaml_reader import YamlText
from phaseline.model.problems.problem import ProblemsError

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6, allow_nan=False).filter(lambda number: "e" not in repr(number)),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=6),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("abc <", max_size=3), inner, max_size=3)
    ),
    max_leaves=20,
)


def by_yaml(text: str) -> Document:
    document, report = Document("x", text), ProblemReport()
    YamlText(document, report).read()
    assert not report.errors_count
    return document


@given(st.dictionaries(st.text("abc", max_size=3), VALUES, max_size=4), st.sampled_from([None, 1, 4]))
def test_the_same_values_and_places_as_by_yaml(value: dict[str, object], indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    root, marks = read_json(text, 100)
    same = by_yaml(text)
    assert root == same.root == value
    assert marks == same.marks


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}}",
        "[1]",
        "{a: 1}",
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        '{"b": {"a": 1, "a": 2}}',
        '{"b": {"c": {"a": 1, "a": 2}}}',
        '{"a": 1,}',
        '{"a" 1}',
        '{"a": 1.0e+999}',
        '{"a": "\\ud800"}',
        '{"a": ' * 101 + "1" + "}" * 101,
        '{"a": ' * 5000 + "1" + "}" * 5000,
    ],
)
def test_what_is_not_plain_json_is_left_to_the_yaml_reader(text: str) -> None:
    with pytest.raises(NotPlainJson):
        read_json(text, 100)


def test_a_pair_of_escapes_is_one_character() -> None:
    assert read_json('{"a": "\\ud83d\\ude00"}', 100)[0] == {"a": "\U0001f600"}


def test_numbers_are_those_of_yaml() -> None:
    document = read_document("x", '{"a": {"b": [1e5, 1.5e+3, 0, -7, 1.0]}}', ProblemReport())
    assert document is not None
    assert document.root == {"a": {"b": ["1e5", 1500.0, 0, -7, 1.0]}}


def test_a_mistake_in_a_file_of_json_is_told_at_its_place() -> None:
    text = """{"tosca_definitions_version": "cloudify_dsl_1_4",
 "imports": ["cloudify/types/types.yaml"],
 "node_templates": {
  "a": {"type": "cloudify.nodes.Root"},
  "b": {"type": "cloudify.nodes.Rot"},
  "c": {"type": "cloudify.nodes.Root", "propertis": {}}
 }}"""
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(MAIN, Texts({MAIN: text}))
    assert [(found.code, found.place.line, found.place.column) for found in caught.value.problems] == [
        ("PL-B030", 5, 17),
        ("PL-B014", 6, 40),
    ]


def test_a_key_given_twice_in_json_is_told_too() -> None:
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(
            MAIN, Texts({MAIN: '{"tosca_definitions_version": "cloudify_dsl_1_4",\n "inputs": {"a": {}, "a": {}}}'})
        )
    assert [(found.code, found.place.line) for found in caught.value.problems] == [("PL-B005", 2)]


def test_a_mistake_in_json_that_is_no_yaml_is_told_at_its_place_too() -> None:
    halves = r"\ud83d\ude00"
    text = f'{{"tosca_definitions_version": "cloudify_dsl_1_4", "description": "{halves}", "node_templates": 5}}'
    with pytest.raises(ProblemsError) as caught:
        read_blueprint(MAIN, Texts({MAIN: text}))
    assert [(found.code, found.place.line) for found in caught.value.problems] == [("PL-B015", 1)]
