r"""Escaping of characters that would control a terminal, and marks for Phaseline's own colors, which are kept.

Names, descriptions, outputs and logs come from blueprints, plugins and scripts. ``output`` sends every text through
``for_output``, which replaces dangerous characters by escapes such as ``\x1b``, as Python writes them. Dangerous are
control characters, among them ESC, which begins a terminal sequence, and characters that change the direction of
writing. Line ends and tabs stay. Our own colors are marks that no other program can write, because they contain a
random number of this process.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Literal

ENDS = "\n\t"
"""Control characters that texts of several lines keep."""
DIRECTIONS = "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Characters that change the direction of writing (Unicode: Bidi_Control), line separators and the byte order mark."""
SEAL = f"\0{os.urandom(8).hex()}:"
"""Beginning of each of our color marks, with a random number."""
COLORS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}


@cache
def _table(kind: Literal["text", "line", "json"]) -> dict[int, str]:
    """Return {code of a character: its escape}.

    The table is made at its first use, because short commands need none.
    """
    controls = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
    escaped = [char for char in controls + DIRECTIONS if kind == "line" or char not in ENDS]
    if kind == "json":
        return {ord(char): f"\\u{ord(char):04x}" for char in escaped}
    return {ord(char): ascii(char)[1:-1] for char in escaped}


def visible(text: str) -> str:
    r"""Return the text with terminal control characters shown as escapes; ends of lines and tabs stay.

    >>> print(visible("\x1b]0;mine\x07 caf\udce9 \u202eback"))
    \x1b]0;mine\x07 caf\udce9 \u202eback
    """
    return text if _is_plain(text) else _encodable(text.translate(_table("text")))


def in_line(text: str) -> str:
    r"""Return the text escaped like ``visible`` and on one line: ends of lines become escapes, too.

    >>> print(in_line("two\nlines"))
    two\nlines
    """
    return text if text.isprintable() else _encodable(text.translate(_table("line")))


def in_json(document: str) -> str:
    r"""Return the JSON document with terminal control characters as JSON escapes; parsing gives an equal value.

    >>> print(in_json('{"name": "\x9b\u202e"}'))
    {"name": "\u009b\u202e"}
    """
    return document if _is_plain(document) else _encodable(document.translate(_table("json")))


def painted(text: str, color: str | None = None, *, bold: bool = False) -> str:
    """Return the text with marks for a color, which ``for_output`` turns into terminal codes."""
    codes = [*([str(COLORS[color])] if color else []), *(["1"] if bold else [])]
    return f"{SEAL}{';'.join(codes)}m{text}{SEAL}0m" if codes else text


def for_output(text: str) -> str:
    r"""Return the text as it may be written to a terminal: our marks as colors, everything else escaped.

    >>> for_output(painted("bad", "red") + "\x1b[2J")
    '\x1b[31mbad\x1b[0m\\x1b[2J'
    """
    first, *marked = text.split(SEAL)
    parts = [visible(first)]
    for piece in marked:
        codes, _, rest = piece.partition("m")
        parts.append(f"\x1b[{codes}m{visible(rest)}")
    return "".join(parts)


def _is_plain(text: str) -> bool:
    """Return True if all characters are printable or ends of lines."""
    return text.replace("\n", "").isprintable()


def _encodable(text: str) -> str:
    """Escape lone surrogates, as JSON and Python do; file names that are not UTF-8 contain such characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
