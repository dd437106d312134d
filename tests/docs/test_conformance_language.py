"""``docs/conformance-language.md``: every rule of the specification of blueprints, and the files with its tests."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| (\w+) \| (.+) \| `(\w+)` \| (.+) \|$", re.MULTILINE)
ROWS = {
    number: (word, files)
    for number, _, word, files in ROW.findall((ROOT / "docs/conformance-language.md").read_text("utf-8"))
}
RULES = {
    *(f"B{number}" for number in (*range(1, 9), *range(10, 28), *range(30, 35), *range(40, 43), 50, 51)),
    "B6a",
    *(f"N{number}" for number in range(1, 9)),
    "7",
    "15",
    "WD1",
    *(f"D{number}" for number in (15, 27, 28, 29, 30)),
}


def words(text: str) -> set[str]:
    """The words of the names of tests; ``b8`` and ``b08`` are one."""
    found = {word for name in re.findall(r"def test_(\w+)", text) for word in name.split("_")}
    return {re.sub(r"^b(\d)(?=a?$)", r"b0\1", word) for word in found}


WORDS = {
    path.relative_to(ROOT / "tests").as_posix(): words(path.read_text("utf-8"))
    for path in (ROOT / "tests").rglob("test_*.py")
}


def test_no_rule_is_left_out_and_none_is_made_up() -> None:
    assert set(ROWS) == RULES


@pytest.mark.parametrize("number", ROWS)
def test_the_files_that_a_rule_names_play_it(number: str) -> None:
    word, written = ROWS[number]
    files = re.findall(r"`([\w/.]+)`", written)
    assert files
    assert [file for file in files if word not in WORDS.get(file, ())] == []
