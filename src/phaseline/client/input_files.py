"""Read values that users give: inputs, in files or one by one, the value of ``--data``, and secrets."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

MAX_FILE_BYTES = 10_000_000
MAX_DEPTH = 100
"""Greatest allowed nesting of a value; the limit also refuses values that contain themselves."""

STRUCTURED = "[{\"'"
"""First characters of a list, a mapping or a quoted text in YAML."""


def gather_inputs(files: Sequence[str], given: Sequence[str] = ()) -> dict[str, Value]:
    """Return the inputs {name: value} from files and from single texts.

    Each text in ``given`` is ``name=value`` (read by ``read_value``), a mapping in JSON or YAML, or the path of a file.
    Texts override files, and later files and texts override earlier ones. Raises: ProblemsError with PL-C020 for each
    file or mapping that does not map names to values, and PL-C025 for each value that begins as YAML but is not valid
    YAML.
    """
    found: dict[str, Value] = {}
    problems: list[Problem] = []
    for read, text in (*((_read, file) for file in files), *((_given, text) for text in given)):
        try:
            found.update(read(text))
        except ProblemsError as error:
            problems.extend(error.problems)
    if problems:
        raise ProblemsError(problems)
    return found


def _given(text: str) -> dict[str, Value]:
    """Return the inputs in one text of the command line."""
    if text.lstrip().startswith("{"):
        try:
            return _mapping(_plain(_yaml(text)), text)
        except ValueError as error:
            raise _problem(text, str(error)) from error
    name, equals, value = text.partition("=")
    if not equals:
        return _read(text)
    return {name.strip(): read_value(value, name.strip())}


def read_value(text: str, name: str) -> Value:
    """Read a value from the command line: ``8080`` is a number, ``[a, b]`` a list, words are a string.

    Words that are not valid YAML are a string, too, unless they begin like a list, a mapping or a quoted text.
    ``name``: the input or option in messages, such as ``--data`` or ``--set size``. Raises: PL-C025 for text that
    begins like a list, a mapping or a quoted text but is not valid YAML.

    >>> read_value("8080", "n"), read_value("[1, two]", "n"), read_value("a: b: c", "n"), read_value("", "n")
    (8080, [1, 'two'], 'a: b: c', '')
    """
    if not text.strip():
        return text
    try:
        return _plain(_yaml(text))
    except ValueError as error:
        if text.lstrip()[0] not in STRUCTURED:
            return text
        message = f"the value of '{name}' begins like YAML but is not YAML: {error}"
        mend = f"complete it, or quote it as a text: {_quoted(name, text)}"
        raise problem_error("PL-C025", message, mend, subject=name) from error


def _quoted(name: str, text: str) -> str:
    """Quote a text for the command line such that Phaseline reads it as a string.

    >>> print(_quoted("ports", "[80"), _quoted("--data", "[80"), _quoted("--set ports", "[80"))
    'ports="[80"' --data '"[80"' --set 'ports="[80"'
    """
    whole = json.dumps(text, ensure_ascii=False)
    option, _, key = name.rpartition(" ") if name.startswith("--") else ("", "", name)
    if key.startswith("--"):
        return f"{key} {shlex.quote(whole)}"
    return f"{option} {shlex.quote(f'{key}={whole}')}".lstrip()


def read_said(text: str) -> Value:
    """Read the value of ``--data``: JSON or YAML, in which a text must be quoted.

    Raises: PL-C025 for invalid JSON or YAML, and for unquoted words, because they are mostly a
    mapping without its braces.

    >>> read_said('{"ready": true}'), read_said("ready: true"), read_said('"ready"'), read_said("null")
    ({'ready': True}, {'ready': True}, 'ready', None)
    """
    said = read_value(text, "--data")
    if isinstance(said, str) and text.lstrip()[:1] not in {'"', "'"}:
        message = f"the value of '--data' is neither JSON nor a mapping, a list or a number in YAML: {text}"
        way = "write the data that the operation expects, such as --data '{\"ready\": true}'"
        raise problem_error("PL-C025", message, f"{way}; a text in quotes: {_quoted('--data', text)}", subject="--data")
    return said


def read_secret(source: str | bytes) -> str:
    """Read a secret from a file, or from piped bytes, without changing it. Raises: PL-C052."""
    try:
        content = source if isinstance(source, bytes) else Path(source).read_bytes()
        return content.decode()
    except OSError as error:
        message = f"the file '{source!s}' cannot be read: {error.strerror or error}"
        raise problem_error("PL-C052", message, "correct the path after --file") from error
    except UnicodeDecodeError as error:
        raise problem_error("PL-C052", "the secret is not UTF-8 text", "keep binary content in base64") from error


def _read(file: str) -> dict[str, Value]:
    path = Path(file)
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise _problem(file, f"it has more than {MAX_FILE_BYTES:,} bytes")
        text = path.read_text("utf-8")
    except OSError as error:
        raise _problem(file, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise _problem(file, "it is not UTF-8 text") from error
    try:
        content = _plain(_yaml(text))
    except ValueError as error:
        raise _problem(file, str(error)) from error
    return _mapping(content, file)


def _mapping(content: Value, source: str) -> dict[str, Value]:
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise _problem(source, "it is not a mapping of names to values")
    return content


def plain_yaml(text: str) -> Value:
    """Return the value of a YAML text as JSON allows it.

    Raises ``ValueError`` for invalid YAML, aliases, deep nesting and numbers that cannot be stored.
    """
    return _plain(_yaml(text))


def _yaml(text: str) -> object:
    """Parse YAML. Raises ``ValueError`` for invalid YAML, and for aliases, because they can expand without limit."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=loader)):
            raise ValueError("anchors and aliases are not allowed among inputs")
        return yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader, in C if available
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _plain(value: object, depth: int = 0) -> Value:
    """Return the value as JSON allows it; dates become texts."""
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"{value} is a number that cannot be stored; write it as a text")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item, depth + 1) for key, item in value.items()}
    return str(value)


def _problem(file: str, why: str) -> ProblemsError:
    if file.lstrip().startswith("{"):
        message = f"the inputs that are given as a mapping cannot be used: {why}"
        return problem_error("PL-C020", message, "quote a mapping for the shell: -i '{\"port\": 8080}'")
    message = f"the inputs file '{file}' cannot be used: {why}"
    mend = "write a YAML mapping, one 'name: value' on each line"
    return ProblemsError([Problem("PL-C020", message, mend, Place(file))])
