"""Retention: the owner of the store removes old executions and lines by itself, in slices between its turns.

A round begins soon after the engine's start and then once an hour. Between two slices of a round the engine runs its
turns for a while, so that no execution waits longer than for one slice. An engine that ends during a round leaves the
rest to the next engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.calls.deployments.planner_driver import NOT_READ
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.maintenance import Purged, PurgeRules

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.ports.store import Store
    from phaseline.ports.tenant_store import PurgeRound
    from phaseline.run.loop.engine_services import EngineServices

FIRST_MS = 1_000
"""Time in ms from the engine's first turn to its first round, so that a short command is not slower."""
EVERY_MS = 3_600_000
"""Time in ms between the beginnings of two rounds."""
REST_MS = 100
"""Time in ms after a slice in which the engine runs only turns."""


@frozen
class RetentionAges:
    """How long (ms) after its end an execution is kept, and the log lines and events of an execution. 0: for ever."""

    executions_ms: int = 0
    lines_ms: int = 0


class Retention:
    """Decides when the engine removes what is older than its ages, and removes it. Used only by the loop's thread."""

    def __init__(self, store: Store, services: EngineServices, now: Callable[[], int], ages: RetentionAges) -> None:
        """Remove nothing yet. ``now`` returns the time in ms."""
        self._store, self._services, self._now, self._ages = store, services, now, ages
        self._round: PurgeRound | None = None
        self._removed = Purged()
        self._begun = 0
        self.due_at: int | None = None
        """Time in ms at which the next slice is due; None before the first look."""

    def look(self, now: int, *, is_leaving: bool = False) -> None:
        """Remove a slice if it is due. An engine that ``is_leaving`` removes nothing."""
        if self.due_at is None:
            self.due_at = now + FIRST_MS
        if now < self.due_at:
            return
        if is_leaving:
            self.due_at = now + REST_MS
            return
        if self._round is None:
            self._begun, self._removed = now, Purged()
            self._round = self._store.purging(self._rules(now))
        try:
            self._removed += self._round.slice()
        except NOT_READ as error:
            self._end(str(error))
            return
        if self._round.is_over:
            self._end("")
        else:
            self.due_at = self._now() + REST_MS

    def _rules(self, now: int) -> PurgeRules:
        executions, lines = self._ages.executions_ms, self._ages.lines_ms
        return PurgeRules(max(0, now - executions) if executions else 0, max(0, now - lines) if lines else 0)

    def _end(self, trouble: str) -> None:
        """End the round; the next one is due an hour after its beginning."""
        self._round = None
        self.due_at = self._begun + EVERY_MS
        if trouble or self._removed != Purged():
            self._services.purged(self._removed, trouble)
