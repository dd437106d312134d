"""Regular expressions by Google's RE2, without backtracking: the time grows only with the length of the text.

The engine is imported with the first pattern. It has neither back references nor look-around assertions.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from phaseline.records.functions.signature import ExpressionFunction, unfit
from phaseline.records.lexer import quoted
from phaseline.records.text_errors import TextError
from phaseline.records.values import MAX_VALUE_BYTES, ErrorValue, bounded

if TYPE_CHECKING:
    from phaseline.records.evaluation import EvaluationState
    from phaseline.records.values import Value

MAX_PATTERN = 1_000
"""Largest length of a pattern, in characters."""
MAX_MEMORY = 1 << 20
"""Largest size, in bytes, of a compiled pattern with its tables."""
REMEMBERED = 64
WORK_A_STEP = 256
"""Amount of matching that costs one step: length of the text times length of the pattern, both in characters."""
FLAGS = "ims"
"""Options that the regular expression engine supports; ``f`` and ``g`` belong to ``regexps``, and others are ignored."""
EXTENDED = "x"
"""Option of ClassAds, the original of this language, for spaces and comments in a pattern. It is refused: ignoring it
would change what matches.
"""


class UnusablePatternError(ValueError):
    """A pattern that the engine rejects. Only this module and its callers see this exception."""


@lru_cache(maxsize=REMEMBERED)
def pattern_of(text: str, options: str) -> Any:
    """Return the compiled pattern. Raises ``UnusablePatternError``."""
    import re2

    if EXTENDED in options:
        raise UnusablePatternError("the option x, for patterns with spaces and comments, is not known")
    if len(text) > MAX_PATTERN:
        raise UnusablePatternError(f"the regular expression has more than {MAX_PATTERN:,} characters")
    settings = re2.Options()
    settings.max_mem = MAX_MEMORY
    settings.log_errors = False
    flags = "".join(sorted({option for option in options if option in FLAGS}))
    try:
        return re2.compile(f"(?{flags}){text}" if flags else text, settings)
    except re2.error as error:
        reason = error.args[0] if error.args else "it cannot be read"
        said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise UnusablePatternError(f"the regular expression {quoted(text[:60])} cannot be used: {said}") from None


def check(text: str, options: str, offset: int) -> None:
    """Raise ``TextError`` PL-R008 for an invalid literal pattern in an expression."""
    try:
        pattern_of(text, options)
    except UnusablePatternError as error:
        mend = "write it for RE2: no back references, no looking ahead or behind, no repetition over 1000"
        raise TextError("PL-R008", str(error), mend, offset) from None


def _prepared(values: list[Value], run: EvaluationState) -> tuple[Any, str, str] | ErrorValue:
    """Return (compiled pattern, text, options) from the arguments of a call, or an error."""
    pattern, text, *more = values
    options = more[-1] if more else ""
    for value in (pattern, text, options):
        if not isinstance(value, str):
            return unfit(value, "a text")
    assert isinstance(pattern, str)
    assert isinstance(text, str)
    assert isinstance(options, str)
    run.spend(len(text) * max(len(pattern), 1) // WORK_A_STEP)
    try:
        return pattern_of(pattern, options), text, options
    except UnusablePatternError as error:
        return ErrorValue(str(error))


def _regexp(values: list[Value], run: EvaluationState) -> Value:
    """Return True if the pattern matches somewhere in the text."""
    found = _prepared(values, run)
    if isinstance(found, ErrorValue):
        return found
    pattern, text, _ = found
    return pattern.search(text) is not None


def _regexps(values: list[Value], run: EvaluationState) -> Value:
    """Return the replacement text, in which each backslash with a digit is replaced by that group of the first match.

    Option ``f``: return the whole text with the match replaced by this result; ``g``: replace every match instead of
    the first one.
    """
    pattern_text, text_given, replacement, *more = values
    if not isinstance(replacement, str):
        return unfit(replacement, "a text")
    found = _prepared([pattern_text, text_given, *more], run)
    if isinstance(found, ErrorValue):
        return found
    pattern, text, options = found
    is_whole, is_every = "f" in options, "g" in options
    parts: list[str] = []
    end = size = 0
    for match in pattern.finditer(text):
        filled = _filled(replacement, match)
        piece = (text[end : match.start()] if is_whole else "") + filled
        end = match.end()
        parts.append(piece)
        size += len(piece)
        run.spend(1 + len(piece) // WORK_A_STEP)
        if size > MAX_VALUE_BYTES:
            return bounded("".join(parts))
        if not is_every:
            break
    return bounded("".join(parts) + (text[end:] if is_whole else ""))


def _filled(replacement: str, match: Any) -> str:
    r"""Replace ``\\0`` to ``\\9`` in the replacement by the text of the groups of the match."""
    if "\\" not in replacement:
        return replacement
    head, *pieces = replacement.split("\\")
    for piece in pieces:
        number = int(piece[0]) if piece[:1].isdecimal() else -1
        if number < 0:
            head += "\\" + piece
        else:
            group = match.group(number) if number <= match.re.groups else ""
            head += (group or "") + piece[1:]
    return head


FUNCTIONS: Mapping[str, ExpressionFunction] = {
    "regexp": ExpressionFunction(_regexp, 2, 3),
    "regexps": ExpressionFunction(_regexps, 3, 4),
}
"""The functions of this module: {name in expressions: function}."""
