"""Phrases that make readers guess only become fewer: in every room, in the pages, the errors and the ADRs.

The list is ``PATTERNS`` in ``prose.py``, the figures are in ``prose_bounds.txt``. To see the hits of a room run
``python -m tests.tidy.prose ROOM``; after removing some, or after a merge conflict, run it with ``--write``.
"""

from __future__ import annotations

import pytest
from tests.tidy.prose import Passage, as_text, bounds, figures, hits_in, in_python, room_of

REMEDY = "see the hits: python -m tests.tidy.prose ROOM; set lower bounds: python -m tests.tidy.prose --write"


def test_every_room_has_a_bound() -> None:
    assert list(bounds()) == list(figures()), REMEDY


@pytest.mark.parametrize("room", bounds())
def test_no_room_has_more_or_fewer_riddles_than_its_bound(room: str) -> None:
    """Equal, not at most: a commit that removes a phrase lowers the bound, so that the phrase cannot come back."""
    assert {room: figures()[room]} == {room: bounds()[room]}, REMEDY


def phrases(text: str) -> list[str]:
    return [f"{hit.line} {hit.phrase}" for hit in hits_in("a.md", iter([Passage(1, text)]))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Who fails\nholds nobody up.", ["1 who", "2 nobody"]),
        ("It is meant, stands and\ngoes\non.", ["1 is meant", "1 stands", "2 goes on"]),
        ("so many threads are alive at most", ["1 so many at most"]),
        ("kept as they are.", ["1 as they are"]),
        ("as they are read", []),
        ("The standard says", ["1 says"]),
        ("It stands for a list, and stands in for a cloud.", []),
        ("told apart", []),
        ("`who`, ``nobody`` and [a page](docs/who-says.md)", []),
        ('The document says "whoever is told".', ["1 says"]),
        ("a\n```console\n$ whoami says\nwho\n```\nwho", ["6 who"]),
    ],
)
def test_phrases_of_a_page_are_found(text: str, found: list[str]) -> None:
    assert phrases(text) == found


def test_prose_of_a_module_is_its_comments_docstrings_and_messages() -> None:
    text = '''"""Modules.

Who reads it.

>>> who(is_it)
"""
# who goes
# on here
who = "who"
MESSAGE = f"{who} says: " + f"nobody {'told by somebody'} waits"
'''
    assert [f"{hit.line} {hit.phrase}" for hit in hits_in("a.py", in_python(text))] == [
        "7 who",
        "7 goes on",
        "3 who",
        "10 says",
        "10 nobody",
        "10 tells",
        "10 nobody",
    ]


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("README.md", "front"),
        ("docs/day-2.md", "docs"),
        ("docs/cli.md", ""),
        ("docs/adr/0001-pages.md", "docs/adr"),
        ("docs/demo/act-1.svg", ""),
        ("src/phaseline/plan/graph/drafts.py", "plan"),
        ("src/phaseline/planning.py", "planning.py"),
        ("src/phaseline/compat/cloudify/shim/cloudify/context.py", ""),
        ("tests/plan/test_a.py", ""),
    ],
)
def test_files_are_counted_in_rooms(path: str, room: str) -> None:
    assert room_of(path) == room


def test_bounds_are_written_as_they_are_read() -> None:
    assert as_text(bounds()) == as_text(figures()), REMEDY
