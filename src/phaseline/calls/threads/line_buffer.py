"""Splitting text that arrives in pieces into whole lines of limited length."""

from __future__ import annotations

MAX_LINE_CHARS = 9_900
"""The most characters kept of a line. With a prefix and a note about the rest, it still fits into a log line."""


class WholeLines:
    """Splits output into lines. Of a line that is too long, only the beginning is kept, with a note (retention.md)."""

    __slots__ = ("_begun", "_dropped")

    def __init__(self) -> None:
        self._begun = ""
        self._dropped = 0

    def take(self, text: str) -> list[str]:
        r"""Add text, and return the lines that are complete now, without their line ends.

        >>> lines = WholeLines()
        >>> lines.take("one\r\ntw"), lines.take("o\nthree"), lines.rest()
        (['one'], ['two'], ['three'])
        """
        first, *more = text.split("\n")
        self._begin(first)
        if not more:
            return []
        found = self.rest(is_ended=True)
        found += [_cut(line, 0) for line in more[:-1]]
        self._begin(more[-1])
        return found

    def rest(self, *, is_ended: bool = False) -> list[str]:
        """Return the incomplete line in a list and forget it; return an empty list if there is no such line.

        ``is_ended`` means that the line is complete, so that even an empty line is returned.
        """
        begun, dropped = self._begun, self._dropped
        self._begun, self._dropped = "", 0
        return [_cut(begun, dropped)] if begun or is_ended else []

    def _begin(self, text: str) -> None:
        room = MAX_LINE_CHARS - len(self._begun)
        if len(text) <= room:
            self._begun += text
        else:
            self._begun += text[:room]
            self._dropped += len(text) - room


def _cut(line: str, dropped: int) -> str:
    dropped += max(0, len(line) - MAX_LINE_CHARS)
    return f"{line[:MAX_LINE_CHARS]} ... {dropped:,} characters left out" if dropped else line.removesuffix("\r")
