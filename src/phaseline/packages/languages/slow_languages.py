"""The interface to languages whose evaluation may take unlimited time; the caller passes in an evaluator with a time
limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value


class ConditionError(Exception):
    """A condition that cannot be read or evaluated; the message is the reason, ``mend`` is the advice."""

    def __init__(self, reason: str, mend: str) -> None:
        """Build the message from both parts."""
        self.reason, self.mend = reason, mend
        super().__init__(reason)


class Slow(Protocol):
    """Evaluates YAQL, and patterns that RE2 does not support. The methods ``…_fault`` return a sentence, or an empty
    text if there is no fault.
    """

    def yaql_fault(self, text: str) -> str:
        """Return why an expression cannot be parsed, or an empty text."""
        ...

    def yaql(self, text: str, data: Value) -> Value:
        """Return the value of an expression for ``data``. Raises: ``ConditionError``."""
        ...

    def pattern_fault(self, pattern: str) -> str:
        """Return why a pattern cannot be used, or an empty text."""
        ...

    def matches(self, pattern: str, text: str) -> bool:
        """Return True if the beginning of a text matches a pattern. Raises: ``PatternError`` if that takes too long."""
        ...
