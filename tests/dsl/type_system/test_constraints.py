"""B14: constraints of inputs and parameters."""

import time
from collections.abc import Mapping

import pytest
from tests.dsl.readers import numbers, problems, read

from phaseline.dsl.deployment.inputs import complete_inputs
from phaseline.dsl.deployment.parameters import merge_parameters
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.problems.problem import Problem, ProblemsError


class Known:
    """A ``Lookup`` of things by type, which notes what it is asked."""

    def __init__(self, deployment: str | None, **things: list[Value]) -> None:
        self.deployment = deployment
        self.things = things
        self.asked: list[tuple[str, Value, Mapping[str, Value]]] = []

    def has(self, kind: str, value: Value, filters: Mapping[str, Value]) -> bool:
        self.asked.append((kind, value, filters))
        return value in self.things.get(kind, [])


def wrong(declared: str, value: Value, lookup: Known | None = None, more: str = "", minor: int = 5) -> Problem | None:
    """What is wrong with a value of an input; None if it is taken."""
    blueprint = read(f"inputs: {{i: {declared}{more}}}", minor=minor)
    try:
        complete_inputs(blueprint, {"i": value}, lookup=lookup)
    except ProblemsError as error:
        (problem,) = error.problems
        return problem
    return None


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        ("equal: 3", [3, 3.0], [2, "3"]),
        ("greater_than: 3", [3.5, 4], [3, 2]),
        ("greater_or_equal: 3", [3, 4], [2.9]),
        ("less_than: 3", [2], [3, 4]),
        ("less_or_equal: 3", [3, 2], [3.1]),
        ("in_range: [1, 3]", [1, 2.5, 3], [0.9, 4]),
        ("valid_values: [a, 2, true]", ["a", 2, True], ["b", 1, False]),
        ("length: 2", ["ab", [1, 2], {"a": 1, "b": 2}], ["a", []]),
        ("min_length: 2", ["ab", "abc"], ["a", [1]]),
        ("max_length: 2", ["", "ab"], ["abc", {"a": 1, "b": 2, "c": 3}]),
        ("pattern: 'a+'", ["a", "aab"], ["ba", ""]),
    ],
)
def test_b14_each_operator(constraint: str, good: list[Value], bad: list[Value]) -> None:
    for value in good:
        assert wrong(f"{{constraints: [{{{constraint}}}]}}", value) is None
    for value in bad:
        found = wrong(f"{{constraints: [{{{constraint}}}]}}", value)
        assert found is not None
        assert (found.code, found.cloudify_code, found.cloudify_class) == ("PL-B088", None, "ConstraintException")
        assert constraint.split(":", maxsplit=1)[0] in found.message


@pytest.mark.parametrize(
    ("constraint", "value"),
    [
        ("greater_than: 3", "a"),
        ("less_than: 3", [1]),
        ("in_range: [1, 3]", "a"),
        ("length: 3", 5),
        ("min_length: 1", True),
        ("pattern: a", 5),
    ],
)
def test_b14_what_cannot_be_compared_or_has_no_length_is_a_violation_and_no_python_error(
    constraint: str, value: Value
) -> None:
    found = wrong(f"{{constraints: [{{{constraint}}}]}}", value)
    assert found is not None
    assert (found.code, found.cloudify_class) == ("PL-B088", "ConstraintException")
    assert "cannot be tried with" in found.message


def test_b14_all_constraints_count() -> None:
    declared = "{constraints: [{greater_than: 3}, {less_than: 5}]}"
    assert wrong(declared, 4) is None
    assert "less_than" in str(wrong(declared, 6))
    assert "greater_than" in str(wrong(declared, 3))


@pytest.mark.parametrize(
    ("constraint", "number"),
    [
        ("nope: 3", 103),
        ("", 103),
        ("length: 3, min_length: 2", 103),
        ("error_message: a", 103),
        ("equal: a", 212),
        ("equal: true", 212),
        ("greater_than: '3'", 212),
        ("in_range: 3", 212),
        ("in_range: [1]", 212),
        ("in_range: [1, a]", 212),
        ("valid_values: a", 212),
        ("max_length: a", 212),
        ("pattern: '['", 212),
        ("pattern: 5", 212),
        ("filter_id: 5", 212),
        ("labels: a", 212),
        ("tenants: {a: 1}", 212),
        ("name_pattern: a", 212),
        ("deployment_id: [a]", 212),
        ("length: 3, error_message: 5", 1),
    ],
)
def test_b14_unknown_operators_are_103_and_wrong_arguments_212(constraint: str, number: int) -> None:
    text = f"inputs:\n  i:\n    constraints:\n      - {{{constraint}}}\n"
    (found,) = problems(text, minor=5)
    assert found.cloudify_code == number
    assert found.place.line == 6


def test_b14_a_constraint_is_a_mapping_in_a_list() -> None:
    assert numbers("inputs: {i: {constraints: [5]}}") == [1]
    assert numbers("inputs: {i: {constraints: {length: 3}}}") == [1]


def test_b14_a_message_of_ones_own_is_told_from_1_5_on() -> None:
    declared = "{constraints: [{length: 3, error_message: write three letters}]}"
    found = wrong(declared, "ab")
    assert found is not None
    assert "write three letters" in found.message
    assert numbers(f"inputs: {{i: {declared}}}", minor=4) == [102]


def test_b14_a_misspelt_operator_is_told_what_was_meant() -> None:
    (found,) = problems("inputs: {i: {constraints: [{min_lenght: 3}]}}")
    assert found.mend == "did you mean 'min_length'?"


