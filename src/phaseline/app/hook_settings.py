"""The setting ``hooks.classes``: hook classes that the settings name and no distribution announces.

In the file it is ``[[hooks.classes]]`` with ``class`` and optionally ``name``, ``folder`` and ``options``; in the
environment it is words ``module:Class``, or the same tables as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.model.problems.problem import Problem, ProblemsError

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

KEYS = {"class": str, "name": str, "folder": str, "options": dict}
"""{key of a ``[[hooks.classes]]`` table: type of its value}; only ``class`` is required."""
MEND = 'write [[hooks.classes]] with class = "module:Class", and as wanted name, folder and options = {...}'


def canonical(text: str, folder: Path) -> str:
    """Return the classes as JSON with all default values; empty if there are no classes.

    ``folder``: the folder to which paths are relative. Raises: PL-C003 with all problems of the classes.

    >>> canonical("acme.hooks:Quota", Path("/"))
    '[{"class": "acme.hooks:Quota", "folder": "", "name": "Quota", "options": {}}]'
    """
    if not text.strip():
        return ""
    tables = _tables(text)
    problems = [problem for place, table in enumerate(tables, 1) for problem in _wrong(table, place)]
    if problems:
        raise ProblemsError(problems)
    return json.dumps([_whole(table, folder) for table in tables], sort_keys=True)


def canonical_options(text: str) -> str:
    """Return the options of Heat's hook classes as JSON.

    ``text``: JSON, or words ``group.option=value``. Raises: PL-C003.

    >>> canonical_options("valet.url=http://x debug=true")
    '{"debug": "true", "valet.url": "http://x"}'
    """
    mend = 'write [hooks.heat_options] with lines such as valet.url = "http://…", or words group.option=value'
    if not text.lstrip().startswith("{"):
        words = [word.partition("=") for word in text.split()]
        wrong = next((name for name, sign, _ in words if not name or not sign), None)
        if wrong is not None:
            raise ProblemsError([Problem("PL-C003", f"'{wrong}' of 'hooks.heat_options' has no value", mend)])
        return json.dumps({name: value for name, _, value in words}, sort_keys=True)
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ProblemsError([Problem("PL-C003", f"'hooks.heat_options' is not JSON: {error}", mend)]) from error
    for name, value in found.items():
        if not all(isinstance(one, str | int | float) for one in (value if isinstance(value, list) else [value])):
            raise ProblemsError([Problem("PL-C003", f"'{name}' of 'hooks.heat_options' is {value!r}", mend)])
    return json.dumps(found, sort_keys=True)


def _tables(text: str) -> list[Any]:
    if not text.lstrip().startswith("["):
        return [{"class": word} for word in text.split()]
    try:
        found: list[Any] = json.loads(text)
    except ValueError as error:
        raise ProblemsError([Problem("PL-C003", f"'hooks.classes' is not JSON: {error}", MEND)]) from error
    return found


def _wrong(table: Any, place: int) -> Iterator[Problem]:
    where = f"class {place} of 'hooks.classes'"
    if not isinstance(table, dict):
        yield Problem("PL-C003", f"{where} is not a table", MEND)
        return
    for key, value in table.items():
        kind = KEYS.get(key)
        if kind is None:
            hint = did_you_mean(key, KEYS)
            yield Problem("PL-C003", f"{where} has the unknown key '{key}'", f"{hint} {MEND}".strip())
        elif not isinstance(value, kind):
            yield Problem("PL-C003", f"'{key}' of {where} is {value!r}", MEND)
    module, colon, name = str(table.get("class", "")).partition(":")
    if not (module and colon and name):
        yield Problem("PL-C003", f"{where} does not name a class as module:Class", MEND)


def _whole(table: Mapping[str, Value], folder: Path) -> dict[str, Value]:
    target = str(table["class"])
    given = str(table.get("folder", ""))
    return {
        "class": target,
        "name": table.get("name") or target.partition(":")[2],
        "folder": str((folder / Path(given).expanduser()).absolute()) if given else "",
        "options": table.get("options", {}),
    }
