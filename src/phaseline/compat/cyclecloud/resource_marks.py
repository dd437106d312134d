"""The marks that a plugin sets on the resources of a run, and the outcomes that follow when the run ends (R2 to R9)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import timedelta

import numpy as np

from phaseline.calls.protocol.plugin_boundary import milliseconds as milliseconds_of
from phaseline.model.graph.plugin_errors import RecoverableError
from phaseline.model.graph.status import OutcomeKind

UNMARKED, COMPLETED, FAILED, SLEEPING = range(4)
MAX_DELAY_S = 30 * 24 * 3600
"""Largest delay in seconds: 30 days (section 3.3 of the CycleCloud document, source 1)."""
NO_MESSAGE = "failed without a message"


def milliseconds(delay: object) -> int | None:
    """Convert a delay, in seconds or as a timedelta, to milliseconds. Return None unless it is between 0 and 30 days.

    >>> milliseconds(2.5), milliseconds(timedelta(minutes=1)), milliseconds(-1), milliseconds(float("nan"))
    (2500, 60000, None, None)
    """
    seconds = delay.total_seconds() if isinstance(delay, timedelta) else delay
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or math.isnan(seconds):
        return None
    return round(seconds * 1000) if 0 <= seconds <= MAX_DELAY_S else None


class Marks:
    """The marks of a run's resources, by position.

    If a resource is marked repeatedly, the last mark counts, except that "failed" is never replaced (R8).

    ``sleep_ms``: milliseconds until the plugin is called again for pending resources; -1 for the phase's delay.
    """

    def __init__(self, count: int) -> None:
        self.marks = bytearray(count)
        self.messages: dict[int, str] = {}
        self.contradicted: set[int] = set()
        self.sleep_ms = -1
        self._delays: dict[int, int] = {}
        self._has_failed = False

    def complete(self, places: Iterable[int], message: str = "") -> None:
        """Mark resources as completed. Without a ``message`` their progress messages are removed."""
        if not message and not self.messages and not self._has_failed:
            if isinstance(places, range):
                self.marks[places.start : places.stop] = bytes([COMPLETED]) * len(places)
                return
            for place in places:
                self.marks[place] = COMPLETED
            return
        for place in places:
            if self.marks[place] == FAILED:
                self.contradicted.add(place)
                continue
            self.marks[place] = COMPLETED
            self._say(place, message)

    def fail(self, places: Iterable[int], message: str) -> None:
        """Mark resources as failed."""
        self._has_failed = True
        for place in places:
            if self.marks[place] == COMPLETED:
                self.contradicted.add(place)
            self.marks[place] = FAILED
            self._say(place, message or NO_MESSAGE)

    def sleep(self, places: Iterable[int], delay_ms: int | None, message: str = "") -> None:
        """Mark resources as pending. If ``delay_ms`` is None, the plugin is called again after the delay of the run."""
        for place in places:
            if self.marks[place] == FAILED:
                continue
            self.marks[place] = SLEEPING
            if message:
                self.messages[place] = message
            if delay_ms is None:
                self._delays.pop(place, None)
            else:
                self._delays[place] = delay_ms

    def _say(self, place: int, message: str) -> None:
        if message:
            self.messages[place] = message
        else:
            self.messages.pop(place, None)

    def settle(
        self, raised: BaseException | None, *, sleep_ms: int, unmarked: OutcomeKind
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return two arrays by position: the outcomes' kinds (uint8), and the delays in ms (int64).

        ``raised``: the plugin's exception or None. ``sleep_ms``: the phase's delay. ``unmarked``: the outcome of a
        resource without a mark.
        """
        again, completed, failed = OutcomeKind.AGAIN, OutcomeKind.COMPLETED, OutcomeKind.FAILED
        if raised is None:
            meanings = (unmarked, completed, failed, again)
        elif isinstance(raised, RecoverableError):
            meanings = (again, completed, failed, again)
        else:
            meanings = (failed, completed, failed, failed)
        marks = np.frombuffer(bytes(self.marks), np.uint8)
        kinds = np.array(meanings, np.uint8)[marks]
        delays = np.full(len(marks), -1, np.int64)
        is_again = kinds == again
        delays[is_again] = sleep_ms if self.sleep_ms < 0 else self.sleep_ms
        asked = getattr(raised, "retry_after", None)
        if asked is not None and isinstance(raised, RecoverableError):
            delays[is_again & (marks == UNMARKED)] = min(milliseconds_of(asked), MAX_DELAY_S * 1000)
        for place, delay in self._delays.items():
            if kinds[place] == again:
                delays[place] = delay
        return kinds, delays
