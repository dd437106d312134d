"""Records as canonical formal text: equal records with attributes in equal order give the same lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from phaseline.records.lexer import name_text
from phaseline.records.record import Record
from phaseline.records.unparsing import entry_text, names_of, value_text

if TYPE_CHECKING:
    from phaseline.records.values import Stored

WIDTH = 100
"""Number of characters up to which a value is written on one line."""
INDENT = "    "


def print_records(records: Iterable[Record], *, is_sorted: bool = False) -> str:
    """Return the records with a blank line between them; records without attributes are left out."""
    return "\n".join(print_record(record, is_sorted=is_sorted) for record in records if len(record))


def print_record(record: Record, *, is_sorted: bool = False) -> str:
    """Return the record as text, one attribute a line, the type first; reading the text gives an equal record.

    ``is_sorted`` sorts attributes by name, also in nested records.
    """
    shown = _in_order(record) if is_sorted else record
    return "".join(_entry(name, shown.folded[name.lower()], "") + "\n" for name in names_of(shown))


def _in_order(record: Record) -> Record:
    """Return a copy with the attributes sorted by name."""
    return Record([(name, _value_in_order(record.folded[name.lower()])) for name in sorted(record, key=str.lower)])


def _value_in_order(value: Stored) -> Stored:
    if isinstance(value, Record):
        return _in_order(value)
    return tuple([_value_in_order(item) for item in value]) if isinstance(value, tuple) else value  # type: ignore[misc]  # no expressions in lists


def _entry(name: str, value: Stored, indent: str) -> str:
    """Return the attribute on one line if it fits, else over several."""
    line = indent + entry_text(name, value)
    if len(line) <= WIDTH or not isinstance(value, tuple | Record):
        return line
    return f"{indent}{name_text(name)} = {_broken(value, indent)}"


def _broken(value: Stored, indent: str) -> str:
    """Return the value with each part on a line of its own, if it has parts."""
    deeper = indent + INDENT
    if isinstance(value, Record) and len(value):
        inner = "".join(_entry(name, value.folded[name.lower()], deeper) + ";\n" for name in names_of(value))
        return f"[\n{inner}{indent}]"
    if isinstance(value, tuple) and value:
        inner = ",\n".join([_item(item, deeper) for item in value])
        return f"{{\n{inner}\n{indent}}}"
    return value_text(value)


def _item(value: Stored, indent: str) -> str:
    line = indent + value_text(value)
    return line if len(line) < WIDTH else indent + _broken(value, indent)
