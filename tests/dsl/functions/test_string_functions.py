"""B41: functions that compute with what they are given."""

import pytest

from phaseline.dsl.functions.evaluation import MAX_PARTS, evaluate
from phaseline.dsl.functions.plan_and_runtime_scopes import StaticScope
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.problem import ProblemsError

SCOPE = StaticScope({"name": "Web-1", "number": 7, "more": {"b": 3, "c": 4}}, {})


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ({"concat": ["a", 1, True, None]}, "a1TrueNone"),
        ({"merge": [{"a": 1, "b": 2}, {"get_input": "more"}]}, {"a": 1, "b": 3, "c": 4}),
        ({"merge": [{"a": {"x": 1}}, {"a": {"y": 2}}]}, {"a": {"y": 2}}),
        ({"merge": []}, {}),
        ({"string_find": ["web-1", "-"]}, 3),
        ({"string_find": ["web-1", "+"]}, -1),
        ({"string_replace": ["a-b-c", "-", "_"]}, "a_b_c"),
        ({"string_replace": ["a-b-c", "-", "_", 1]}, "a_b-c"),
        ({"string_split": ["a,b", ","]}, ["a", "b"]),
        ({"string_split": ["a,b", ",", 1]}, "b"),
        ({"string_lower": {"get_input": "name"}}, "web-1"),
        ({"string_upper": {"get_input": "name"}}, "WEB-1"),
        ({"to_string": {"get_input": "number"}}, "7"),
        (
            {
                "string_split": [
                    {"concat": [{"get_input": "name"}, "-x"]},
                    "-",
                    {"get_input": ["more", "b"], "type": "integer"},
                ]
            },
            None,
        ),
    ],
)
def test_b41_texts_and_mappings_are_computed(value: Value, result: Value) -> None:
    if result is None:
        with pytest.raises(ProblemsError, match="none at 3"):
            evaluate(value, SCOPE)
    else:
        assert evaluate(value, SCOPE) == result


@pytest.mark.parametrize("name", ["concat", "merge", "string_find", "string_lower", "to_string"])
def test_b41_a_function_waits_while_a_part_of_it_is_one(name: str) -> None:
    later: Value = {"get_attribute": ["web", "ip"]}
    arguments: Value = later if name in {"string_lower", "to_string"} else [{"get_input": "name"}, later]
    found = evaluate({name: arguments}, SCOPE)
    assert found == {name: later if arguments is later else ["Web-1", later]}


@pytest.mark.parametrize(
    "value",
    [
        {"concat": {"get_input": "name"}},
        {"merge": {"get_input": "name"}},
        {"merge": [{"a": 1}, {"get_input": "name"}]},
        {"string_find": {"get_input": "name"}},
        {"string_find": [{"get_input": "number"}, "a"]},
        {"string_replace": ["a", "b", "c", {"get_input": "name"}]},
        {"string_split": ["a,b", ""]},
        {"string_split": ["a,b", ",", 2]},
        {"string_lower": {"get_input": "number"}},
        {"string_upper": {"get_input": "more"}},
    ],
)
def test_b41_what_cannot_be_computed_is_told_without_the_value(value: Value) -> None:
    with pytest.raises(ProblemsError) as caught:
        evaluate(value, SCOPE)
    (found,) = caught.value.problems
    assert (found.code, found.cloudify_class) == ("PL-B074", "FunctionEvaluationError")
    assert "Web-1" not in found.message


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"string_replace": ["a" * 10_000, "a", "b" * 2_000]}, "PL-B074"),
        ({"concat": [["a"] * (MAX_PARTS + 1)]}, "PL-B075"),
    ],
)
def test_b41_what_grows_beyond_all_bounds_is_refused_before_it_is_made(value: Value, code: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        evaluate(value, SCOPE)
    assert caught.value.problems[0].code == code
