"""The language of conditions: what it means, and what is said where a text means nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.packages.format.condition_language import MAX_NESTING, MAX_TEXT, holds, parsed, value_of
from phaseline.packages.languages.slow_languages import ConditionError

MODELS = {"settings": {"a": {"value": "x"}, "n": 3, "list": ["x", "y"], "no": False}, "cluster": {"mode": "ha"}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("settings:a.value == 'x'", True),
        ('settings:a.value != "x"', False),
        ("settings:n == 3 and cluster:mode == 'ha'", True),
        ("settings:n == -3 or cluster:mode == 'ha'", True),
        ("'x' in settings:list", True),
        ("'z' in settings:list or false", False),
        ("'h' in cluster:mode", True),
        ("3 in cluster:mode", False),
        ("settings:list in settings:list", False),
        ("3 in settings:n", False),
        ("not settings:no", True),
        ("not (settings:n == 3)", False),
        ("not settings:n == 3", False),
        ("not settings:no == true", True),
        ("settings:nowhere.at.all == null", True),
        ("settings:nowhere?", None),
        ("true", True),
        ("false or null", None),
        ("true or settings:nowhere", True),
        ("1 == 1 == true", True),
        ("settings:n", 3),
        ("'' == \"\"", True),
        ("true and false or true", True),
        ("true or true and false", True),
    ],
)
def test_a_condition_means(text: str, value: object) -> None:
    assert value_of(text, MODELS) == value


def test_a_condition_that_says_nothing_holds() -> None:
    assert holds("  ", {})


def test_an_unknown_path_is_null_unless_somebody_is_strict() -> None:
    assert holds("settings:x == null", MODELS)
    assert holds("settings:x? == null", MODELS, strict=True)
    with pytest.raises(ConditionError, match="there is no value at settings:x"):
        holds("settings:x == null", MODELS, strict=True)


def test_what_is_decided_already_is_not_asked() -> None:
    assert holds("true or settings:x", MODELS, strict=True)
    assert not holds("false and settings:x", MODELS, strict=True)


@pytest.mark.parametrize(
    ("text", "reason", "mend"),
    [
        ("settings:a ==", "it ends too early", "write what is missing"),
        ("", "it ends too early", "write what is missing"),
        ("settings:a = 3", "'=' is not expected there", "use =="),
        ("settings:a & 3", "'&' is not expected there", "use and"),
        ("settings:a < 3", "'<' is not expected there", "use == != and or"),
        ("settings:a == 'x", "''' is not expected there", "close the quotes"),
        ("settings:a == x", "'x' is not expected there", "put it into quotes if it is a text: 'x'"),
        ("(true", "it ends too early", "write what is missing"),
        ("(true false)", "'false' is not expected there", "put it"),
        ("true)", "')' is not expected there", "use == !="),
        ("or", "'or' is not expected there", ""),
        ("5x", "'5' is not expected there", ""),
        ("settings:", "'settings' is not expected there", ""),
    ],
)
def test_a_text_that_is_no_condition_is_told_so(text: str, reason: str, mend: str) -> None:
    with pytest.raises(ConditionError) as said:
        parsed(text)
    assert said.value.reason == reason
    assert mend in said.value.mend


def test_bounds_of_a_condition() -> None:
    with pytest.raises(ConditionError, match="levels deep"):
        parsed("(" * (MAX_NESTING + 2) + "true" + ")" * (MAX_NESTING + 2))
    with pytest.raises(ConditionError, match="characters"):
        parsed("true or " * MAX_TEXT + "true")
    assert holds(" or ".join(["false"] * 400 + ["true"]), {})
    assert holds("==".join(["1"] * 1_301), {})


def test_a_condition_names_what_it_asks_for() -> None:
    assert parsed("settings:a.b == 1 or not (settings:c? or settings:a.b)").paths == ("settings:a.b", "settings:c")


@given(st.text("settings:ab.?='\"()!& notinradtruel0-3\n\t", max_size=60))
def test_no_text_brings_more_than_a_reason(text: str) -> None:
    try:
        holds(text, MODELS, strict=True)
        said = ("", "")
    except ConditionError as error:
        said = (error.reason, error.mend)
    assert bool(said[0]) == bool(said[1])
