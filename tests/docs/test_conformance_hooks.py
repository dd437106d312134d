"""``docs/conformance-hooks.md``: every case of the specification of hooks has its tests, and they are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROWS = dict(re.findall(r"^\| H(\d+) \|(.*)\|$", (ROOT / "docs/conformance-hooks.md").read_text("utf-8"), re.MULTILINE))
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"def (test_\w+)", path.read_text("utf-8"))
}
DROPPED = {"11"}


def test_no_case_is_left_out_and_none_is_made_up() -> None:
    assert list(ROWS) == [str(number) for number in range(1, 53) if str(number) not in DROPPED]


@pytest.mark.parametrize("number", ROWS)
def test_a_case_names_tests_that_bear_its_number(number: str) -> None:
    named = re.findall(r"`(test_\w+)`", ROWS[number])
    assert named
    assert [name for name in named if name not in TESTS or not re.match(rf"test_(?:[a-z]+\d+_)*h{number}_", name)] == []
