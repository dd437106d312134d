"""A mistake of the user as a value: its code, what is wrong, where, and how to correct it.

Reading and planning collect as many problems as they find, and raise one ``ProblemsError`` with all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN_PROBLEMS = 200
"""Number of problems that are printed; all are counted (decision 29)."""


@frozen
class Place:
    """The place of a problem: a position in a file, or a subject such as ``deployment/instance/phase``.

    ``line`` and ``column`` count from 1; 0 means that they are unknown. ``path`` is the dotted path of the element,
    ``text`` the source line.
    """

    file: str = ""
    line: int = 0
    column: int = 0
    path: str = ""
    text: str = ""
    subject: str = ""

    def __str__(self) -> str:
        """``file:line:column`` or the subject."""
        if not self.file:
            return self.subject
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


NOWHERE = Place()


@frozen
class Problem:
    """One mistake of a user. Its ``code`` never changes and has a section in the error catalogue.

    ``mend`` is an instruction that corrects the mistake. ``cloudify_code`` and ``cloudify_class`` are what Cloudify
    raises in this case, if it raises an error. ``details`` has more data for programs, such as the index of an item and
    its value.
    """

    code: str
    message: str
    mend: str
    place: Place = NOWHERE
    severity: Literal["error", "warning"] = "error"
    cloudify_code: int | None = None
    cloudify_class: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        """Return one line: code, place, message."""
        where = str(self.place)
        return f"{self.code} {where}: {self.message}" if where else f"{self.code} {self.message}"


class ProblemsError(Exception):
    """Carries every problem found for one request; the command line and the interfaces print them, never a traceback."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Keep ``problems`` in the order in which they were found."""
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems[:SHOWN_PROBLEMS]))


def problem_error(code: str, message: str, mend: str, *, subject: str = "") -> ProblemsError:
    """Return a ``ProblemsError`` with the single problem described."""
    return ProblemsError([Problem(code, message, mend, Place(subject=subject))])
