"""Which occurrences fire now and which were missed, when a clock is looked at again (SC7, SC13)."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import Final, Literal

from phaseline.lang.fast_dataclasses import frozen
from phaseline.plan.recurrence.occurrences import Occurrences

CatchUp = Literal["slip", "last", "all", "none"]
"""Which occurrences of the past fire: the newest within the slip, the newest, all, or the newest if it is due now."""

GRACE_S: Final = 60
"""Seconds by which an occurrence may be late in any case, as in Cloudify."""
MAX_CAUGHT_UP: Final = 100
"""Largest number of occurrences that fire at once with catch-up "all": the newest ones."""
MAX_COUNTED: Final = 10_000
"""Largest number of missed occurrences that are counted one by one; of more, the count is this number."""


@frozen
class DueFirings:
    """What is due: moments that fire, ascending, and the missed ones; all in seconds of UTC since 1970.

    ``missed`` is (first, last, count), or None. ``next`` is the first moment after now, or None if there is none.
    """

    fire: tuple[int, ...]
    missed: tuple[int, int, int] | None
    next: int | None


def due_firings(
    occurrences: Occurrences, seen: int, now: int, *, slip_s: int = 0, catch_up: CatchUp = "slip"
) -> DueFirings:
    """Return what fires at ``now``. Occurrences up to ``seen`` have fired or were counted as missed before.

    A clock that was set back changes nothing: nothing up to ``seen`` is due again, and ``next`` is after ``seen``. A
    clock that was set forward is a pause: the newest occurrence fires if it is at most the slip and a minute late.
    """
    following = occurrences.after(max(seen, now))
    first = occurrences.after(seen)
    if first is None or first > now:
        return DueFirings((), None, following)
    past = _newest(occurrences, seen, now, MAX_CAUGHT_UP if catch_up == "all" else 1)
    late_s = {"slip": slip_s + GRACE_S, "none": GRACE_S}.get(catch_up)
    fire = tuple(moment for moment in past if late_s is None or now - moment <= late_s)
    end = fire[0] if fire else now + 1
    if first >= end:
        return DueFirings(fire, None, following)
    count = sum(1 for moment in islice(occurrences.all_after(seen), MAX_COUNTED) if moment < end)
    last = _newest(occurrences, seen, end - 1, 1)[-1]
    return DueFirings(fire, (first, last, count), following)


def _newest(occurrences: Occurrences, seen: int, now: int, most: int) -> tuple[int, ...]:
    """Return the newest occurrences after ``seen`` and up to ``now``, at most ``most``, without walking through all."""
    span = GRACE_S
    while True:
        start = max(seen, now - span)
        found: deque[int] = deque(maxlen=most)
        for moment in occurrences.all_after(start):
            if moment > now:
                break
            found.append(moment)
        if len(found) == most or start == seen:
            return tuple(found)
        span *= 4
