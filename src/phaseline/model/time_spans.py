"""Spans of time as users write them."""

from __future__ import annotations

import re

UNITS_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}


def read_span(text: str) -> float:
    """Seconds from ``90``, ``90s``, ``10m`` or ``2h``. Raises: ``ValueError`` for anything else, and for nothing.

    >>> read_span("10m"), read_span("1.5h")
    (600.0, 5400.0)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]*)", text.strip())
    if found is None or found[2] not in UNITS_S or not float(found[1]):
        raise ValueError(f"'{text}' is no span of time: write 90s, 10m or 2h")
    return float(found[1]) * UNITS_S[found[2]]
