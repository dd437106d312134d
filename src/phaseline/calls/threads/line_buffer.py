"""Text that comes in pieces, as whole lines of a bounded length."""

from __future__ import annotations

MAX_LINE_CHARS = 9_900
"""The most characters kept of a line; with its prefix and the note of the rest it fits into a log line."""


class WholeLines:
    """Splits output into lines; of a line that is too long only the beginning is kept, with a remark (retention.md)."""

    __slots__ = ("_begun", "_dropped")

    def __init__(self) -> None:
        self._begun = ""
        self._dropped = 0

    def take(self, text: str) -> list[str]:
        r"""The lines that are whole now, without their ends.

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
        """The line that has begun, none where there is none. ``is_ended``: its end has come, so that it may be empty."""
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
