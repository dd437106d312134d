"""Format numbers of stored graphs and requests, so that two versions of the program can read one store (UP4).

A stored value without a number has format 1. A version writes the format that the version before it can read, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

GRAPH_FORMAT = 1
"""Latest format of graphs that this version reads."""
REQUEST_FORMAT = 1
"""Latest format of requests that this version reads."""


def require_known(stored: Mapping[str, Any], known: int, what: str) -> None:
    """Raise ValueError if a stored value has a later format than ``known``, the latest that this version reads."""
    found = stored.get("format", 1)
    if not isinstance(found, int) or found > known:
        raise ValueError(f"{what} has format {found}, this version of Phaseline knows formats up to {known}")
