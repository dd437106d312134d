"""Limits of calls a second: buckets that fill with time and from which each batch takes one token (X7).

Lanes of different phases share a bucket where they name the same limiter, key and rate: an account of a provider.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.graph import LaneSpec


@dataclass(slots=True)
class Bucket:
    """``tokens`` as of ``at`` (ms)."""

    tokens: float
    at: int


class Rates:
    """All buckets that are not full."""

    def __init__(self) -> None:
        """All are full."""
        self._buckets: dict[tuple[str, int, float, int], Bucket] = {}

    def take(self, spec: LaneSpec, key: int, now: int) -> int:
        """Take a token; 0, or the ms until there is one, and then none is taken.

        >>> from phaseline.model.graph import LaneSpec
        >>> rates, spec = Rates(), LaneSpec("phase:A", limiter="Account", rate=2.0, burst=2)
        >>> [rates.take(spec, 7, now) for now in (0, 0, 0, 500, 500)], rates.take(spec, 8, 500)
        ([0, 0, 500, 0, 500], 0)
        """
        if not spec.rate:
            return 0
        name = (spec.limiter or spec.phase, key, spec.rate, spec.burst)
        bucket = self._buckets.setdefault(name, Bucket(float(spec.burst), now))
        bucket.tokens = min(float(spec.burst), bucket.tokens + (now - bucket.at) * spec.rate / 1000)
        bucket.at = now
        missing = 1 - bucket.tokens
        if missing > ALMOST:
            return max(1, math.ceil(missing * 1000 / spec.rate))
        bucket.tokens -= 1
        return 0


ALMOST = 1e-9
"""So little a token may lack: time is counted in whole milliseconds."""
