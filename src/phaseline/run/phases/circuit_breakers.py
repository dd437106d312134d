"""Circuit breakers: a phase that fails too often is paused, later tried with one resource, and resumed on success.

Its resources wait meanwhile; they do not fail. The pause is stored like an operator's pause, with its reason (X12).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import mutable
from phaseline.model.graph.graph import LANE_PREFIX, phase_of
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.rows.rows import Actor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from phaseline.calls.protocol.reports import CallReport
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.phases.definitions import PhaseDefinition
    from phaseline.ports.clock import Clock
    from phaseline.ports.secrets import SecretSource
    from phaseline.ports.store import Store
    from phaseline.run.phases.active_phases import ActivePhases

ENGINE = Actor("engine")
REASON = "circuit breaker: "
"""Prefix of the stored reason, which distinguishes pauses by breakers from pauses by operators."""
COMPLETED, FAILED, RETRY = int(OutcomeKind.COMPLETED), int(OutcomeKind.FAILED), int(OutcomeKind.RETRY)


@mutable
class Count:
    """Numbers of successful and failed outcomes that were reported together, at a time in ms."""

    at: int
    good: int
    bad: int


class Breakers:
    """The circuit breakers of all phases that have one."""

    def __init__(
        self, store: Store, clock: Clock, scheduler: Scheduler, in_force: ActivePhases, secrets: SecretSource
    ) -> None:
        """Read the tripped breakers from the store. ``secrets`` masks the last failure's message in the reason."""
        self._secrets = secrets
        self._store = store
        self._clock = clock
        self._scheduler = scheduler
        self._in_force = in_force
        self._counts: dict[str, deque[Count]] = {}
        self._tripped: dict[str, int] = {}
        self.follow()

    @property
    def wakes_at(self) -> int | None:
        """Time in ms at which the next paused phase is to be tried; None if no breaker is tripped."""
        return min(self._tripped.values(), default=None)

    @property
    def tripped(self) -> set[str]:
        """Lanes of phases that will be tried and resumed without an operator."""
        return {LANE_PREFIX + phase.name for key in self._tripped if (phase := self._in_force.registry.get(key))}

    def follow(self) -> None:
        """Read the tripped breakers again from the store, because operators may have paused or resumed their phases."""
        held = {name: row for name, row in self._store.paused_phases().items() if row.reason.startswith(REASON)}
        self._in_force.probed &= held.keys()
        self._tripped = {name: at for name, at in self._tripped.items() if name in held}
        for name, row in held.items():
            phase = self._in_force.registry.get(name)
            if phase is not None and name not in self._in_force.probed:
                self._tripped.setdefault(name, row.at + round(phase.policy.breaker_pause_s * 1000))

    def see(self, reports: Iterable[CallReport]) -> bool:
        """Count the outcomes of calls. Return True if a phase was paused, resumed, or is to be tried."""
        now = self._clock.now()
        has_changed = False
        for report in reports:
            phase = self._phase_of(report)
            if phase is None or not phase.policy.breaker_share:
                continue
            good = int(np.count_nonzero(report.kinds == COMPLETED))
            bad = int(np.count_nonzero((report.kinds == FAILED) | (report.kinds == RETRY)))
            if good or bad:
                text = next((remark.message for _, remark in report.remarks if remark.message), "")
                has_changed |= self._judge(phase, Count(now, good, bad), text)
        due = [name for name, at in self._tripped.items() if at <= now]
        for name in due:
            del self._tripped[name]
            self._in_force.probed.add(name)
        return has_changed or bool(due)

    def _phase_of(self, report: CallReport) -> PhaseDefinition | None:
        batch = self._scheduler.batches.get(report.batch)
        if batch is None or batch.lane is None or not len(report.members):
            return None
        name = phase_of(batch.lane.spec.phase)
        return None if name is None else self._in_force.registry.get(name)

    def _judge(self, phase: PhaseDefinition, count: Count, text: str) -> bool:
        key, policy = phase.key, phase.policy
        if key in self._in_force.probed:
            self._in_force.probed.discard(key)
            self._store.unpause_phase(phase.name)
            if count.bad:
                self._trip(phase, f"it was tried with {count.good + count.bad} and failed", text)
            return True
        if key in self._tripped:
            return False  # what was called before the pause
        counts = self._counts.setdefault(key, deque())
        counts.append(count)
        while counts[0].at <= count.at - policy.breaker_window_s * 1000:
            counts.popleft()
        bad, every = sum(one.bad for one in counts), sum(one.good + one.bad for one in counts)
        if every < policy.breaker_minimum or bad < policy.breaker_share * every:
            return False
        self._trip(phase, f"{bad} of {every} failed within {policy.breaker_window_s:g} s", text)
        return True

    def _trip(self, phase: PhaseDefinition, why: str, text: str) -> None:
        self._counts.pop(phase.key, None)
        self._tripped[phase.key] = self._clock.now() + round(phase.policy.breaker_pause_s * 1000)
        said = f"; the last message: {self._secrets.masked(text)}" if text else ""
        self._store.pause_phase(phase.name, ENGINE, f"{REASON}{why}{said}")
