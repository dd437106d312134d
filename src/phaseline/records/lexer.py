"""The tokens of records and expressions: one table for both, with strings, numbers, names and brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.records.text_errors import TextError
from phaseline.records.values import MAX_DEPTH, MAX_INTEGER

TOKEN = re.compile(
    r"""
    (?P<COMMENT>(?<![^\n])[ \t]*\#[^\n]*|//[^\n]*|/\*)
  | (?P<SPACE>[ \t\r\f\v]+)
  | (?P<NEWLINE>\n)
  | (?P<STRING>"[^"\\]*+(?:\\.[^"\\]*+)*+")
  | (?P<QUOTED>'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')
  | (?P<NUMBER>(?:0[xX][0-9a-fA-F]+|(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?)(?:[BKMGTbkmgt](?![A-Za-z0-9_]))?)
  | (?P<NAME>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<SIGN>=\?=|=!=|===|!==|>>>|:=|==|!=|<=|>=|<<|>>|&&|\|\||\?:|[-+*/%&|^!~<>=?:;,.()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
WORDS = {"true": True, "false": False, "undefined": None, "error": None}
OPERATORS = {"is": "IS", "isnt": "ISNT", "in": "IN"}
RESERVED = frozenset({*WORDS, *OPERATORS})
"""Names, in lower case, that are attributes only if written in single quotes."""

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([0-7]{1,3})|(.))", re.DOTALL)
POWERS = {"b": 0, "k": 1, "m": 2, "g": 3, "t": 4}
"""Meaning of the letter after a number: {letter: power of 1024 by which the number is multiplied}."""
MAX_DIGITS = 400


class Token(NamedTuple):
    """A token with its offset. ``kind`` is the name of the group of ``TOKEN`` that matched, such as ``NAME`` or
    ``SIGN``.
    """

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """Offset of the first character after the token."""
        return self.start + len(self.text)


def tokens(text: str, start: int = 0, end: int | None = None, *, with_spaces: bool = True) -> Iterator[Token]:
    """Yield tokens of the text, including comments and, by default, spaces; ``#`` begins a comment only at the start of
    a line.

    Raises: ``TextError`` for a character with which no token begins.
    """
    end = len(text) if end is None else end
    match, make = TOKEN.match, tuple.__new__
    while start < end:
        found = match(text, start, end)
        if found is None:
            raise _strange(text, start)
        if found.lastgroup == "SPACE" and not with_spaces:
            start = found.end()
            continue
        word, stop = found.group(), found.end()
        if word == "/*":
            stop = _end_of_comment(text, start, end)
            word = text[start:stop]
        yield make(Token, (found.lastgroup or "", word, start))
        start = stop


def _end_of_comment(text: str, start: int, end: int) -> int:
    """Find the end of a comment by search; a regular expression would need memory for every character."""
    found = text.find("*/", start + 2, end)
    if found < 0:
        raise TextError("PL-R001", "the comment has no end", "close it with */", start)
    return found + 2


def _strange(text: str, at: int) -> TextError:
    if text[at] == '"':
        return TextError("PL-R004", "the string has no end", 'close it with "; a quote inside is written \\"', at)
    if text[at] == "'":
        return TextError("PL-R004", "the quoted name has no end", "close it with ' on the same line", at)
    return TextError("PL-R001", f"'{text[at]}' means nothing here", 'put texts into quotes: "…"', at)


def check_nesting(words: list[Token]) -> None:
    """Raise ``TextError`` for brackets that do not match or are nested too deep."""
    stack: list[Token] = []
    for word in words:
        if word.kind != "SIGN":
            continue
        if word.text in OPENING:
            stack.append(word)
            if len(stack) > MAX_DEPTH:
                raise too_deep(word.start)
        elif word.text in CLOSING:
            opened = stack.pop() if stack else None
            if opened is None or OPENING[opened.text] != word.text:
                hint = f"close '{opened.text}' first" if opened else f"leave it out, or open it before '{word.text}'"
                raise TextError("PL-R001", f"'{word.text}' closes nothing", hint, word.start)
    if stack:
        opened = stack[-1]
        raise TextError(
            "PL-R001", f"'{opened.text}' is not closed", f"write '{OPENING[opened.text]}' where it ends", opened.start
        )


def too_deep(offset: int) -> TextError:
    """Return the error for nesting deeper than ``MAX_DEPTH``."""
    return TextError(
        "PL-R007", f"this is nested deeper than {MAX_DEPTH} levels", "give the inner parts names of their own", offset
    )


def unquoted(text: str) -> str:
    r"""Return the text that a string or a quoted name means. An unknown escape means the character after the backslash.

    >>> unquoted(r'"a\"b\u00e4\n"') == 'a"bä' + chr(10)
    True
    """
    inner = text[1:-1]
    return _ESCAPE.sub(_unescaped, inner) if "\\" in inner else inner


def _unescaped(found: re.Match[str]) -> str:
    code, octal, other = found.groups()
    if code:
        return chr(int(code, 16))
    if octal:
        return chr(int(octal, 8))
    return ESCAPES.get(other, other)


def quoted(text: str, mark: str = '"') -> str:
    r"""Return the text as a string literal, or as a quoted name if ``mark`` is ``'``; ``unquoted`` reverses this.

    >>> quoted('say "hi"')
    '"say \\"hi\\""'
    """
    plain = text.replace("\\", "\\\\").replace(mark, "\\" + mark)
    return mark + _CONTROL.sub(_escaped, plain) + mark


_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def _escaped(found: re.Match[str]) -> str:
    return _SHORT.get(found.group(), f"\\u{ord(found.group()):04x}")


def name_text(name: str) -> str:
    """Return the name of an attribute as it is written: quoted unless it is an identifier.

    >>> name_text("Name"), name_text("Acme.CreateInstance"), name_text("is")
    ('Name', "'Acme.CreateInstance'", "'is'")
    """
    if IDENTIFIER.fullmatch(name) and name.lower() not in RESERVED:
        return name
    return quoted(name, "'")


def number_of(word: Token) -> int | float:
    """Return the number that a token means: decimal, hexadecimal or real, with ``K M G T`` as powers of 1024.

    Raises: ``TextError`` PL-R011 for integers of more than 64 bits and for infinite reals.

    >>> number_of(Token("NUMBER", "0x1F", 0)), number_of(Token("NUMBER", "2K", 0)), number_of(Token("NUMBER", "1.5K", 0))
    (31, 2048, 1536.0)
    """
    text = word.text
    if len(text) > MAX_DIGITS:
        raise too_large(word)
    if text[:2].lower() == "0x":
        tail = "" if text[-1].lower() not in "kmgt" else text[-1]
        number: int | float = int(text[2 : len(text) - len(tail)], 16)
    else:
        tail = text[-1] if text[-1].isalpha() else ""
        digits = text[: len(text) - len(tail)]
        number = int(digits) if digits.isdigit() else float(digits)
    number *= 1024 ** POWERS[tail.lower()] if tail else 1
    # One more than the largest is let through for the sake of the smallest: -9223372036854775808.
    if number == float("inf") or (isinstance(number, int) and number > MAX_INTEGER + 1):
        raise too_large(word)
    return number


def too_large(word: Token) -> TextError:
    """Return the error for a number that is too large to be stored."""
    return TextError(
        "PL-R011",
        "the number is too large",
        "integers have 64 bits; write a real such as 1e30, or a string",
        word.start,
    )
