"""The language against its reference implementation: what differs stands in a table, and everything in the table differs."""

import csv
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import classad2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phaseline.model.problem import ProblemsError
from phaseline.records.expression import Expression
from phaseline.records.record import Record
from phaseline.records.unparsing import value_text
from phaseline.records.values import ErrorValue

CASES = Path(__file__).resolve().parents[1] / "cases" / "expressions"
CORPUS = CASES.joinpath("corpus.txt").read_text("utf-8").splitlines()
ATTRIBUTES = {"foo": 3, "x": 5}
classad2.ExprTree("[]").eval()  # the first record that the reference makes brings half of its functions


@pytest.fixture(autouse=True, scope="module")
def utc() -> Iterator[None]:
    """The reference reads times that name no zone as times of this machine, ours as UTC."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def differences() -> dict[str, dict[str, str]]:
    with CASES.joinpath("differences.tsv").open(encoding="utf-8", newline="") as file:
        return {row["expression"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


DIFFERENCES = differences()


def reference(text: str) -> str:
    """What the reference gives, in our words."""
    try:
        tree = classad2.ExprTree(text)
    except classad2.ClassAdException:
        return "refused"
    try:
        return reference_text(tree.eval(classad2.ClassAd(ATTRIBUTES)))
    except UnicodeDecodeError:
        return "raised"


def reference_text(value: object) -> str:
    if value is classad2.Value.Undefined:
        return "undefined"
    if value is classad2.Value.Error:
        return "error"
    if isinstance(value, list):
        return "{" + ", ".join(reference_text(item) for item in value) + "}"
    if isinstance(value, classad2.ClassAd):
        return "[" + "; ".join(sorted(f"{name} = {reference_text(value.eval(name))}" for name in value)) + "]"
    if isinstance(value, classad2.ExprTree):
        return reference_text(value.eval())
    return plain_text(value)


def ours(text: str) -> str:
    try:
        return our_text(Expression(text).evaluate(Record(ATTRIBUTES), now=1e9))
    except ProblemsError:
        return "refused"


def our_text(value: object) -> str:
    if isinstance(value, ErrorValue):
        return "error"
    if isinstance(value, tuple):
        return "{" + ", ".join(our_text(item) for item in value) + "}"
    if isinstance(value, Record):
        return "[" + "; ".join(sorted(f"{name} = {our_text(value.get(name))}" for name in value)) + "]"
    return plain_text(value)


def plain_text(value: object) -> str:
    """The reference gives durations in seconds and times in UTC."""
    if isinstance(value, timedelta):
        return value_text(value.total_seconds())
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value_text(value)


@pytest.mark.parametrize("text", [text for text in CORPUS if text not in DIFFERENCES])
def test_p89_the_corpus_agrees_with_the_reference(text: str) -> None:
    assert ours(text) == reference(text)


@pytest.mark.parametrize("text", DIFFERENCES)
def test_p89_each_listed_difference_is_one(text: str) -> None:
    row = DIFFERENCES[text]
    assert text in CORPUS
    assert (reference(text), ours(text)) == (row["reference"], row["ours"])
    assert row["reference"] != row["ours"]
    assert row["reason"]


WORDS = ("true", "false", "undefined", "error")
LOGIC = [f"{left} {sign} {right}" for left, sign, right in product(WORDS, ("&&", "||"), WORDS)]


@pytest.mark.parametrize("text", [*LOGIC, *(f"!{word}" for word in WORDS)])
def test_p87_the_three_valued_table_is_that_of_the_reference(text: str) -> None:
    assert ours(text) == reference(text)


ATOMS = st.sampled_from(
    [
        "0",
        "1",
        "2",
        "7",
        "2.5",
        '"a"',
        '"A"',
        '"b"',
        "true",
        "false",
        "undefined",
        "error",
        "foo",
        "x",
        "none",
        "{1, 2}",
    ]
)
SIGNS = st.sampled_from(["+", "-", "*", "/", "%", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||", "?:"])
IDENTITY = st.sampled_from(["is", "isnt", "=?=", "=!="])
SCALARS = ATOMS.filter(lambda atom: atom != "{1, 2}")
REFUSED_SIGN = re.compile(r"\?: [-!+~]")
"""What the reference cannot read, and we can; it stands in the table."""
PARTS = st.recursive(
    SCALARS | st.builds("{} {} {}".format, SCALARS, IDENTITY, SCALARS).map("({})".format),
    lambda inner: (
        st.builds("({} {} {})".format, inner, SIGNS, inner)
        | st.builds("({} ? {} : {})".format, inner, inner, inner)
        | st.builds("{}{}".format, st.sampled_from(["!", "-", "+", "~"]), inner)
        | st.builds("ifThenElse({}, {}, {})".format, inner, inner, inner)
        | st.builds("member({}, {{{}, {}}})".format, inner, inner, inner)
    ),
    max_leaves=8,
)


@settings(max_examples=400, deadline=None)
@given(PARTS.filter(lambda text: not REFUSED_SIGN.search(text)))
def test_p89_expressions_made_at_random_agree_with_the_reference(text: str) -> None:
    assert ours(text) == reference(text)
