"""Any answer of a use case as one JSON document: times as ISO 8601, statuses as words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from math import isfinite

from phaseline.cli.render.problems import problem_object
from phaseline.model.problem import Problem

WORDS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
"""Texts in place of what JSON has no number for; older stores may hold some."""


def document(value: object) -> str:
    """The JSON text.

    >>> print(document({"b": (1, 2)}))
    {
      "b": [
        1,
        2
      ]
    }
    """
    return json.dumps(plain(value), indent=2, ensure_ascii=False)


def plain(value: object) -> object:
    """The value in lists, mappings and scalars. Fields named ``..._at`` are times; those not set become null.

    >>> plain({"load": float("nan"), "limit": float("-inf"), "share": 0.5})
    {'load': 'NaN', 'limit': '-Infinity', 'share': 0.5}
    """
    if isinstance(value, Problem):
        return problem_object(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: _field(item.name, getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return WORDS[str(float(value))]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


def _field(name: str, value: object) -> object:
    if (name == "at" or name.endswith("_at")) and isinstance(value, int):
        return iso(value) if value else None
    return plain(value)


def iso(at: int) -> str:
    """Milliseconds since the epoch as ISO 8601 in UTC.

    >>> iso(1_500)
    '1970-01-01T00:00:01.500Z'
    """
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
