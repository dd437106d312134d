"""Notices of instances stopped at breakpoints, each shown once with the command that clears the breakpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import number
from phaseline.model.execution.breakpoints import PREFIX
from phaseline.model.execution.pre_post import HOOKS
from phaseline.model.graph.status import EntryStatus

if TYPE_CHECKING:
    from phaseline.app.watcher import Progress

MOVING = (EntryStatus.WAITING, EntryStatus.RUNNING, EntryStatus.CANCELING)


def standing(progress: Progress) -> dict[str, int]:
    """Return {breakpoint: number of instances stopped there}."""
    found: dict[str, int] = {}
    for row in progress.rows:
        count = row.counts.get(EntryStatus.SLEEPING, 0)
        if count and row.phase.startswith(PREFIX):
            point = row.phase.removeprefix(PREFIX)
            found[point] = found.get(point, 0) + count
    return found


def stands_still(progress: Progress) -> bool:
    """Return True if the execution only waits until a breakpoint is cleared or a hook class agrees.

    A hook class may wait for an approval, for example. Its message is shown when it is sent.
    """
    return any(EntryStatus.SLEEPING in row.counts for row in progress.rows) and not any(
        row.counts.get(status)
        for row in progress.rows
        for status in (MOVING if row.phase.startswith((PREFIX, HOOKS)) else (*MOVING, EntryStatus.SLEEPING))
    )


def sleeps_for_persons(progress: Progress) -> bool:
    """Return True if all sleeping entries wait at breakpoints or for hook classes.

    Then the times of their next checks are of no use to a reader.
    """
    sleeping = [row for row in progress.rows if EntryStatus.SLEEPING in row.counts]
    return bool(sleeping) and all(row.phase.startswith((PREFIX, HOOKS)) for row in sleeping)


def standing_text(point: str, count: int, deployment: str) -> str:
    """Return a sentence: the number of stopped instances, the breakpoint, and the command that clears it.

    >>> standing_text("pre-create", 2, "shop")
    '2 instances stopped at pre-create: phaseline breakpoints clear pre-create -d shop'
    """
    return f"{number(count, 'instance')} stopped at {point}: phaseline breakpoints clear {point} -d {deployment}"


class BreakpointNotices:
    """The notices already shown, so that none is repeated."""

    def __init__(self) -> None:
        """Begin with no notice shown."""
        self._told: dict[str, int] = {}

    def news(self, progress: Progress, deployment: str) -> list[str]:
        """Return a sentence for each breakpoint whose number of stopped instances has changed since its last notice."""
        now = standing(progress)
        texts = [
            standing_text(point, count, deployment) for point, count in now.items() if self._told.get(point) != count
        ]
        self._told = now
        return texts
