"""Collect all problems of a blueprint, and compute their positions only at the end."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Literal, TypeAlias

from phaseline.dsl.text.cloudify_errors import ANCESTOR
from phaseline.lang.fast_dataclasses import frozen
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.problems.problem import Problem

if TYPE_CHECKING:
    from phaseline.dsl.text.document import Document

Path: TypeAlias = "tuple[str | int, ...]"
SEARCHED = 200_000
"""Number of words that one report compares to find suggestions. It limits the time for this to one or two seconds."""
MAX_PROBLEMS = 100_000
"""Largest number of problems that are kept, to limit memory for a file that is wrong everywhere."""


class ElementPath(NamedTuple):
    """An element of a document, given by its path from the root."""

    document: Document
    path: Path

    def at(self, *more: str | int) -> ElementPath:
        """Return the path of an element below this one."""
        return ElementPath(self.document, self.path + more)


@frozen
class _Finding:
    code: str
    message: str
    mend: str
    document: Document
    path: Path
    point: Literal["key", "value"] = "value"
    severity: Literal["error", "warning"] = "error"
    number: int | None = None
    kind: str = ""
    line: int = 0
    column: int = 0


class ProblemReport:
    """Collects problems. ``problems`` converts their paths to lines, with one more pass over each text."""

    def __init__(self) -> None:
        self._findings: list[_Finding] = []
        self._ready: list[Problem] = []
        self._searched = 0
        self.errors_count = 0

    def add(
        self,
        code: str,
        message: str,
        mend: str,
        spot: ElementPath,
        *,
        point: Literal["key", "value"] = "value",
        number: int | None = None,
        kind: str = "",
    ) -> None:
        """Add an error in the key or value at ``spot``.

        ``number`` and ``kind`` replace the error number and exception class that Cloudify usually has for this code.
        """
        self.errors_count += 1
        self._keep(_Finding(code, message, mend, spot.document, spot.path, point, "error", number, kind))

    def warn(
        self, code: str, message: str, mend: str, spot: ElementPath, *, point: Literal["key", "value"] = "key"
    ) -> None:
        """Add a warning of something that works but was probably not intended."""
        self._keep(_Finding(code, message, mend, spot.document, spot.path, point, "warning"))

    def add_at(self, code: str, message: str, mend: str, document: Document, line: int, column: int) -> None:
        """Add an error with a known position; ``line`` and ``column`` count from 0."""
        self.errors_count += 1
        self._keep(_Finding(code, message, mend, document, (), line=line + 1, column=column + 1))

    def warn_at(self, code: str, message: str, mend: str, document: Document, line: int, column: int) -> None:
        """Add a warning with a known position; ``line`` and ``column`` count from 0."""
        found = _Finding(code, message, mend, document, (), severity="warning", line=line + 1, column=column + 1)
        self._keep(found)

    def gate(
        self,
        what: str,
        minor: int | None,
        since: int,
        spot: ElementPath,
        *,
        point: Literal["key", "value"] = "value",
        kind: str = "",
    ) -> bool:
        """Return True if ``what``, introduced in minor version ``since``, is allowed in version ``minor`` (None: in
        any); otherwise report it (B4).
        """
        if minor is None or since <= minor:
            return True
        from phaseline.dsl.text.dsl_versions import version_name

        least = version_name(since)
        self.add(
            "PL-B013",
            f"'{what}' is not supported in version {version_name(minor)}, it was added in {least}",
            f"write 'tosca_definitions_version: {least}' or later",
            spot,
            point=point,
            kind=kind,
        )
        return False

    def suggest(self, word: str, known: Collection[str], otherwise: str) -> str:
        """Return ``did you mean 'x'?``, or the text ``otherwise`` if no known word is similar."""
        self._searched += len(known)
        if self._searched > SEARCHED:
            return otherwise
        from phaseline.dsl.text.value_words import suggest  # nearly all blueprints have no mistake

        return suggest(word, known, otherwise)

    def add_ready(self, problem: Problem) -> None:
        """Add a complete problem, such as one from a file source."""
        self.errors_count += 1
        self._ready.append(problem)

    def beginning(self) -> tuple[int, int]:
        """Return a mark of the present state for ``forget``: two counts of the problems found so far."""
        return len(self._findings), self.errors_count

    def forget(self, beginning: tuple[int, int]) -> None:
        """Drop the problems found since the mark ``beginning``, because the text is read again."""
        del self._findings[beginning[0] :]
        self.errors_count = beginning[1]

    def _keep(self, finding: _Finding) -> None:
        if len(self._findings) < MAX_PROBLEMS:
            self._findings.append(finding)

    def problems(self, severity: Literal["error", "warning"] = "error") -> tuple[Problem, ...]:
        """Return all problems of this severity, sorted by file and line, without duplicates."""
        from phaseline.dsl.text.positions import Positions

        positions: dict[int, Positions] = {}
        order: dict[str, int] = {}
        found: dict[tuple[str, int, int, str, str], Problem] = {}
        for finding in self._findings:
            if finding.severity != severity:
                continue
            document = finding.document
            order.setdefault(document.name, len(order))
            place = positions.setdefault(id(document), Positions(document)).place(
                finding.path, finding.point, finding.line, finding.column
            )
            number, kind = ANCESTOR.get(finding.code, (None, None))
            problem = Problem(
                finding.code,
                finding.message,
                finding.mend,
                place,
                severity,
                number if finding.number is None else finding.number,
                finding.kind or kind,
            )
            found.setdefault((place.file, place.line, place.column, finding.code, finding.message), problem)
        ready = self._ready if severity == "error" else []
        located = sorted(
            found.values(), key=lambda problem: (order[problem.place.file], problem.place.line, problem.place.column)
        )
        return (*ready, *located)
