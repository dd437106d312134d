"""Records in files: written in their canonical form, and asked by expressions. Nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.records.record import Record

MAX_FILE_BYTES = 64 << 20


@frozen
class FormattedFile:
    """The records of one file: their canonical ``text``, and what JSON says of them."""

    file: str
    text: str
    records: Sequence[object]


@frozen
class EvaluatedRecord:
    """What an expression gives for one record: its ``kind``, its ``value`` in JSON, its ``text`` in the language.

    ``name``: the record's attribute Name, empty if it has none. ``reason``: why, where the kind is error.
    """

    name: str
    kind: str
    value: object
    text: str
    reason: str


def format_files(files: Sequence[str], *, is_sorted: bool = False) -> list[FormattedFile]:
    """The records of each file in their canonical form; attributes in their order or sorted by name.

    Raises: ``ProblemsError`` with everything that is wrong with any of them (PL-R001 to PL-R013).
    """
    from phaseline.records.formats.canonical_text import print_records
    from phaseline.records.formats.json_codec import to_json

    read = _read_all(files)
    return [
        FormattedFile(file, print_records(records, is_sorted=is_sorted), [to_json(record) for record in records])
        for file, records in read.items()
    ]


def evaluate(
    expression: str, *, files: Sequence[str] = (), attributes: Mapping[str, str] | None = None, now: float
) -> list[EvaluatedRecord]:
    """The expression's value for every record of the files, or for one record of nothing but the attributes.

    The attributes, {name: value in the informal syntax}, are set on every record; ``now``: seconds since the epoch.
    Raises: ``ProblemsError``, PL-R005 and its like for the expression.
    """
    from phaseline.records.expression import Expression
    from phaseline.records.formats.json_codec import value_json
    from phaseline.records.record import Record
    from phaseline.records.series import Series
    from phaseline.records.unparsing import value_text
    from phaseline.records.values import ErrorValue, kind_of

    asked = Expression(expression)
    read = _read_all(files)
    series = Series([record for records in read.values() for record in records] if files else [Record()])
    given = attributes_of(attributes or {})
    for record in series:
        for name in given:
            record.set(name, given.stored(name))
    values = asked.evaluate_all(series, now=now)
    return [
        EvaluatedRecord(
            name=name or "",
            kind=kind_of(value),
            value=None if isinstance(value, ErrorValue) else value_json(value),
            text=value_text(value),
            reason=value.reason if isinstance(value, ErrorValue) else "",
        )
        for name, value in zip(series.names(), values, strict=True)
    ]


def attributes_of(given: Mapping[str, str]) -> Record:
    """The attributes of the command line, which are lines as in a definition."""
    from phaseline.records.formats.cfg_text import parse_definition

    lines = [f"{name}={value}" for name, value in given.items()]
    return parse_definition("\n".join(lines))


def _read_all(files: Sequence[str]) -> dict[str, list[Record]]:
    """{file: its records}; all problems of all files at once."""
    found: dict[str, list[Record]] = {}
    problems: list[Problem] = []
    for file in files:
        try:
            found[file] = _read(file)
        except ProblemsError as error:
            problems.extend(error.problems)
    if problems:
        raise ProblemsError(problems)
    return found


def _read(file: str) -> list[Record]:
    """The records of a file: JSON by its ending, a definition by ``.cfg``, else formal text."""
    from phaseline.records.formats.cfg_text import parse_definition
    from phaseline.records.formats.json_codec import from_json
    from phaseline.records.formats.record_text import parse_records

    text = file_text(file)
    ending = Path(file).suffix.lower()
    if ending == ".cfg":
        return [parse_definition(text, file=file)]
    if ending != ".json":
        return parse_records(text, file=file)
    return [from_json(one, file=file) for one in json_records(text, file)]


def json_records(text: str, file: str) -> list[Any]:
    """The records of a file in JSON, be it one or a list of them. Raises: PL-R013."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise unreadable(file, f"it is no JSON: {error}") from error
    except RecursionError as error:
        raise unreadable(file, "its JSON is nested too deep") from error
    return content if isinstance(content, list) else [content]


def file_text(file: str) -> str:
    """What stands in a file of records. Raises: PL-R013."""
    path = Path(file)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise unreadable(file, f"it has more than {MAX_FILE_BYTES:,} bytes")
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise unreadable(file, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise unreadable(file, "it is not UTF-8 text") from error


def unreadable(file: str, why: str) -> ProblemsError:
    """PL-R013: a file in which there are no records that can be read."""
    mend = "Name a file with records: formal text, JSON if it ends in .json, a definition if it ends in .cfg."
    return ProblemsError([Problem("PL-R013", why, mend, Place(file))])
