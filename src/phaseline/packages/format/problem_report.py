"""Problems of a package, gathered by file and element; their line numbers are looked up only at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Literal

from phaseline.dsl.text.positions import Positions
from phaseline.dsl.text.value_words import closest
from phaseline.lang.fast_dataclasses import altered, frozen, mutable
from phaseline.model.problems.problem import NOWHERE, Place, Problem

if TYPE_CHECKING:
    from phaseline.dsl.text.document import Document
    from phaseline.dsl.text.problem_report import Path
    from phaseline.packages.languages.slow_languages import Slow

MAX_FINDINGS: Final = 10_000
"""Largest number of problems that are kept for one package."""
MAX_SHOWN: Final = 60
"""Largest number of characters of a value that a message shows."""
MAX_SEARCHED: Final = 500
"""Number of unknown names of one package for which similar names are searched."""
MAX_TEXT: Final = 1_000
"""The maximum length of a value in a problem's data, in characters."""
MAX_WORD: Final = 100
"""The maximum length of a name for which a suggestion is searched, in characters."""
ABSENT: Final[Any] = object()
ITEMS: Final = {
    "tasks.yaml": "task",
    "deployment_tasks.yaml": "task",
    "network_roles.yaml": "network role",
    "components.yaml": "component",
}
"""{file that holds a list: word for its items}; messages count the items from 1."""


@mutable
class PackageFile:
    """One file of a package.

    ``lines`` are the original lines. A mistake may be repaired so that the rest of the file can be read (``yaml_repair``);
    ``origin`` is then {line number in the repaired text: line number in the original}.
    """

    name: str
    document: Document | None = None
    lines: tuple[str, ...] = ()
    origin: tuple[int, ...] = ()

    def written(self, place: Place) -> Place:
        """Return the place in the original text for a place in the repaired text."""
        if not self.origin or not 0 < place.line <= len(self.origin):
            return place
        line = self.origin[place.line - 1]
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return altered(place, line=line, text=text, column=min(place.column, len(text) + 1))


@frozen
class _Finding:
    code: str
    source: PackageFile
    path: Path
    what: str
    mend: str
    severity: Literal["error", "warning"]
    point: Literal["key", "value"]
    value: Any


class Findings:
    """Collects problems; ``problems`` returns all of them: the errors first, then the warnings, each sorted by file and
    line.
    """

    def __init__(self, slow: Slow | None = None) -> None:
        """Start without problems. ``slow`` evaluates YAQL and patterns that RE2 does not support; None if no such
        evaluator is available.
        """
        self.slow = slow
        self._found: list[_Finding] = []
        self._ready: list[Problem] = []
        self._searched = 0
        self.errors_count = 0

    def may_search(self) -> bool:
        """Count one more search for similar names, and return False if the limit of searches is exceeded; each search
        takes time.
        """
        self._searched += 1
        return self._searched <= MAX_SEARCHED

    def keep(self, finding: _Finding) -> None:
        """Add a problem, unless there are too many already."""
        self.errors_count += finding.severity == "error"
        if len(self._found) < MAX_FINDINGS:
            self._found.append(finding)

    def keep_ready(self, problem: Problem) -> None:
        """Add a problem that the YAML reader has found."""
        self.errors_count += problem.severity == "error"
        self._ready.append(problem)

    def problems(self, title: str) -> tuple[Problem, ...]:
        """Return all problems with their lines. ``title`` is the name of the package in messages."""
        positions: dict[str, Positions] = {}
        order: dict[str, int] = {}
        told = [altered(problem, message=f"{title}: {problem.message}") for problem in self._ready]
        for problem in told:
            order.setdefault(problem.place.file, len(order))
        for finding in self._found:
            order.setdefault(finding.source.name, len(order))
            place = self._place(finding, positions)
            told.append(_rendered(title, finding, place))
        told.sort(
            key=lambda each: (
                each.severity != "error",
                order[each.place.file],
                each.place.line,
                each.place.column,
            )
        )
        return tuple(told)

    def _place(self, finding: _Finding, positions: dict[str, Positions]) -> Place:
        source = finding.source
        if source.document is None or source.document.root is None:
            return Place(source.name) if source.name else NOWHERE
        if source.name not in positions:
            positions[source.name] = Positions(source.document)
        return source.written(positions[source.name].place(finding.path, finding.point))


