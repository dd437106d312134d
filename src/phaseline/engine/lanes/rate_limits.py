"""Limit the number of calls per second with token buckets: tokens return with time, and each batch takes one (X7).

Lanes of different phases share a bucket if they have the same limiter (such as a cloud account), key and rate.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import mutable

if TYPE_CHECKING:
    from phaseline.model.graph.graph import LaneSpec


@mutable
class Bucket:
    """A bucket that held ``tokens`` tokens at the time ``at`` (ms) and refills at ``part`` of its full rate."""

    tokens: float
    at: int
    part: float = 1.0


class TokenBuckets:
    """All token buckets that are not full. A bucket that is missing here counts as full."""

    def __init__(self) -> None:
        """Create the object without buckets, so that all count as full."""
        self._buckets: dict[tuple[str, int, float, int], Bucket] = {}
        self._looks_at = BUCKETS_KEPT

    @property
    def keys(self) -> set[int]:
        """Keys of the lanes that have a bucket here."""
        return {key for _, key, _, _ in self._buckets}

    def take(self, spec: LaneSpec, key: int, now: int) -> int:
        """Take a token and return 0; if there is no token, return the time in ms until the next one.

        >>> from phaseline.model.graph.graph import LaneSpec
        >>> rates, spec = TokenBuckets(), LaneSpec("phase:A", limiter="Account", rate=2.0, burst=2)
        >>> [rates.take(spec, 7, now) for now in (0, 0, 0, 500, 500)], rates.take(spec, 8, 500)
        ([0, 0, 500, 0, 500], 0)
        """
        if len(self._buckets) > self._looks_at:
            self._forget_full(now)
        bucket = self._buckets.setdefault(_name(spec, key), Bucket(float(spec.burst), now))
        rate = spec.rate * bucket.part
        bucket.tokens = min(float(spec.burst), bucket.tokens + (now - bucket.at) * rate / 1000)
        bucket.at = now
        missing = 1 - bucket.tokens
        if missing > ALMOST:
            return max(1, math.ceil(missing * 1000 / rate))
        bucket.tokens -= 1
        return 0

    def adapt(self, spec: LaneSpec, key: int, *, is_throttled: bool) -> None:
        """Adapt the rate after a call: halve it if the provider throttles, otherwise raise it by a tenth of the full rate.

        >>> from phaseline.model.graph.graph import LaneSpec
        >>> rates, spec = TokenBuckets(), LaneSpec("phase:A", rate=1.0)
        >>> told = [rates.take(spec, 0, 0), rates.adapt(spec, 0, is_throttled=True), rates.take(spec, 0, 0)]
        >>> for _ in range(9):
        ...     rates.adapt(spec, 0, is_throttled=False)
        >>> told, rates.take(spec, 0, 0)
        ([0, None, 2000], 1000)
        """
        bucket = self._buckets.get(_name(spec, key))
        if bucket is not None:
            bucket.part = max(LEAST, bucket.part / 2) if is_throttled else min(1.0, bucket.part + MORE)
            bucket.tokens = min(0.0, bucket.tokens) if is_throttled else bucket.tokens

    def _forget_full(self, now: int) -> None:
        """Delete buckets that are full and refill at the full rate, because a missing bucket means the same."""
        for name in [name for name, bucket in self._buckets.items() if _is_full(name, bucket, now)]:
            del self._buckets[name]
        self._looks_at = max(BUCKETS_KEPT, 2 * len(self._buckets))


def _is_full(name: tuple[str, int, float, int], bucket: Bucket, now: int) -> bool:
    _, _, rate, burst = name
    return bucket.part >= 1.0 and bucket.tokens + (now - bucket.at) * rate / 1000 >= burst


def _name(spec: LaneSpec, key: int) -> tuple[str, int, float, int]:
    return spec.limiter or spec.phase, key, spec.rate, spec.burst


BUCKETS_KEPT = 10_000
"""Number of buckets from which on full buckets are deleted."""
LEAST = 1 / 64
"""Smallest part of the full rate to which repeated throttling reduces a bucket's rate."""
MORE = 0.1
"""Part of the full rate that a bucket regains with each call that the provider did not throttle."""
ALMOST = 1e-9
"""A token that lacks at most this part counts as whole, because times are rounded to milliseconds."""
