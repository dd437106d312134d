"""Literal values in the text of a record: numbers, strings, lists, nested records, times; nothing to evaluate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.records.conversions import AttributeTypeError, AttributeValueError
from phaseline.records.expression import Expression
from phaseline.records.functions.time_functions import span_in, time_in
from phaseline.records.lexer import CLOSING, OPENING, WORDS, Token, number_of, too_large, unquoted
from phaseline.records.record import Record
from phaseline.records.text_errors import TextError
from phaseline.records.values import MAX_INTEGER, ErrorValue

if TYPE_CHECKING:
    from phaseline.records.values import Stored, Value

REALS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}
MADE: Mapping[str, Callable[[str], Value]] = {
    "abstime": time_in,
    "reltime": span_in,
    "real": lambda text: REALS.get(text.lower()),
}
"""{function name in lower case: function that makes a value from the string argument}: the only calls allowed in a value."""


def given_twice(name: str, offset: int) -> TextError:
    """Return the error for a name that occurs twice in one record."""
    return TextError("PL-R002", f"'{name}' is given twice", "keep one of them; case does not matter", offset)


def put(record: Record, name: str, value: Stored, offset: int) -> None:
    """Set an attribute whose name is at this offset. Raises: ``TextError`` PL-R011."""
    try:
        record.put(name, value)
    except (AttributeValueError, AttributeTypeError) as error:
        raise TextError("PL-R011", str(error), "give it a value that can be kept", offset) from None


class Words:
    """The tokens of one statement, read from left to right. ``text`` is the text that contains the statement."""

    def __init__(self, words: Sequence[Token], text: str) -> None:
        """Start before the first token."""
        self._words = [*words, Token("END", "", words[-1].end if words else 0)]
        self._text = text
        self._at = 0

    def peek(self) -> Token:
        """Return the next token without taking it; at the end, an empty token after the last one."""
        return self._words[self._at]

    def next(self) -> Token:
        """Take the next token and return it."""
        word = self._words[self._at]
        self._at += word.kind != "END"
        return word

    def takes(self, text: str) -> bool:
        """If the text of the next token is ``text``, take the token and return True; otherwise return False."""
        word = self._words[self._at]
        is_it = word.text == text and word.kind == "SIGN"
        self._at += is_it
        return is_it

    def entry(self, record: Record) -> None:
        """Read ``name = value`` or ``name := expression`` and set the attribute of the record."""
        first = self.peek()
        name = self._name()
        if name.lower() in record.folded:
            raise given_twice(name, first.start)
        value: Stored
        if self.takes(":="):
            value = self._expression()
        elif self.takes("="):
            value = self._value(name)
        else:
            raise TextError("PL-R001", f"'{name}' is given no value", f"write {name} = value", self.peek().start)
        put(record, name, value, first.start)

    def _name(self) -> str:
        """Take a name, quoted or not; several names with dots are returned as one."""
        word = self.next()
        if word.kind == "QUOTED":
            name = unquoted(word.text)
        elif word.kind == "NAME":
            parts = [word.text]
            while self.takes("."):
                part = self.next()
                if part.kind != "NAME":
                    raise TextError(
                        "PL-R001", "a name is missing after the dot", "write it, or put it in quotes", part.start
                    )
                parts.append(part.text)
            name = ".".join(parts)
        else:
            name = ""
        if not name:
            what = f"'{word.text[:40]}' is no name" if word.text else "a name is missing"
            raise TextError(
                "PL-R001", what, "begin with the name of an attribute; strange ones in single quotes", word.start
            )
        return name

    def _expression(self) -> Expression:
        """Take all tokens up to the end of the entry, and return the expression that they form."""
        begin = self._at
        depth = 0
        while (word := self.peek()).kind != "END" and not (
            depth == 0 and word.text in {";", "]"} and word.kind == "SIGN"
        ):
            depth += (word.text in OPENING) - (word.text in CLOSING) if word.kind == "SIGN" else 0
            self._at += 1
        if begin == self._at:
            raise TextError("PL-R005", "there is no expression", "write one after :=", word.start)
        start = self._words[begin].start
        try:
            return Expression.read(self._text[start : self._words[self._at - 1].end])
        except TextError as fault:
            raise fault.moved(start) from None

    def _value(self, name: str) -> Value:
        """Take a literal value and return it; any token between the value and the end of the entry is an error."""
        start = self.peek().start
        value = self.literal()
        rest = self.peek()
        if rest.kind != "END" and not (rest.kind == "SIGN" and rest.text in {";", "]"}):
            end = self._text.find("\n", start)
            source = self._text[start : len(self._text) if end < 0 else end].strip()
            mend = f"for an expression write {name} := {source[:60]}"
            raise TextError("PL-R003", "this is more than a value", mend, rest.start)
        return value

    def literal(self) -> Value:
        """Return one literal value. Raises ``TextError`` PL-R003 if there is none."""
        word = self.next()
        if word.kind == "STRING":
            return unquoted(word.text)
        if word.kind == "NUMBER":
            return self._number(word)
        if word.kind == "SIGN":
            if word.text in {"-", "+"} and self.peek().kind == "NUMBER":
                return self._number(self.next(), -1 if word.text == "-" else 1)
            if word.text == "{":
                return self._list()
            if word.text == "[":
                return self._record()
        if word.kind == "NAME":
            lower = word.text.lower()
            if lower in WORDS:
                return ErrorValue() if lower == "error" else WORDS[lower]
            if lower in MADE and self.takes("("):
                return self._made(word, MADE[lower])
        raise self._no_value(word)

    def _no_value(self, word: Token) -> TextError:
        if word.kind == "END":
            return TextError("PL-R001", "a value is missing", 'write one, or "" for an empty text', word.start)
        mend = f'put a text into quotes: "{word.text[:40]}"; write an expression with := instead of ='
        return TextError("PL-R003", f"'{word.text[:40]}' is no value", mend, word.start)

    def _number(self, word: Token, sign: int = 1) -> int | float:
        number = sign * number_of(word)
        if isinstance(number, int) and number > MAX_INTEGER:
            raise too_large(word)
        return number

    def _list(self) -> Value:
        items: list[Value] = []
        if self.takes("}"):
            return ()
        while True:
            items.append(self.literal())
            if self.takes("}"):
                return tuple(items)
            if not self.takes(","):
                word = self.peek()
                raise TextError(
                    "PL-R001",
                    f"'{word.text[:40]}' is not expected in a list here",
                    "put a comma or } before it",
                    word.start,
                )

    def _record(self) -> Record:
        record = Record()
        while not self.takes("]"):
            if self.takes(";"):
                continue
            self.entry(record)
        return record

    def _made(self, function: Token, make: Callable[[str], Value]) -> Value:
        word = self.next()
        value = make(unquoted(word.text)) if word.kind == "STRING" else None
        if value is None or not self.takes(")"):
            mend = (
                'write absTime("2026-11-21T10:00:00Z"), relTime("1+02:03:04") or real("INF"); anything else is for :='
            )
            raise TextError("PL-R003", f"{function.text}(…) is no value here", mend, function.start)
        return value
