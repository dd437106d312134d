"""Read the inputs of many members of a deployment group from a file: CSV, JSON lines or a YAML list (GR1)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phaseline.model.problems.problem import Place, Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.use_cases.prepare.group_members import MemberInputs

MAX_FILE_BYTES = 100_000_000
FORMATS = "write CSV with the names of the inputs in its first line (.csv), a JSON mapping on each line (.jsonl), or a YAML list"


def read_members(source: str | Sequence[Mapping[str, Any]]) -> Sequence[MemberInputs]:
    """Return the inputs of each member from a file, or from mappings.

    The end of the file's name determines its format: ``.csv``, ``.jsonl`` or ``.ndjson``; all others are YAML. Raises:
    ``ProblemsError`` with all mistakes (PL-C164), each with its line.
    """
    from phaseline.use_cases.prepare.group_members import MemberInputs

    if not isinstance(source, str):
        return [MemberInputs(dict(one)) for one in source]
    text = _text(source)
    ending = Path(source).suffix.lower()
    problems: list[Problem] = []
    rows = _csv if ending == ".csv" else _json_lines if ending in {".jsonl", ".ndjson"} else _yaml_list
    found = [
        MemberInputs(values, Place(source, line, 1), are_texts=ending == ".csv")
        for line, values in rows(source, text, problems)
    ]
    if problems:
        raise ProblemsError(problems)
    if not found:
        raise ProblemsError([_problem(source, 0, "it has no member")])
    return found


def read_each_parameters(source: str | Mapping[str, Any]) -> Mapping[str, Mapping[str, Value]]:
    """Return {deployment: its parameters} from a YAML or JSON file, or from a mapping. Raises: PL-C164."""
    from phaseline.client.input_files import gather_inputs

    found: Mapping[str, Any] = gather_inputs([source]) if isinstance(source, str) else source
    wrong = sorted(name for name, values in found.items() if not isinstance(values, Mapping))
    if wrong:
        mend = "write a mapping: 'DEPLOYMENT: {name: value}'"
        where = Place(source) if isinstance(source, str) else Place()
        raise ProblemsError([Problem("PL-C164", f"the parameters of '{wrong[0]}' are no mapping", mend, where)])
    return {name: dict(values) for name, values in found.items()}


def _text(file: str) -> str:
    path = Path(file)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ProblemsError([_problem(file, 0, f"it has more than {MAX_FILE_BYTES:,} bytes")])
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise ProblemsError([_problem(file, 0, error.strerror or str(error))]) from error
    except UnicodeDecodeError as error:
        raise ProblemsError([_problem(file, 0, "it is not UTF-8 text")]) from error


def _csv(file: str, text: str, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    names: list[str] | None = None
    line = 1
    try:
        for cells in reader:
            if not cells:
                line = reader.line_num + 1
                continue
            if names is None:
                names = [cell.strip() for cell in cells]
                doubled = sorted({name for name in names if not name or names.count(name) > 1})
                if doubled:
                    problems.append(_problem(file, line, f"the name of a column is empty or given twice: {doubled}"))
                    return
            elif len(cells) != len(names):
                problems.append(_problem(file, line, f"it has {len(cells)} values for {len(names)} columns"))
            else:
                yield line, {name: cell for name, cell in zip(names, cells, strict=True) if cell != ""}
            line = reader.line_num + 1
    except csv.Error as error:
        problems.append(_problem(file, line, str(error)))


def _json_lines(file: str, text: str, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, told in enumerate(text.splitlines(), 1):
        if not told.strip():
            continue
        try:
            value = json.loads(told, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            problems.append(_problem(file, line, f"it is not JSON: {error}"))
            continue
        if isinstance(value, dict):
            yield line, value
        else:
            problems.append(_problem(file, line, "it is no mapping of inputs to values"))


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is a number that cannot be stored")


def _yaml_list(file: str, text: str, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    import yaml

    from phaseline.client.input_files import plain_yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        values = plain_yaml(text)
        root = yaml.compose(text, Loader=loader)
    except ValueError as error:
        problems.append(_problem(file, 0, str(error)))
        return
    if not isinstance(values, list) or not isinstance(root, yaml.SequenceNode):
        problems.append(_problem(file, 0, "it is no list of mappings"))
        return
    for node, value in zip(root.value, values, strict=True):
        line = node.start_mark.line + 1
        if isinstance(value, dict):
            yield line, value
        else:
            problems.append(_problem(file, line, "it is no mapping of inputs to values"))


def _problem(file: str, line: int, why: str) -> Problem:
    where = f"line {line} of the file" if line else "the file"
    return Problem(
        "PL-C164",
        f"{where} with the inputs of members cannot be used: {why}",
        FORMATS,
        Place(file, line, int(line > 0)),
    )
