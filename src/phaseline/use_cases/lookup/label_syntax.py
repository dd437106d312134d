"""Parse labels: ``KEY=VALUE``, or ``KEY`` for any value of this key."""

from __future__ import annotations

import re
from collections.abc import Sequence

from phaseline.model.blueprint.labels import Label
from phaseline.model.problems.problem import problem_error

KEY = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,127}")
MAX_VALUE = 256
"""Largest number of characters in the value of a label."""


def by_key(labels: Sequence[Label]) -> dict[str, list[str]]:
    """Return {key: values} of the labels."""
    found: dict[str, list[str]] = {}
    for label in labels:
        found.setdefault(label.key, []).append(label.value)
    return found


def parse_labels(texts: Sequence[str], *, may_be_key: bool = True) -> list[Label]:
    """Parse labels: ``KEY=VALUE``, or ``KEY`` for any value of this key. Raises: PL-C068."""
    return [_parsed(text, may_be_key=may_be_key) for text in texts]


def _parsed(text: str, *, may_be_key: bool) -> Label:
    key, separator, value = text.partition("=")
    if not KEY.fullmatch(key) or (not value and (separator or not may_be_key)) or len(value) > MAX_VALUE:
        wanted = "KEY=VALUE or KEY" if may_be_key else "KEY=VALUE"
        mend = f"write {wanted}: a letter, then letters, digits, '_', '.' and '-'; a value has at most {MAX_VALUE} characters"
        raise problem_error("PL-C068", f"'{text}' is no label", mend, subject=text)
    return Label(key, value)
