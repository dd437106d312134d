"""What becomes of the times at which schedules are due, as the clockwork decides it and a store keeps it (SC1, SC6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.execution.stored_plans import StoredPlan
    from phaseline.model.rows.rows import ExecutionRow, NewExecution
    from phaseline.model.rows.schedules import ScheduleRow

RunOutcome = Literal["fired", "skipped_busy", "missed", "refused", "disabled"]
"""What became of a time: ``disabled`` is the time at which a schedule was disabled because its last execution failed."""


@frozen
class DueSchedule:
    """A schedule to look at. ``is_busy``: the execution that it started last is open. ``has_failed``: it failed, or
    waits for a person, and the schedule was not disabled for that before.
    """

    row: ScheduleRow
    is_busy: bool = False
    has_failed: bool = False


@frozen
class NewRun:
    """What became of times at which a schedule was due, in ms: of one, or of ``count`` from ``due`` to ``last_due``.

    ``execution`` is what begins; a dry run has a ``plan`` to be stored instead.
    """

    due: int
    last_due: int
    outcome: RunOutcome
    count: int = 1
    execution: NewExecution | None = None
    plan: StoredPlan | None = None
    reason: str = ""


@frozen
class Firing:
    """The runs of a schedule to be stored, and what it is then. Nothing is stored if it was changed since ``row``."""

    row: ScheduleRow
    runs: Sequence[NewRun]
    next_at: int
    last_at: int
    is_enabled: bool = True
    reason: str = ""


@frozen
class ScheduleRun:
    """A stored run: like ``NewRun``, with the time ``fired_at`` at which it was decided. ``execution`` is 0 without one."""

    due: int
    last_due: int
    count: int
    fired_at: int
    execution: int
    outcome: RunOutcome
    reason: str


class FiringShelf(Protocol):
    """What the clockwork needs of a store: the schedules of all tenants that are due. Only the owner fires."""

    def next_at(self) -> int | None:
        """Return the smallest ``next_at`` of enabled schedules (``NOT_COMPUTED`` first), or None; by an index."""
        ...

    def due(self, now: int, limit: int) -> Sequence[DueSchedule]:
        """Return enabled schedules that are due at ``now`` or were not computed, by ``next_at`` and number."""
        ...

    def fire(self, firings: Sequence[Firing], now: int) -> Sequence[ExecutionRow]:
        """Store the firings in one transaction; return the executions, which wait on claims like all others (SC6).

        A run that exists does not change. An execution that cannot be stored makes its run a refused one.
        """
        ...
