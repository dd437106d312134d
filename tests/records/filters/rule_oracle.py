"""What the operators of rules mean, said once more and without the language (A63)."""

from __future__ import annotations

from collections.abc import Sequence

VALUES = ("a", "b")
"""The values of the rules that are tried."""
LABEL_ROWS: Sequence[tuple[str, ...]] = ((), ("a",), ("c",), ("A",), ("a", "c"), ("c", "d"), ("xa",), ("ax",))
"""The values that rows have for a key: none, one, or several."""
ATTRIBUTE_ROWS: Sequence[tuple[str, ...]] = ((), ("a",), ("c",), ("A",), ("xa",), ("ax",), ("xax",))


def is_selected(operator: str, values: Sequence[str]) -> bool:
    """Whether a rule with this operator, and with ``VALUES`` if it takes some, selects a row with these values."""
    among = any(value in VALUES for value in values)
    return {
        "any_of": among,
        "not_any_of": bool(values) and not among,
        "is_not": not among,
        "is_null": not values,
        "is_not_null": bool(values),
        "is_not_empty": bool(values),
        "contains": any(part in value for value in values for part in VALUES),
        "not_contains": bool(values) and not any(part in value for value in values for part in VALUES),
        "starts_with": any(value.startswith(VALUES) for value in values),
        "ends_with": any(value.endswith(VALUES) for value in values),
    }[operator]
