"""Pauses of a process that waits for an answer of the owner.

An answer of an engine in this process ends the pause. An engine of another process answers within a few milliseconds,
if at all soon, so the first pauses are short, and each is longer than the one before.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from phaseline.ports.tenant_store import StoreReads

FIRST_S = 0.001
"""Length, in seconds, of the first pause."""
GROWTH = 1.5
"""How many times longer each pause is than the one before: an answer that comes after 6 ms is seen within 2 ms more."""


class Pauses:
    """A context for waiting: call ``wait`` between two looks at the store."""

    def __init__(self, store: StoreReads, most_s: float) -> None:
        """``most_s``: length, in seconds, of the longest pause."""
        self._answered = threading.Event()
        self._hearing = store.listen_for_answers(self._answered.set)
        self._next_s, self._most_s = FIRST_S, most_s

    def __enter__(self) -> Self:
        """Listen to answers."""
        self._hearing.__enter__()
        return self

    def __exit__(self, *raised: object) -> None:
        """Stop listening."""
        self._hearing.__exit__(None, None, None)

    @property
    def is_short(self) -> bool:
        """True between the first and the longest pause: then an owner that was there before is still there, as a rule."""
        return FIRST_S < self._next_s < self._most_s

    def wait(self) -> None:
        """Wait for an answer of an engine in this process, or until the pause is over."""
        self._answered.wait(self._next_s)
        self._answered.clear()
        self._next_s = min(GROWTH * self._next_s, self._most_s)
