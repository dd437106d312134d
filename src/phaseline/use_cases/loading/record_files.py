"""Records in files: format them canonically, and evaluate expressions over them. Nothing is stored."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.records import expression as records_expression
from phaseline.records import record as records_record
from phaseline.records import series as records_series
from phaseline.records import unparsing
from phaseline.records import values as records_values
from phaseline.records.formats import canonical_text, cfg_text, json_codec, record_text

if TYPE_CHECKING:
    from phaseline.records.record import Record

MAX_FILE_BYTES = 64 << 20


@frozen
class FormattedFile:
    """The records of one file: their canonical ``text``, and their form in JSON."""

    file: str
    text: str
    records: Sequence[object]


@frozen
class EvaluatedRecord:
    """The result of an expression for one record: its ``kind``, its ``value`` in JSON, its ``text`` in the language.

    ``name``: the record's attribute Name, empty if it has none. ``reason``: the cause, if the kind is error.
    """

    name: str
    kind: str
    value: object
    text: str
    reason: str


def format_files(files: Sequence[str], *, is_sorted: bool = False) -> list[FormattedFile]:
    """The records of each file in their canonical form; attributes in their order or sorted by name.

    Raises: ``ProblemsError`` with all problems of all files (PL-R001 to PL-R013).
    """
    read = _read_all(files)
    return [
        FormattedFile(
            file,
            canonical_text.print_records(records, is_sorted=is_sorted),
            [json_codec.to_json(record) for record in records],
        )
        for file, records in read.items()
    ]


def evaluate(
    expression: str, *, files: Sequence[str] = (), attributes: Mapping[str, str] | None = None, now: float
) -> list[EvaluatedRecord]:
    """The expression's value for every record of the files, or for one record with only the attributes.

    The attributes, {name: value in the informal syntax}, are set on every record; ``now``: seconds since the epoch.
    Raises: ``ProblemsError``, PL-R005 and others for the expression.
    """
    asked = records_expression.Expression(expression)
    read = _read_all(files)
    series = records_series.Series(
        [record for records in read.values() for record in records] if files else [records_record.Record()]
    )
    given = attributes_of(attributes or {})
    for record in series:
        for name in given:
            record.set(name, given.stored(name))
    values = asked.evaluate_all(series, now=now)
    return [
        EvaluatedRecord(
            name=name or "",
            kind=records_values.kind_of(value),
            value=None if isinstance(value, records_values.ErrorValue) else json_codec.value_json(value),
            text=unparsing.value_text(value),
            reason=value.reason if isinstance(value, records_values.ErrorValue) else "",
        )
        for name, value in zip(series.names(), values, strict=True)
    ]


def attributes_of(given: Mapping[str, str]) -> Record:
    """The attributes given on the command line as a record. Each text is in the syntax of a line of a definition."""
    lines = [f"{name}={value}" for name, value in given.items()]
    return cfg_text.parse_definition("\n".join(lines))


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
    """The records of a file: JSON or a definition by the ending ``.json`` or ``.cfg``, otherwise formal text."""
    text = file_text(file)
    ending = Path(file).suffix.lower()
    if ending == ".cfg":
        return [cfg_text.parse_definition(text, file=file)]
    if ending != ".json":
        return record_text.parse_records(text, file=file)
    return [json_codec.from_json(one, file=file) for one in json_records(text, file)]


def json_records(text: str, file: str) -> list[Any]:
    """The records of a file in JSON, which contains one record or a list of records. Raises: PL-R013."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise unreadable(file, f"it is no JSON: {error}") from error
    except RecursionError as error:
        raise unreadable(file, "its JSON is nested too deep") from error
    return content if isinstance(content, list) else [content]


def file_text(file: str) -> str:
    """The text of a file of records. Raises: PL-R013."""
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
    """PL-R013: a file without readable records."""
    mend = "name a file with records: formal text, JSON if it ends in .json, a definition if it ends in .cfg"
    return ProblemsError([Problem("PL-R013", why, mend, Place(file))])
