"""What a name may hold, and what its folder is called."""

import sys
from pathlib import Path

import pytest

from phaseline.model.problems.name_rules import MAX_NAME, are_names, folder_name, shown_name, why_no_name

GOOD = ["web", "web server 1", "..", "a\\b", "Datenbank-Größe", "网络", "מסד", "a\u00a0b", "x" * MAX_NAME, "a:b@c%d"]
BAD = [
    "a/b",
    "/",
    "../x",
    "a\0",
    "a\x1b[2J",
    "a\nb",
    "\x7f",
    "\x85",
    "a\u202eb",
    "\u2067x",
    "\ud800",
    "x" * (MAX_NAME + 1),
]
HOSTILE = [*GOOD, *BAD, "", ".", "...", "a/../../b", "/etc/passwd", "é" * MAX_NAME]


@pytest.mark.parametrize("name", GOOD)
def test_decision_33_all_else_may_stand_in_a_name(name: str) -> None:
    assert why_no_name(name) == ""
    assert are_names(GOOD)


@pytest.mark.parametrize("name", BAD)
def test_decision_33_orders_paths_and_long_names_are_none(name: str) -> None:
    assert why_no_name(name)
    assert not are_names([*GOOD, name])
    assert shown_name(name).isprintable()


@pytest.mark.parametrize("name", HOSTILE)
def test_decision_33_a_folder_of_a_name_lies_in_its_folder(name: str, tmp_path: Path) -> None:
    inside = tmp_path / folder_name(name)
    inside.mkdir()
    assert inside.resolve().parent == tmp_path.resolve()


def test_decision_33_two_names_never_share_a_folder_and_plain_ones_keep_theirs() -> None:
    folders = [folder_name(name) for name in HOSTILE]
    assert len(set(folders)) == len(HOSTILE)
    assert folder_name("net-1.0.2") == "net-1.0.2"
    assert folder_name("a/b") != folder_name("a%2fb")


def test_of_all_characters_just_these_are_in_no_name():
    ranges = ((0, 0x1F), (0x7F, 0x9F), (0x202A, 0x202E), (0x2066, 0x2069), (0xD800, 0xDFFF), (ord("/"), ord("/")))
    forbidden = {sign for first, last in ranges for sign in range(first, last + 1)}
    assert {sign for sign in range(sys.maxunicode + 1) if why_no_name(chr(sign))} == forbidden
