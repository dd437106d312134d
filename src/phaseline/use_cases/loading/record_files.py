"""Format records in files canonically, and evaluate expressions over them. Nothing is stored."""

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
    """The records of one file: as canonical ``text``, and as JSON values."""

    file: str
    text: str
    records: Sequence[object]


@frozen
class EvaluatedRecord:
    """Result of an expression for one record: its ``kind``, its ``value`` in JSON, its ``text`` in the language.

    ``name`` is the record's attribute Name, or empty. ``reason`` is the cause if the kind is error.
    """

    name: str
    kind: str
    value: object
    text: str
    reason: str


def format_files(files: Sequence[str], *, is_sorted: bool = False) -> list[FormattedFile]:
    """Return the records of each file in canonical form. With ``is_sorted``, attributes are sorted by name.

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
    """Return the expression's value for every record of the files; without files, for one record of the attributes.

    The attributes, {name: value in the informal syntax}, are set on every record. ``now`` is in seconds since 1970.
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
    """Return the attributes of the command line as a record. Each text has the syntax of a definition's line."""
    lines = [f"{name}={value}" for name, value in given.items()]
    return cfg_text.parse_definition("\n".join(lines))


def _read_all(files: Sequence[str]) -> dict[str, list[Record]]:
    """Return {file: its records}, or raise the problems of all files at once."""
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
    """Return the records of a file: ``.json`` is JSON, ``.cfg`` is a definition, all others are formal text."""
    text = file_text(file)
    ending = Path(file).suffix.lower()
    if ending == ".cfg":
        return [cfg_text.parse_definition(text, file=file)]
    if ending != ".json":
        return record_text.parse_records(text, file=file)
    return [json_codec.from_json(one, file=file) for one in json_records(text, file)]


def json_records(text: str, file: str) -> list[Any]:
    """Return the records of a JSON file, which contains one record or a list of records. Raises: PL-R013."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise unreadable(file, f"it is no JSON: {error}") from error
    except RecursionError as error:
        raise unreadable(file, "its JSON is nested too deep") from error
    return content if isinstance(content, list) else [content]


def file_text(file: str) -> str:
    """Return the text of a file of records. Raises: PL-R013."""
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
    """Return PL-R013: the file has no readable records."""
    mend = "name a file with records: formal text, JSON if it ends in .json, a definition if it ends in .cfg"
    return ProblemsError([Problem("PL-R013", why, mend, Place(file))])
