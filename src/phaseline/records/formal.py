"""Records from their formal text: ``Name = value`` and ``Name := expression``, one a line, a blank line between records.

All mistakes of a text are found in one reading: after one, reading goes on at the next line.
"""

from __future__ import annotations

from collections.abc import Iterator

from phaseline.model.frozen import frozen
from phaseline.model.problem import ProblemsError
from phaseline.records.faults import Fault
from phaseline.records.literals import Words
from phaseline.records.record import Record
from phaseline.records.tokens import CLOSING, OPENING, Token, check_nesting, tokens

MAX_FAULTS = 1_000
"""So many stretches that are no words at all end the reading of a text."""


def parse_record(text: str, *, file: str = "") -> Record:
    """The one record of the text; an empty text is an empty record.

    Raises: ``ProblemsError``; PL-R001 also where there are several.

    >>> parse_record('AdType = "Cloud.Node"' + chr(10) + 'Count = 3')
    Record({'AdType': 'Cloud.Node', 'Count': 3})
    """
    found = parse_records(text, file=file)
    if len(found) > 1:
        mend = "Leave out the blank lines between attributes of one record."
        raise Fault("PL-R001", f"there are {len(found)} records, one is expected", mend).error(text, file=file)
    return found[0] if found else Record()


@frozen
class PlacedRecord:
    """A record and where it stands in its text: ``offset`` its first word, ``offsets`` {attribute in lower case: its name}."""

    record: Record
    offset: int
    offsets: dict[str, int]


def parse_records(text: str, *, file: str = "") -> list[Record]:
    """Every record of the text, in order. Raises ``ProblemsError`` with everything that is wrong."""
    return [placed.record for placed in parse_placed(text, file=file)]


def parse_placed(text: str, *, file: str = "") -> list[PlacedRecord]:
    """The same with the places of the records and their attributes, for whoever finds something wrong with them."""
    faults: list[Fault] = []
    records: list[PlacedRecord] = []
    record: PlacedRecord | None = None
    for statement in _statements(text, faults):
        if not statement:
            record = None
            continue
        if record is None:
            record = PlacedRecord(Record(), statement[0].start, {})
            records.append(record)
        try:
            check_nesting(statement)
            words = Words(statement, text)
            known = len(record.record)
            words.entry(record.record)
            if len(record.record) > known:
                record.offsets[next(reversed(record.record.folded))] = statement[0].start
            if (rest := words.peek()).kind != "END":
                raise Fault("PL-R001", f"'{rest.text}' cannot stand here", "Begin a new line for the next.", rest.start)
        except Fault as fault:
            faults.append(fault)
    if faults:
        faults.sort(key=lambda fault: fault.offset)
        raise ProblemsError([fault.problem(text, file=file) for fault in faults])
    for placed in records:
        placed.record.forget_changes()
    return records


def _statements(text: str, faults: list[Fault]) -> Iterator[list[Token]]:
    """The words of each attribute, over as many lines as its brackets are open; nothing for each blank line."""
    start = 0
    while start < len(text) and len(faults) < MAX_FAULTS:
        try:
            yield from _whole_statements(text, start)
            return
        except Fault as fault:
            faults.append(fault)
            line_end = text.find("\n", fault.offset)
            start = len(text) if line_end < 0 else line_end + 1


def _whole_statements(text: str, start: int) -> Iterator[list[Token]]:
    words: list[Token] = []
    depth = 0
    is_blank = True
    for word in tokens(text, start):
        if word.kind == "NEWLINE":
            if depth <= 0:
                if words or is_blank:
                    yield words
                words, depth, is_blank = [], 0, True
        elif word.kind == "COMMENT":
            is_blank = False
        elif word.kind != "SPACE":
            if word.kind == "STRING" and "\n" in word.text:
                mend = 'Close it with " on this line; a line end inside is written \\n.'
                raise Fault("PL-R004", "the string goes over the end of its line", mend, word.start)
            words.append(word)
            if word.kind == "SIGN":
                depth += (word.text in OPENING) - (word.text in CLOSING)
    if words:
        yield words
