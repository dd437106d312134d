"""``docs/conformance-packages.md``: every case of the specification of packages has its tests, and they are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = dict(
    re.findall(r"^\| F(\d+) \|(.*)\|$", (ROOT / "docs/conformance-packages.md").read_text("utf-8"), re.MULTILINE)
)
TESTS = sorted(
    {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))
    }
)


def test_no_case_is_left_out_and_none_is_made_up() -> None:
    assert list(ROWS) == [str(number) for number in range(1, 53)]


@pytest.mark.parametrize("number", ROWS)
def test_a_case_names_all_tests_that_bear_its_number(number: str) -> None:
    named = re.findall(r"`(test_\w+)`", ROWS[number])
    assert named
    assert named == [name for name in TESTS if re.match(rf"test_(?:[a-z]+\d+_)*f0?{number}_", name)]
