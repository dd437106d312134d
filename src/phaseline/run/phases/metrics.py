"""Metrics of an engine's work with phases (section 12): how long resources wait for a call, how late timers fire.

Nothing is kept per resource: at each turn, the waiting time of a phase grows by the number of resources in its lane,
times the time since the last turn.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from phaseline.model.graph.graph import phase_of
from phaseline.model.resources.state_graph_names import ENGINE_MEASURE, measure_of
from phaseline.model.rows.rows import Metric

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.events import Changes
    from phaseline.ports.store import Store
    from phaseline.run.phases.listeners import Listeners

TELL_MS = 1_000
"""The shortest time in ms between two writes of the metrics."""


class Waits:
    """Waiting times of one phase: the number of called resources, and the sum in ms of the times that they waited."""

    def __init__(self, name: str, before: Metric | None) -> None:
        """Continue from the values ``before``, measured by an earlier engine, or from zero."""
        self.name = name
        told = before.body if before is not None else {}
        self.called, self.waited_ms = (_number(told.get(figure)) for figure in ("called", "waited_ms"))

    def measure(self, at: int) -> Metric:
        """Return the metric to store."""
        return Metric(measure_of(self.name), at, {"called": self.called, "waited_ms": self.waited_ms})


class Gauges:
    """The metrics of an engine. A turn calls ``look`` first, ``rows`` before it is stored, ``decided`` afterwards."""

    def __init__(self, store: Store, scheduler: Scheduler, listeners: Listeners) -> None:
        """Continue the metrics of phases from the last engine; metrics of the engine itself start at zero."""
        self._scheduler = scheduler
        self._listeners = listeners
        self._before = store.measures()
        self._waits: dict[str, Waits] = {}
        self._changed: set[str] = set()
        self._looked = self._told = 0
        self._told_of_engine: dict[str, Value] = {}
        self._wakings = self._lag_ms = self._lag_sum_ms = self._longest_lag_ms = 0
        self.is_leaving = False

    def look(self, now: int) -> None:
        """Add the time since the last turn to waiting entries, and measure how late due sleepers are woken."""
        elapsed = now - self._looked if self._looked else 0
        self._looked = now
        index = self._scheduler.lanes.index
        for phase in index.phases() if elapsed > 0 else ():
            if name := phase_of(phase):
                waiting = sum(lane.waiting for lane in index.of_phase(phase))
                if waiting:
                    self._of(name).waited_ms += waiting * elapsed
        due = self._scheduler.sleepers.next(self._scheduler.arena)
        if due is not None and due <= now:
            self._lag_ms = now - due
            self._wakings += 1
            self._lag_sum_ms += self._lag_ms
            self._longest_lag_ms = max(self._longest_lag_ms, self._lag_ms)

    def decided(self, changes: Changes) -> None:
        """Count the resources that a turn has had called."""
        for batch in changes.opened:
            if name := phase_of(batch.lane.phase):
                self._of(name).called += len(batch)

    def rows(self) -> Sequence[Metric]:
        """Return the metrics to store with this turn; empty if the last ones were stored less than ``TELL_MS`` ago."""
        now = self._looked
        if now - self._told < TELL_MS and not self.is_leaving:
            return ()
        rows = [self._waits[key].measure(now) for key in sorted(self._changed)]
        self._changed.clear()
        engine = self._engine()
        if engine != self._told_of_engine:
            self._told_of_engine = engine
            rows.append(Metric(ENGINE_MEASURE, now, engine))
        if rows:
            self._told = now
        return rows

    def _of(self, name: str) -> Waits:
        key = name.lower()
        self._changed.add(key)
        if key not in self._waits:
            self._waits[key] = Waits(name, self._before.get(measure_of(name)))
        return self._waits[key]

    def _engine(self) -> dict[str, Value]:
        lanes, listeners = self._scheduler.lanes, self._listeners
        pools: dict[str, Value] = {
            name: {"size": size, "busy": lanes.used.get(name, 0)} for name, size in lanes.slots.items()
        }
        pools["listeners"] = {"size": listeners.threads, "busy": listeners.busy()}
        return {
            "pid": os.getpid(),
            "pools": pools,
            "timers": {
                "wakings": self._wakings,
                "lag_ms": self._lag_ms,
                "mean_lag_ms": round(self._lag_sum_ms / self._wakings) if self._wakings else 0,
                "longest_lag_ms": self._longest_lag_ms,
            },
            "listeners": {
                "waiting": listeners.waiting(),
                "told": listeners.told,
                "dropped": listeners.dropped,
                "errors": listeners.errors,
            },
        }


def _number(value: Value) -> int:
    return value if isinstance(value, int) else 0
