"""Read spans of time as users write them."""

from __future__ import annotations

import re

UNITS_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400}
AGES_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}


def read_span(text: str) -> float:
    """Return the seconds of a span such as ``90``, ``90s`` or ``10m``. Raises: ``ValueError`` for other texts and 0.

    >>> read_span("10m"), read_span("1.5h")
    (600.0, 5400.0)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([a-z]*)", text.strip())
    if found is None or found[2] not in UNITS_S or not float(found[1]):
        raise ValueError(f"'{text}' is no span of time: write 90s, 10m or 2h")
    return float(found[1]) * UNITS_S[found[2]]


def read_age_ms(text: str) -> int:
    """Return the milliseconds of an age: ``90m``, ``12h``, ``30d`` or ``8w``. Raises: ``ValueError`` for other texts.

    >>> read_age_ms("30d")
    2592000000
    """
    found = re.fullmatch(r"(\d{1,6})([mhdw])", text.strip())
    if found is None:
        raise ValueError(f"'{text}' is no age; write minutes, hours, days or weeks as 90m, 12h, 30d or 8w")
    return int(found[1]) * AGES_MS[found[2]]
