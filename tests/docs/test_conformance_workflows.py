"""``docs/conformance-workflows.md``: every sentence of source document 3 has a verdict and tests, and they are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| ([OIUESHXCAP]\d+) \|.*\| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
ROWS = ROW.findall((ROOT / "docs" / "conformance-workflows.md").read_text("utf-8"))
NAMES = {
    name
    for file in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE)
}
EXPECTED = {"O": 4, "I": 7, "U": 6, "E": 10, "S": 6, "H": 12, "X": 5, "C": 11, "A": 1, "P": 18}
"""How many sentences each part has."""


@pytest.mark.parametrize(("row", "verdict", "tests"), ROWS, ids=[row[0] for row in ROWS])
def test_a_sentence_has_a_verdict_and_tests(row: str, verdict: str, tests: str) -> None:
    assert verdict.strip().startswith(("as written", "otherwise")), row
    words = re.findall(r"`(\w+)`", tests)
    assert words
    assert [word for word in words if not any(word in name for name in NAMES)] == [], row


def test_no_sentence_is_left_out() -> None:
    numbers = [row[0] for row in ROWS]
    assert numbers == [f"{part}{number}" for part, count in EXPECTED.items() for number in range(1, count + 1)]