def test_b14_defaults_are_checked_when_the_blueprint_is_read() -> None:
    (found,) = problems("inputs:\n  i: {constraints: [{greater_than: 3}], default: 2}\n")
    assert (found.code, found.cloudify_class, found.place.path) == (
        "PL-B088",
        "ConstraintException",
        "inputs.i.default",
    )
    assert numbers("inputs: {i: {constraints: [{greater_than: 3}], default: 4}}") == []


def test_b14_a_constrained_input_may_not_be_given_a_function_else_213() -> None:
    found = wrong("{constraints: [{greater_than: 3}]}", {"get_input": "j"}, more=", j: {default: 4}")
    assert found is not None
    assert (found.code, found.cloudify_code, found.cloudify_class) == ("PL-B093", 213, "DSLParsingException")
    text = "inputs: {i: {constraints: [{greater_than: 3}], default: {get_input: j}}, j: {default: 4}}"
    (found,) = problems(text)
    assert (found.code, found.cloudify_code) == ("PL-B093", 213)


def test_b14_an_argument_may_be_a_function_which_is_known_when_values_are_given() -> None:
    declared = "{constraints: [{greater_than: {get_input: j}}]}"
    assert wrong(declared, 5, more=", j: {default: 4}") is None
    assert "greater_than: 4" in str(wrong(declared, 4, more=", j: {default: 4}"))


def test_b14_an_argument_that_no_input_gives_is_told() -> None:
    found = wrong("{constraints: [{greater_than: {get_input: k}}]}", 5)
    assert found is not None
    assert found.code == "PL-B071"


def test_b14_with_an_item_type_each_item_is_checked() -> None:
    declared = "{type: list, item_type: integer, constraints: [{greater_than: 3}]}"
    assert wrong(declared, [4, 5]) is None
    found = wrong(declared, [4, 2])
    assert found is not None
    assert (found.code, found.place.subject) == ("PL-B088", "inputs.i[1]")


def test_b14_without_an_item_type_the_list_is() -> None:
    assert wrong("{type: list, constraints: [{length: 2}]}", [1, 2]) is None


def test_b14_an_input_that_is_not_given_and_not_required_breaks_nothing() -> None:
    assert complete_inputs(read("inputs: {i: {required: false, constraints: [{length: 2}]}}"), {}) == {"i": None}


def test_b14_parameters_of_workflows_have_constraints_too() -> None:
    text = """
    plugins: {p: {executor: central_deployment_agent, install: false}}
    workflows:
      go: {mapping: p.a.b, parameters: {n: {type: integer, constraints: [{in_range: [1, 3]}]}}}
    """
    workflow = read(text).workflows["go"]
    assert merge_parameters(workflow, {"n": "2"}) == {"n": 2}
    with pytest.raises(ProblemsError, match="in_range"):
        merge_parameters(workflow, {"n": 4})


@pytest.mark.parametrize("kind", ["deployment_id", "blueprint_id", "secret_key", "node_id", "node_instance"])
def test_b14_values_of_object_types_are_looked_up(kind: str) -> None:
    known = Known("here", **{kind: ["a"]})
    assert wrong(f"{{type: {kind}}}", "a", known) is None
    found = wrong(f"{{type: {kind}}}", "b", known)
    assert found is not None
    assert (found.code, found.cloudify_class) == ("PL-B088", "ConstraintException")
    assert known.asked == [(kind, "a", {}), (kind, "b", {})]


def test_b14_constraints_of_object_types_choose_and_the_others_look_at_the_value() -> None:
    known = Known(None, deployment_id=["abc"])
    declared = (
        "{type: deployment_id, constraints: [{labels: [{a: b}]}, {name_pattern: {contains: b}}, {max_length: 3}]}"
    )
    assert wrong(declared, "abc", known) is None
    assert known.asked == [("deployment_id", "abc", {"labels": [{"a": "b"}], "name_pattern": {"contains": "b"}})]
    assert "max_length" in str(wrong(declared, "abcd", known))


@pytest.mark.parametrize(
    "kind", ["scaling_group", "operation_name", "node_id", "node_type", "capability_value", "node_instance"]
)
def test_b14_what_a_deployment_has_needs_the_deployment(kind: str) -> None:
    known = Known(None, **{kind: ["a"]})
    assert "'deployment_id'" in str(wrong(f"{{type: {kind}}}", "a", known))
    assert wrong(f"{{type: {kind}, constraints: [{{deployment_id: d}}]}}", "a", known) is None


def test_b14_a_choosing_constraint_on_another_type_is_a_violation() -> None:
    found = wrong("{constraints: [{name_pattern: {contains: a}}]}", "a", Known(None))
    assert found is not None
    assert "cannot choose among values of type any" in found.message


def test_b14_patterns_may_look_ahead_at_their_beginning() -> None:
    declared = "{constraints: [{pattern: '^(?=.*[A-Z])(?=.*[0-9)])(?!x).{4,}$'}]}"
    for good in ("Abc1", "aB3d", "ab)A"):
        assert wrong(declared, good) is None
    for bad in ("abc1", "Abcd", "A1", "xA11"):
        assert wrong(declared, bad) is not None


def test_b14_a_pattern_that_would_take_for_ever_takes_no_time() -> None:
    begun = time.process_time()
    assert wrong("{constraints: [{pattern: '(a+)+$'}]}", "a" * 5000 + "b") is not None
    assert time.process_time() - begun < 2
