"""Replacement of the slow languages for packages in the store, which were checked at installation and need no second
check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from phaseline.lang.regex import PatternError
from phaseline.packages.languages.slow_languages import ConditionError

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.packages.languages.slow_languages import Slow


class _LookedAt:
    """An implementation of ``Slow`` that finds no mistakes and refuses to evaluate."""

    def yaql_fault(self, _text: str) -> str:
        return ""

    def pattern_fault(self, _pattern: str) -> str:
        return ""

    def yaql(self, _text: str, _data: Value) -> Value:
        raise ConditionError("YAQL is not evaluated here", "")

    def matches(self, _pattern: str, _text: str) -> bool:
        raise PatternError("patterns are not matched here")


LOOKED_AT: Final[Slow] = _LookedAt()
