"""Tests of rows have three results (LB4)."""

from __future__ import annotations

import pytest

from phaseline.model.rows.row_tests import AllOf, AnyOf, NotThat, RowCheck, RowTest, verdict_of

YES, NO, UNKNOWN = (RowTest("env", "equals", text) for text in ("a", "z", "?"))


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        (YES, True),
        (UNKNOWN, None),
        (NotThat(NO), True),
        (NotThat(UNKNOWN), None),
        (AllOf((YES, UNKNOWN)), None),
        (AllOf((UNKNOWN, NO)), False),
        (AnyOf((UNKNOWN, YES)), True),
        (AnyOf((NO, UNKNOWN)), None),
        (AllOf(()), True),
        (AnyOf(()), False),
    ],
)
def test_lb4_what_is_unknown_decides_nothing(check: RowCheck, verdict: bool | None) -> None:
    assert verdict_of(check, lambda test: () if test is UNKNOWN else ("A",)) is verdict


@pytest.mark.parametrize(
    ("kind", "verdicts"),
    [
        ("is", (False, True, False)),
        ("equals", (True, True, None)),
        ("starts", (False, True, None)),
        ("ends", (False, True, None)),
        ("contains", (False, True, None)),
        ("defined", (True, True, False)),
    ],
)
def test_lb4_each_kind_of_test(kind: str, verdicts: tuple[bool | None, ...]) -> None:
    test = RowTest("env", kind, "a", is_label=True)  # type: ignore[arg-type]  # one of its words
    assert tuple(verdict_of(test, lambda _, values=values: values) for values in (["A"], ["x", "a"], [])) == verdicts
