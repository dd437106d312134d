"""Match regular expressions from blueprints and packages in a time that grows only with the length of the text.

RE2 does the matching. It does not support look-ahead, which blueprints use at the beginning of a pattern
(``^(?=.*[A-Z])(?=.*[0-9]).{8,}$``). So each look-ahead becomes a separate pattern. A text must match all patterns,
except those of negative look-aheads, which it must not match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from typing import Any

MAX_PATTERN = 2_000
"""Largest number of characters of a pattern."""
MAX_COMPILED_BYTES = 1 << 17
"""Largest number of bytes of a compiled pattern with its repetitions written out.

It limits matching to a few thousand steps for each character of the text.
"""
_AHEAD = re.compile(r"\^?\(\?([=!])")
_STEP = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


class PatternError(Exception):
    """Raised if a pattern cannot be used; the text is the reason."""


@frozen
class Pattern:
    """Compiled patterns (``parts``), each with a flag whether it must match or must not match."""

    parts: tuple[tuple[Any, bool], ...]

    def matches(self, text: str) -> bool:
        """Return True if the text matches the pattern from its beginning; more text may follow, as in Cloudify."""
        return all((part.match(text) is not None) == wanted for part, wanted in self.parts)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Pattern:
    """Compile a pattern, and return it. Raises ``PatternError``."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_COMPILED_BYTES
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"it has more than {MAX_PATTERN:,} characters")
    parts, rest = _looks_ahead(pattern)
    try:
        return Pattern(tuple((re2.compile(part, options), wanted) for part, wanted in (*parts, (rest, True))))
    except re2.error as error:
        said = error.args[0]
        raise PatternError(said.decode() if isinstance(said, bytes) else str(said)) from None


def _looks_ahead(pattern: str) -> tuple[list[tuple[str, bool]], str]:
    """Return ([(look-ahead at the beginning of a pattern, True if it must match)], remaining pattern)."""
    found: list[tuple[str, bool]] = []
    anchor = "^" if pattern.startswith("^") else ""
    while (begin := _AHEAD.match(pattern)) is not None:
        end = _closing(pattern, begin.end())
        if end is None:
            break
        found.append(
            (
                f"(?:{pattern[begin.end() : end]})"
                if "|" in pattern[begin.end() : end]
                else pattern[begin.end() : end],
                begin[1] == "=",
            )
        )
        pattern = anchor + pattern[end + 1 :]
    return found, pattern


def _closing(pattern: str, start: int) -> int | None:
    """Return the index of the bracket that closes the group whose content begins at ``start``, or None."""
    depth = 1
    for step in _STEP.finditer(pattern, start):
        depth += {"(": 1, ")": -1}.get(step[0], 0)
        if depth == 0:
            return step.start()
    return None
