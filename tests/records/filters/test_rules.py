"""Rules of filters: the text of the command line and JSON give equal rules, and are printed back (LB3)."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.model.problems.problem import ProblemsError
from phaseline.records.filters.row_attributes import RULE_ATTRIBUTES
from phaseline.records.filters.rules import (
    ATTRIBUTE_OPERATORS,
    LABEL_OPERATORS,
    MOST_RULES,
    MOST_VALUES,
    WITHOUT_VALUES,
    FilterRule,
    parse_rules,
    rule_object,
    rules_of_json,
    text_of_rule,
)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("env=prod", FilterRule("env", "any_of", ("prod",))),
        ("Env = [ a , b ]", FilterRule("env", "any_of", ("a", "b"))),
        ("env!=prod", FilterRule("env", "not_any_of", ("prod",))),
        ("env is-not [a,b]", FilterRule("env", "is_not", ("a", "b"))),
        ("env is null", FilterRule("env", "is_null")),
        ("env is  not null", FilterRule("env", "is_not_null")),
        ("csys-consumer-id=app", FilterRule("csys-consumer-id", "any_of", ("app",))),
        ("id starts-with web", FilterRule("id", "starts_with", ("web",), "attribute")),
        ("label:id=web", FilterRule("id", "any_of", ("web",))),
        ("created_by does-not-contain x", FilterRule("created_by", "not_contains", ("x",), "attribute")),
        ("site_name is not empty", FilterRule("site_name", "is_not_empty", (), "attribute")),
    ],
)
def test_lb3_the_text_of_a_rule(text: str, rule: FilterRule) -> None:
    assert parse_rules([text]) == (rule,)
    assert parse_rules([str(rule)]) == (rule,)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (r"k=a\,b", ("a,b",)),
        (r"k=[a\,b,c]", ("a,b", "c")),
        (r"k=a\:b", ("a:b",)),
        (r"k=[a\:b,c:d]", ("a:b", "c:d")),
        (r"k=\[a\]", ("[a]",)),
        (r"k=a\\b", ("a\\b",)),
        ("k=a=b", ("a=b",)),
    ],
)
def test_a64_signs_with_a_meaning_are_written_with_a_backslash(text: str, values: tuple[str, ...]) -> None:
    (rule,) = parse_rules([text])
    assert rule.values == values
    assert parse_rules([text_of_rule(rule)]) == (rule,)


@st.composite
def rules(draw: st.DrawFn) -> FilterRule:
    is_label = draw(st.booleans())
    operator = draw(st.sampled_from(LABEL_OPERATORS if is_label else ATTRIBUTE_OPERATORS))
    key = draw(st.sampled_from(["env", "id", "a.b-c_1"] if is_label else RULE_ATTRIBUTES["deployments"]))
    text = st.text(st.sampled_from("ab,:[]\\= !\u00e4"), min_size=1, max_size=6)
    values = () if operator in WITHOUT_VALUES else tuple(draw(st.lists(text, min_size=1, max_size=3, unique=True)))
    return FilterRule(key, operator, values, "label" if is_label else "attribute")


@given(st.lists(rules(), max_size=4))
def test_lb3_what_is_printed_is_read_as_the_same_rules(drawn: list[FilterRule]) -> None:
    assert list(parse_rules([text_of_rule(rule) for rule in drawn])) == drawn
    assert list(rules_of_json([rule_object(rule) for rule in drawn])) == drawn


@pytest.mark.parametrize(
    ("text", "code", "told"),
    [
        ("env=", "PL-C150", "has no value"),
        ("env=[]", "PL-C150", "has no value"),
        ("env=[a,,b]", "PL-C150", "has no value"),
        ("env is null x", "PL-C150", "no operator"),
        ("id containz x", "PL-C150", "did you mean 'contains'"),
        ("foo contains x", "PL-C151", "no attribute 'foo'"),
        ("tenant_nam starts-with x", "PL-C151", "did you mean 'tenant_name'"),
        ("site_name is null", "PL-C150", "no operator 'is_null' for an attribute"),
        ("env=" + "x" * 257, "PL-C150", "at most 256"),
        ("env=a\x07", "PL-C150", "control"),
        ("csys-location-lat=91", "PL-C150", "from -90 to 90"),
        ("env=[a", "PL-C150", "cannot be read"),
        ("env=a,b", "PL-C150", "cannot be read"),
        ("env", "PL-C150", "is no rule"),
        ("", "PL-C150", "is no rule"),
        ("a b=c", "PL-C150", "is no rule"),
    ],
)
def test_lb3_what_is_no_rule_is_refused_with_the_way(text: str, code: str, told: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_rules([text])
    (problem,) = caught.value.problems
    assert problem.code == code
    assert told in f"{problem.message}; {problem.mend}"


@pytest.mark.parametrize(
    "rule",
    [
        7,
        {},
        {"key": "env"},
        {"key": 1, "operator": "any_of"},
        {"key": "env", "operator": "any_of", "values": []},
        {"key": "env", "operator": "any_of", "values": "prod"},
        {"key": "env", "operator": "is_null", "values": ["x"]},
        {"key": "env", "operator": "any_off", "values": ["x"]},
        {"key": "env", "operator": "any_of", "values": ["x"], "type": "labelz"},
        {"key": "env", "operator": "any_of", "values": ["x"], "more": 1},
        {"key": "env", "operator": "any_of", "values": [str(number) for number in range(MOST_VALUES + 1)]},
    ],
)
def test_lb3_json_that_is_no_rule_is_refused(rule: object) -> None:
    with pytest.raises(ProblemsError) as caught:
        rules_of_json([rule])
    assert [problem.code for problem in caught.value.problems] == ["PL-C150"]


def test_lb3_all_wrong_rules_are_reported_together() -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_rules(["env=", "env=prod", "foo contains x"])
    assert [problem.code for problem in caught.value.problems] == ["PL-C150", "PL-C151"]


def test_lb3_rules_and_values_are_bounded() -> None:
    with pytest.raises(ProblemsError, match=r"at most 50 rules"):
        parse_rules(["env=prod"] * (MOST_RULES + 1))
    with pytest.raises(ProblemsError, match=r"a list"):
        rules_of_json({"key": "env"})


@given(st.text(max_size=20))
def test_lb3_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ProblemsError):
        (rule,) = parse_rules([f"k={text}"])
        assert parse_rules([text_of_rule(rule)]) == (rule,)
