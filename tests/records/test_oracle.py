"""The language against its reference implementation: what differs stands in a table, and everything in the table differs."""

import csv
import re
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.records.oracle import ours, reference

CASES = Path(__file__).resolve().parents[1] / "cases" / "expressions"
CORPUS = CASES.joinpath("corpus.txt").read_text("utf-8").splitlines()


pytestmark = pytest.mark.usefixtures("utc")


def differences() -> dict[str, dict[str, str]]:
    with CASES.joinpath("differences.tsv").open(encoding="utf-8", newline="") as file:
        return {row["expression"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


DIFFERENCES = differences()


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
