"""Collects all problems of a blueprint, and computes their positions only at the end."""

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
"""Words that one report looks through for those that were probably meant; a second or two in all."""
MAX_PROBLEMS = 100_000
"""Problems that are kept; a file that is wrong everywhere need not fill the memory."""


class ElementPath(NamedTuple):
    """An element of a document, by its path from the root."""

    document: Document
    path: Path

    def at(self, *more: str | int) -> ElementPath:
        """An element below this one."""
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
    """Problems as they are found. Paths become lines in ``problems``, in one more pass over each text."""

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
        """An error in the key or value at ``spot``.

        ``number`` and ``kind`` replace the ancestor's usual number and class for this code.
        """
        self.errors_count += 1
        self._keep(_Finding(code, message, mend, spot.document, spot.path, point, "error", number, kind))

    def warn(
        self, code: str, message: str, mend: str, spot: ElementPath, *, point: Literal["key", "value"] = "key"
    ) -> None:
        """Something that works but is hardly meant."""
        self._keep(_Finding(code, message, mend, spot.document, spot.path, point, "warning"))

    def add_at(self, code: str, message: str, mend: str, document: Document, line: int, column: int) -> None:
        """An error whose place is known; ``line`` and ``column`` count from 0."""
        self.errors_count += 1
        self._keep(_Finding(code, message, mend, document, (), line=line + 1, column=column + 1))

    def warn_at(self, code: str, message: str, mend: str, document: Document, line: int, column: int) -> None:
        """A warning whose place is known; ``line`` and ``column`` count from 0."""
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
        """True if the language has ``what`` in its version 1_``minor`` (None: whichever); otherwise reported (B4)."""
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
        """``did you mean 'x'?`` or, when nothing is near, the text ``otherwise``."""
        self._searched += len(known)
        if self._searched > SEARCHED:
            return otherwise
        from phaseline.dsl.text.value_words import suggest  # nearly all blueprints have no mistake

        return suggest(word, known, otherwise)

    def add_ready(self, problem: Problem) -> None:
        """Add a problem that was described elsewhere."""
        self.errors_count += 1
        self._ready.append(problem)

    def beginning(self) -> tuple[int, int]:
        """How much was found so far, for ``forget``."""
        return len(self._findings), self.errors_count

    def forget(self, beginning: tuple[int, int]) -> None:
        """Drop the problems found since then, because the text is read again."""
        del self._findings[beginning[0] :]
        self.errors_count = beginning[1]

    def _keep(self, finding: _Finding) -> None:
        if len(self._findings) < MAX_PROBLEMS:
            self._findings.append(finding)

    def problems(self, severity: Literal["error", "warning"] = "error") -> tuple[Problem, ...]:
        """Everything of this severity, by file and line; the same thing at the same place once."""
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
