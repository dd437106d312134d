"""Match regular expressions from blueprints and packages in a time that grows only with the length of the text.

RE2 does the matching. It does not support look-ahead, which blueprints use at the beginning of a pattern
(``^(?=.*[A-Z])(?=.*[0-9]).{8,}$``). So each look-ahead becomes a pattern of its own, and all must match.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from typing import Any

MAX_PATTERN = 2_000
"""Most characters of a pattern."""
MAX_COMPILED_BYTES = 1 << 17
"""Most bytes of a compiled pattern with its repetitions written out, so that matching takes few thousand steps a character."""
_AHEAD = re.compile(r"\^?\(\?([=!])")
_STEP = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)


class PatternError(Exception):
    """Why a pattern cannot be used."""


@frozen
class Pattern:
    """Compiled patterns (``parts``), each with a flag whether it must match or must not match."""

    parts: tuple[tuple[Any, bool], ...]

    def matches(self, text: str) -> bool:
        """Return True if the beginning of the text matches the pattern (the end is free, as in the ancestor)."""
        return all((part.match(text) is not None) == wanted for part, wanted in self.parts)


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Pattern:
    """Return the pattern, ready to be matched. Raises ``PatternError``."""
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
    """Return (look-aheads at the beginning of a pattern, the rest of the pattern)."""
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
    """Return where the bracket ends that is open at ``start``."""
    depth = 1
    for step in _STEP.finditer(pattern, start):
        depth += {"(": 1, ")": -1}.get(step[0], 0)
        if depth == 0:
            return step.start()
    return None
