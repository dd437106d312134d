"""``docs/conformance-phases.md``: every number of the specification of phases has its tests, and they are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| ([A-Z]+\d+) \|(.*)\|$", re.MULTILINE)
ROWS = dict(ROW.findall((ROOT / "docs" / "conformance-phases.md").read_text("utf-8")))
TESTS = sorted(
    {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))
    }
)
NUMBERS = {
    "R": range(1, 16),
    "T": range(1, 20),
    "PD": range(1, 55),
    "X": (*range(1, 8), *range(11, 15)),
    "P": range(1, 114),
}


def of_case(number: int) -> list[str]:
    """The tests whose names say that they play this case: ``test_p25_…``, ``test_p01_p73_…``."""
    return [name for name in TESTS if re.match(rf"test_(?:[a-z]+\d+_)*p0?{number}_", name)]


def named(row: str) -> list[str]:
    return re.findall(r"`(test_\w+)`", row)


def test_no_number_is_left_out_and_none_is_made_up() -> None:
    assert set(ROWS) == {f"{kind}{number}" for kind, numbers in NUMBERS.items() for number in numbers}


@pytest.mark.parametrize("number", ROWS)
def test_what_is_named_is_there(number: str) -> None:
    assert named(ROWS[number])
    assert set(named(ROWS[number])) <= set(TESTS)


@pytest.mark.parametrize("number", NUMBERS["P"])
def test_a_case_names_all_tests_that_bear_its_number(number: int) -> None:
    assert named(ROWS[f"P{number}"]) == of_case(number)
