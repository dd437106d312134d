"""Expressions made at random, over all functions and scopes: whatever differs from the reference is a listed difference."""

import csv
import random

import pytest
from tests.records.drawn import SHARED, compare, drawn
from tests.records.test_oracle import CASES

COUNT = 1_000


pytestmark = pytest.mark.usefixtures("utc")


def test_p89_expressions_drawn_over_all_functions_and_scopes_agree_but_for_what_is_listed() -> None:
    chance = random.Random(1)
    found = [difference for difference in (compare(drawn(chance)) for _ in range(COUNT)) if difference is not None]
    assert [one for one in found if not one.reason] == []
    assert {one.reason for one in found} <= listed()


def listed() -> set[str]:
    with CASES.joinpath("differences.tsv").open(encoding="utf-8", newline="") as file:
        return {row["reason"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


@pytest.mark.parametrize(
    "text",
    [
        "[a = 1; b = [c = 2]].b.a",
        "[b = [c = foo]].b.foo",
        'stringListMember(undefined, "a, b")',
        'stringListMember("a", undefined)',
        "join(undefined, undefined)",
        'join(",", {undefined})',
        'join("x", {"", "b"})',
        "member(undefined, error)",
        "substr(undefined, error)",
        "strcmp(error, undefined)",
        "anyCompare(undefined, error, 1)",
        "member([a = 1], {1})",
        "absTime(relTime(1.7))",
        "max({true})",
    ],
)
def test_p89_what_once_differed_and_was_not_listed_agrees(text: str) -> None:
    assert compare(text) is None


def test_all_functions_but_ours_and_the_clock_are_drawn() -> None:
    chance = random.Random(1)
    texts = [drawn(chance) for _ in range(3_000)]
    assert [name for name in SHARED if not any(f"{name}(" in text for text in texts)] == []