@frozen
class FileElement:
    """An element of a file, to which problems can be added."""

    findings: Findings
    source: PackageFile
    path: Path = ()

    def at(self, *more: str | int) -> FileElement:
        """Return an element below this one."""
        return FileElement(self.findings, self.source, self.path + more)

    def nearest(self, word: Any, known: Iterable[str]) -> str:
        """Return ``; did you mean 'x'?`` for a name in this element, or an empty text if no known name is similar."""
        return nearest(word, known) if isinstance(word, str) and self.findings.may_search() else ""

    def wrong(
        self, code: str, what: str, mend: str, *, value: Any = ABSENT, point: Literal["key", "value"] = "value"
    ) -> None:
        """Add an error. Its sentence is ``element: value what``, such as ``stage: 'x' is not valid``; ``value`` may be
        left out.

        ``point`` decides whether the error is located at the key or at the value of the element.
        """
        self.findings.keep(_Finding(code, self.source, self.path, what, mend, "error", point, value))

    def odd(
        self, code: str, what: str, mend: str, *, value: Any = ABSENT, point: Literal["key", "value"] = "value"
    ) -> None:
        """Add a warning: the value is allowed, but probably a mistake."""
        self.findings.keep(_Finding(code, self.source, self.path, what, mend, "warning", point, value))


def shown(value: Any) -> str:
    """Return a value as messages show it.

    >>> shown("a"), shown({"b": True})
    ("'a'", '{"b": true}')
    """
    if isinstance(value, str):
        return repr(value if len(value) <= MAX_SHOWN else f"{value[:MAX_SHOWN]}…")
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean 'x'?``, or an empty text if no known name is similar.

    >>> nearest("puppett", ("puppet", "shell"))
    "; did you mean 'puppet'?"
    """
    found = closest(word, tuple(known)) if len(word) <= MAX_WORD else None
    return f"; did you mean '{found}'?" if found else ""


def listed(words: Any) -> str:
    """Return the words as ``a, b or c``.

    >>> listed(["a", "b", "c"])
    'a, b or c'
    """
    *others, last = [str(word) for word in words]
    return f"{', '.join(others)} or {last}" if others else last


def _cut(value: Any) -> Any:
    """Return the value for a problem's data; a large value is replaced by the shortened text that messages show."""
    return value if isinstance(value, str) and len(value) <= MAX_TEXT else shown(value)


def _rendered(title: str, finding: _Finding, place: Place) -> Problem:
    """Return the problem, in the form ``plugin-1.0.2: tasks.yaml task 1 (line 7), stage: 'x' is not valid``."""
    name, path = finding.source.name, finding.path
    where = name
    details: dict[str, Any] = {}
    if path and isinstance(path[0], int) and name in ITEMS:
        where += f" {ITEMS[name]} {path[0] + 1}"
        details["index"] = path[0]
        path = path[1:]
    if place.line:
        where += f" (line {place.line})"
    field = " -> ".join(step if isinstance(step, str) else f"item {step + 1}" for step in path)
    if field:
        details["field"] = field
    subject = f", {field}" if field else ""
    value = ""
    if finding.value is not ABSENT:
        value = f"{shown(finding.value)} "
        details["value"] = (
            finding.value if isinstance(finding.value, bool | int | float | None) else _cut(finding.value)
        )
    head = f"{title}: {where}{subject}: " if subject or value or place.line else f"{title}: {where} "
    return Problem(finding.code, f"{head}{value}{finding.what}", finding.mend, place, finding.severity, details=details)
