"""Records from their formal text: ``Name = value`` and ``Name := expression``, one a line, a blank line between records.

All mistakes of a text are found in one pass: after a mistake, reading continues at the next line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import ProblemsError
from phaseline.records.lexer import CLOSING, OPENING, Token, check_nesting, tokens
from phaseline.records.literals import Words, given_twice, put
from phaseline.records.record import Record
from phaseline.records.text_errors import TextError

MAX_FAULTS = 1_000
"""Number of unreadable parts after which reading of a text ends."""


def parse_record(text: str, *, file: str = "") -> Record:
    """Return the one record of the text; an empty text is an empty record.

    Raises: ``ProblemsError``, with PL-R001 if the text has several records.

    >>> parse_record('AdType = "Cloud.Node"' + chr(10) + 'Count = 3')
    Record({'AdType': 'Cloud.Node', 'Count': 3})
    """
    found = parse_records(text, file=file)
    if len(found) > 1:
        mend = "leave out the blank lines between attributes of one record"
        raise TextError("PL-R001", f"there are {len(found)} records, one is expected", mend).error(text, file=file)
    return found[0] if found else Record()


@frozen
class PlacedRecord:
    """A record with its position in the text: the ``offset`` of its first word, and ``offsets`` {attribute in lower case: offset}."""

    record: Record
    offset: int
    offsets: dict[str, int]


def parse_records(text: str, *, file: str = "") -> list[Record]:
    """Return every record of the text, in order. Raises ``ProblemsError`` with everything that is wrong."""
    return [placed.record for placed in parse_placed(text, file=file)]


def parse_placed(text: str, *, file: str = "") -> list[PlacedRecord]:
    """Parse the records of the text, with the offsets of records and attributes, so that later problems can name the line."""
    faults: list[TextError] = []
    records: list[PlacedRecord] = []
    record: PlacedRecord | None = None
    for statement in _statements(text, faults):
        if not statement:
            record = None
            continue
        start = statement.start() if isinstance(statement, re.Match) else statement[0].start
        if record is None:
            record = PlacedRecord(Record(), start, {})
            records.append(record)
        try:
            if isinstance(statement, re.Match):
                _put_simple(statement, record.record)
            else:
                _put(statement, text, record.record)
            record.offsets[next(reversed(record.record.folded))] = start
        except TextError as fault:
            faults.append(fault)
    if faults:
        faults.sort(key=lambda fault: fault.offset)
        raise ProblemsError([fault.problem(text, file=file) for fault in faults])
    for placed in records:
        placed.record.forget_changes()
    return records


def _put(words: list[Token], text: str, record: Record) -> None:
    """Set the attribute that the words of one statement describe."""
    check_nesting(words)
    reading = Words(words, text)
    reading.entry(record)
    if (rest := reading.peek()).kind != "END":
        raise TextError("PL-R001", f"'{rest.text}' is not expected here", "begin a new line for the next", rest.start)


SIMPLE = re.compile(
    r"""([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)[ \t]*=[ \t]*
    (?:"([^"\\\n]*)"|(-?[0-9]{1,18})|(true)|(false))[ \t]*(?:\n|\Z)""",
    re.VERBOSE,
)
"""Pattern of the most frequent lines: a name with a plain text, integer or truth value. Such lines need not be split
into tokens.
"""
TEXT, INTEGER, TRUE = 2, 3, 4


def _put_simple(found: re.Match[str], record: Record) -> None:
    name, which = found[1], found.lastindex
    if name.lower() in record.folded:
        raise given_twice(name, found.start())
    value = found[TEXT] if which == TEXT else int(found[INTEGER]) if which == INTEGER else which == TRUE
    put(record, name, value, found.start())


Statement: TypeAlias = "list[Token] | re.Match[str]"
"""The tokens of an attribute, or the match of ``SIMPLE``; an empty list for a blank line."""


def _statements(text: str, faults: list[TextError]) -> Iterator[Statement]:
    """Yield the tokens of each attribute, which ends with the line on which all its brackets are closed.

    For a blank line an empty statement is yielded.
    """
    start = 0
    while start < len(text) and len(faults) < MAX_FAULTS:
        try:
            yield from _whole_statements(text, start)
            return
        except TextError as fault:
            faults.append(fault)
            line_end = text.find("\n", fault.offset)
            start = len(text) if line_end < 0 else line_end + 1


def _whole_statements(text: str, start: int) -> Iterator[Statement]:
    end, simple = len(text), SIMPLE.match
    while start < end:
        found = simple(text, start)
        if found is not None:
            yield found
            start = found.end()
            continue
        words, is_blank, start = _statement(text, start)
        if words or is_blank:
            yield words


def _statement(text: str, start: int) -> tuple[list[Token], bool, int]:
    """Read the statement that begins at ``start``.

    Returns (tokens, whether the line is blank, offset of the next statement).
    """
    words: list[Token] = []
    depth = 0
    is_blank = True
    for word in tokens(text, start, with_spaces=False):
        kind, said, at = word
        if kind == "NEWLINE":
            if depth <= 0:
                return words, is_blank, at + 1
        elif kind == "COMMENT":
            is_blank = False
        else:
            if kind == "STRING" and "\n" in said:
                mend = 'close it with " on this line; a line end inside is written \\n'
                raise TextError("PL-R004", "the string goes over the end of its line", mend, at)
            words.append(word)
            if kind == "SIGN":
                depth += (said in OPENING) - (said in CLOSING)
    return words, False, len(text)
