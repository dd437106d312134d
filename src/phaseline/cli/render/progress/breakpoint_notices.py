"""Instances that stand at breakpoints, in what is told of progress: once, with the command that lets them go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.breakpoints import PREFIX
from phaseline.model.execution.pre_post import HOOKS
from phaseline.model.graph.status import EntryStatus

if TYPE_CHECKING:
    from phaseline.app.watcher import Progress

MOVING = (EntryStatus.WAITING, EntryStatus.RUNNING, EntryStatus.CANCELING)


def standing(progress: Progress) -> dict[str, int]:
    """{breakpoint: how many instances stand there}."""
    found: dict[str, int] = {}
    for row in progress.rows:
        count = row.counts.get(EntryStatus.SLEEPING, 0)
        if count and row.phase.startswith(PREFIX):
            point = row.phase.removeprefix(PREFIX)
            found[point] = found.get(point, 0) + count
    return found


def stands_still(progress: Progress) -> bool:
    """Whether nothing goes on until somebody at a breakpoint is let go on, or a hook class agrees, be it that a person approves.

    What a hook class says that sleeps is told when it says it.
    """
    return any(EntryStatus.SLEEPING in row.counts for row in progress.rows) and not any(
        row.counts.get(status)
        for row in progress.rows
        for status in (MOVING if row.phase.startswith((PREFIX, HOOKS)) else (*MOVING, EntryStatus.SLEEPING))
    )


def sleeps_for_persons(progress: Progress) -> bool:
    """Whether all that sleep do so at breakpoints or for hook classes: the time at which these look up again says nothing."""
    sleeping = [row for row in progress.rows if EntryStatus.SLEEPING in row.counts]
    return bool(sleeping) and all(row.phase.startswith((PREFIX, HOOKS)) for row in sleeping)


def standing_text(point: str, count: int, deployment: str) -> str:
    """Who stands where, and the command.

    >>> standing_text("pre-create", 2, "shop")
    '2 instances stand at pre-create: phaseline breakpoints clear pre-create -d shop'
    """
    who = "1 instance stands" if count == 1 else f"{count:,} instances stand"
    return f"{who} at {point}: phaseline breakpoints clear {point} -d {deployment}"


class BreakpointNotices:
    """Remembers what was told, so that nothing is told twice."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self._told: dict[str, int] = {}

    def news(self, progress: Progress, deployment: str) -> list[str]:
        """A sentence for each breakpoint at which others stand than when it was last told."""
        now = standing(progress)
        texts = [
            standing_text(point, count, deployment) for point, count in now.items() if self._told.get(point) != count
        ]
        self._told = now
        return texts
