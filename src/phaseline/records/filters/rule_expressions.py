"""Rules as an expression: so that lists have one evaluator (LB4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.records.filters.row_attributes import LABELS
from phaseline.records.filters.rules import LABEL
from phaseline.records.lexer import name_text, quoted

if TYPE_CHECKING:
    from phaseline.records.filters.rules import FilterRule

_CALLS = {"contains": "contains", "not_contains": "contains", "starts_with": "startsWith", "ends_with": "endsWith"}
_NEEDS_IT = frozenset({"not_any_of", "not_contains"})
"""Negative operators that hold only for rows which have the label or attribute."""


def expression_of(rules: Sequence[FilterRule]) -> str:
    """Return the expression that holds for the rows for which all rules hold; without rules, for all.

    >>> from phaseline.records.filters.rules import parse_rules
    >>> expression_of(parse_rules(["env=[a,b]", "id starts-with x"]))
    '(labels["env"] is "a" || labels["env"] is "b") && startsWith(id, "x")'
    """
    return " && ".join(map(_text, rules)) or "true"


def _text(rule: FilterRule) -> str:
    subject = f"{LABELS}[{quoted(rule.key)}]" if rule.type == LABEL else name_text(rule.key)
    if rule.operator == "is_null":
        return f"{subject} is undefined"
    if rule.operator == "is_not_null":
        return f"{subject} isnt undefined"
    if rule.operator == "is_not_empty":
        return f'{subject} isnt undefined && {subject} isnt ""'
    parts = [_comparison(subject, rule.operator, value) for value in rule.values]
    text = parts[0] if len(parts) == 1 else f"({' || '.join(parts)})"
    if not (rule.operator in _NEEDS_IT or rule.operator == "is_not"):
        return text
    text = f"!({parts[0]})" if len(parts) == 1 else f"!{text}"
    return f"{subject} isnt undefined && {text}" if rule.operator in _NEEDS_IT else text


def _comparison(subject: str, operator: str, value: str) -> str:
    call = _CALLS.get(operator)
    return f"{subject} is {quoted(value)}" if call is None else f"{call}({subject}, {quoted(value)})"
