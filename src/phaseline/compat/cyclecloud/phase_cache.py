"""The cache that a phase's plugin may use to keep values for its next runs in this process, for a limited time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterator, MutableMapping
from typing import TypeVar

T = TypeVar("T")

TTL_S = 300.0
"""Default time, in seconds, for which a value is kept."""
MAX_VALUES = 10_000
"""Largest number of values; if there are more, the oldest ones are removed."""


class PhaseCache(MutableMapping[Hashable, object]):
    """A dict whose values expire. It is kept between runs of its phase until the process ends.

    Safe to use from any thread.

    >>> cache = PhaseCache()
    >>> cache["region"] = "north"
    >>> cache["region"], cache.get("zone"), cache.get_or_make("zone", lambda: 3, ttl_s=60)
    ('north', None, 3)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Create an empty cache. ``clock``: a monotonic clock in seconds."""
        self._clock = clock
        self._lock = threading.RLock()
        self._values: dict[Hashable, tuple[float, object]] = {}

    def set(self, key: Hashable, value: object, ttl_s: float = TTL_S) -> None:
        """Keep a value for ``ttl_s`` seconds."""
        with self._lock:
            self._values.pop(key, None)
            while len(self._values) >= MAX_VALUES:
                del self._values[next(iter(self._values))]
            self._values[key] = self._clock() + ttl_s, value

    def get_or_make(self, key: Hashable, make: Callable[[], T], ttl_s: float = TTL_S) -> T:
        """Return the value; if there is none, or it has expired, call ``make`` and keep its result for ``ttl_s``
        seconds.
        """
        with self._lock:
            if key not in self:
                self.set(key, make(), ttl_s)
            return self[key]  # type: ignore[return-value]  # the type is that of the caller's ``make``

    def __getitem__(self, key: Hashable) -> object:
        """Return the value. Raises ``KeyError`` if there is none, or it has expired."""
        with self._lock:
            until, value = self._values[key]
            if until <= self._clock():
                del self._values[key]
                raise KeyError(key)
            return value

    def __setitem__(self, key: Hashable, value: object) -> None:
        """Keep a value for five minutes."""
        self.set(key, value)

    def __delitem__(self, key: Hashable) -> None:
        """Remove a value. Raises ``KeyError`` if there is none."""
        with self._lock:
            del self._values[key]

    def __iter__(self) -> Iterator[Hashable]:
        """Iterate over the keys of values that have not expired."""
        with self._lock:
            now = self._clock()
            self._values = {key: kept for key, kept in self._values.items() if kept[0] > now}
            return iter(list(self._values))

    def __len__(self) -> int:
        """Return the number of values that have not expired."""
        return sum(1 for _ in self)
