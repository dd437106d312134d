"""What packages ask of languages whose evaluation may take for ever; the shell hands in who answers, within a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value


class ConditionError(Exception):
    """Why a condition cannot be read or evaluated; ``mend``: what to do."""

    def __init__(self, reason: str, mend: str) -> None:
        """Say both."""
        self.reason, self.mend = reason, mend
        super().__init__(reason)


class Slow(Protocol):
    """YAQL, and patterns that RE2 cannot take. A fault is a sentence that says what is wrong; empty: nothing."""

    def yaql_fault(self, text: str) -> str:
        """Why an expression cannot be read."""
        ...

    def yaql(self, text: str, data: Value) -> Value:
        """What an expression gives for data. Raises: ``ConditionError``."""
        ...

    def pattern_fault(self, pattern: str) -> str:
        """Why a pattern cannot be used."""
        ...

    def matches(self, pattern: str, text: str) -> bool:
        """Whether a text begins as a pattern says. Raises: ``PatternError`` where that takes too long."""
        ...
