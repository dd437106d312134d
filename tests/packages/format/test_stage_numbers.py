"""Stages: exact numbers, and a hint for what was probably meant."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phaseline.packages.format.stage_numbers import MAX_NUMBER, WHOLE_FORM, StageNumber, mending, stage_of
from phaseline.packages.format.stage_ranges import RANGES, range_of, ranges_of


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        ("hw_configuration", "its tasks have the numbers 0-999, e.g. post_deployment/0"),
        ("monitoring/5", "its tasks have the numbers 8000-8999"),
        ("Pre_deployment/5", "did you mean pre_deployment/5?"),
        ("post_deploy", "did you mean post_deployment?"),
        ("post-deployment/x", "did you mean post_deployment/?"),
        ("post_deployment/1e3", "plain decimal numbers only"),
        ("post_deployment/1_0", "plain decimal numbers only"),
        ("post_deployment/-inf", "plain decimal numbers only"),
        ("post_deployment/NaN", "plain decimal numbers only"),
        ("post_deployment/", "write a number behind the slash, or leave it out: post_deployment"),
        ("post_deployment/5.", "write digits behind the point, or no point: post_deployment/5"),
        ("post_deployment/٥", "write the number with the digits 0 to 9"),
        ("post_deployment/" + "5" * (MAX_NUMBER + 1), "at most 100 characters"),
        (" post_deployment", "remove the white space"),
        ("post_deployment:", "use '/' as the separator"),
        (5.5, "a number alone names no stage: post_deployment/5.5?"),
    ],
)
def test_a_hint_says_what_was_probably_meant(value: object, hint: str) -> None:
    assert stage_of(value) is None
    said, _, found = mending(value).partition("\n  ")
    assert said == WHOLE_FORM
    assert hint in found


@pytest.mark.parametrize("value", [None, True, [], {}, "zzz", "post_deployment/--5"])
def test_there_is_no_hint_where_nothing_was_probably_meant(value: object) -> None:
    assert mending(value) == WHOLE_FORM


@given(st.decimals(allow_nan=False, allow_infinity=False, places=5))
def test_a_number_is_kept_exactly(number: Decimal) -> None:
    assert stage_of(f"pre_deployment/{number:f}") == StageNumber("pre_deployment", number)


def test_numbers_beyond_doubles_differ() -> None:
    one, other = stage_of("pre_deployment/9007199254740992"), stage_of("pre_deployment/9007199254740993")
    assert one is not None
    assert other is not None
    assert one.number < other.number


def test_a_number_lies_in_one_range_or_in_none() -> None:
    assert [range_of(Decimal(number)) for number in ("-1", "9000", "-0.5")] == [None, None, None]
    assert all(range_of(Decimal(each.first)) is each is range_of(Decimal(f"{each.last}.999")) for each in RANGES)


def test_groups_have_ranges() -> None:
    assert [each.text for each in ranges_of(("monitoring", "hypervisor"))] == ["8000-8999"]
    assert ranges_of(("equipment",)) == ()
