"""Parse labels: ``KEY=VALUE``, or ``KEY`` for any value of this key."""

from __future__ import annotations

from collections.abc import Sequence

from phaseline.model.blueprint import label_rules
from phaseline.model.blueprint.labels import Label
from phaseline.model.problems.problem import Place, Problem, ProblemsError


def by_key(labels: Sequence[Label]) -> dict[str, list[str]]:
    """Return {key: values} of the labels."""
    found: dict[str, list[str]] = {}
    for label in labels:
        found.setdefault(label.key, []).append(label.value)
    return found


def parse_labels(texts: Sequence[str], *, may_be_key: bool = True) -> list[Label]:
    """Parse labels: ``KEY=VALUE``, or ``KEY`` for any value of this key.

    Without ``may_be_key`` they are to be set, so reserved keys are refused. Raises: PL-C068 for each that is wrong.
    """
    found: list[Label] = []
    problems: list[Problem] = []
    for text in texts:
        try:
            found.append(_parsed(text, may_be_key=may_be_key))
        except label_rules.InvalidLabelError as error:
            wanted = "KEY=VALUE or KEY" if may_be_key else "KEY=VALUE"
            mend = f"write {wanted}: letters, digits, '-', '.' and '_', at most {label_rules.LONGEST}; then a value of as many"
            problems.append(Problem("PL-C068", f"'{text}' is no label: {error}", mend, Place(subject=text)))
    if problems:
        raise ProblemsError(problems)
    return found


def _parsed(text: str, *, may_be_key: bool) -> Label:
    key, separator, value = text.partition("=")
    if not separator and not may_be_key:
        raise label_rules.InvalidLabelError("it has no value")
    key = label_rules.valid_key(key, to_set=not may_be_key)
    return Label(key, label_rules.valid_value(value, key) if separator else "")
