"""A mistake at an offset of a text, and the problem made from it, with file, line, column and the text of the line."""

from __future__ import annotations

from phaseline.model.problems.problem import Place, Problem, ProblemsError

SHOWN_LINE = 200
"""Largest number of characters of a source line that is stored in a place; longer lines are cut."""


class TextError(Exception):
    """A mistake at ``offset`` (characters from 0) of a text that is read. Code outside this package never sees it."""

    def __init__(self, code: str, message: str, mend: str, offset: int = 0) -> None:
        """Store the offset, and ``code``, ``message`` and ``mend``, which have the same meaning as in ``Problem``."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.mend = mend
        self.offset = offset

    def moved(self, by: int) -> TextError:
        """Return the error with its offset moved by ``by``, for the larger text that contains this one."""
        return TextError(self.code, self.message, self.mend, self.offset + by)

    def problem(self, text: str, *, file: str = "", subject: str = "") -> Problem:
        """Return the problem for this mistake in ``text``.

        The problem is located in ``file``; without a file, its place is ``subject``, or only line and column if
        ``subject`` is empty, too.
        """
        return Problem(self.code, self.message, self.mend, place_at(text, self.offset, file=file, subject=subject))

    def error(self, text: str, *, file: str = "", subject: str = "") -> ProblemsError:
        """Return an exception that carries this one problem."""
        return ProblemsError([self.problem(text, file=file, subject=subject)])


def place_at(text: str, offset: int, *, file: str = "", subject: str = "") -> Place:
    r"""Return the line and column of the character at ``offset``; both count from 1.

    >>> str(place_at("a = 1\nb = ?", 10, file="x.rec"))
    'x.rec:2:5'
    """
    offset = min(offset, len(text))
    start = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[start : len(text) if end < 0 else end].rstrip("\r")
    return Place(
        file,
        text.count("\n", 0, offset) + 1,
        offset - start + 1,
        text=line[:SHOWN_LINE],
        subject=subject,
    )
