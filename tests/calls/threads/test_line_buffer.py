"""Pieces of text as whole lines; of one that is too long its beginning (retention.md)."""

import pytest

from phaseline.calls.threads.line_buffer import MAX_LINE_CHARS, WholeLines

TEXT = "one\n\r\n" + "x" * (MAX_LINE_CHARS + 7) + "\ntwo\r\n" + "y" * MAX_LINE_CHARS + "\nlast"
LINES = [
    "one",
    "",
    "x" * MAX_LINE_CHARS + " ... 7 characters left out",
    "two",
    "y" * MAX_LINE_CHARS,
    "last",
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000, MAX_LINE_CHARS, 100_000])
def test_lines_are_the_same_in_whatever_pieces_they_come(size: int) -> None:
    lines = WholeLines()
    found = [line for at in range(0, len(TEXT), size) for line in lines.take(TEXT[at : at + size])]
    assert found + lines.rest() == LINES
    assert lines.rest() == []


def test_what_is_left_out_of_a_line_without_end_is_held_nowhere() -> None:
    lines = WholeLines()
    for _ in range(50):
        assert lines.take("z" * 100_000) == []
    assert len(lines._begun) == MAX_LINE_CHARS
    (line,) = lines.rest()
    assert line.endswith(f"z ... {5_000_000 - MAX_LINE_CHARS:,} characters left out")
