"""The activity of a phase: what the server does with the phase, computed from its entries and its calls (section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Activity = Literal["Canceling", "Running", "Sleeping", "Inactive"]
COUNTED = ("Blocked", "Waiting", "Running", "Sleeping", "Failed", "Canceling")
"""Statuses of entries that a phase's record counts, in the words of the source."""


def activity_of(counts: Mapping[str, int], *, is_called: bool) -> Activity:
    """Return the activity. ``counts``: {status: entries}; ``is_called``: a call of the phase runs.

    Blocked, failed and completed entries do not make it active (PD24). Waiting entries count as running, because they are
    queued (PD23). A call is canceling when all its members were canceled (PD22).

    >>> activity_of({"Sleeping": 2, "Failed": 1}, is_called=False), activity_of({"Canceling": 1}, is_called=True)
    ('Sleeping', 'Canceling')
    """
    if is_called and counts.get("Canceling") and not counts.get("Running"):
        return "Canceling"
    if is_called or counts.get("Waiting"):
        return "Running"
    return "Sleeping" if counts.get("Sleeping") else "Inactive"
