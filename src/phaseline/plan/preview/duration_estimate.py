"""Estimate how long a plan will take, from earlier durations of its operations; unknown if none of them ran before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from phaseline.plan.preview.plan_summary import PhasePlan


@frozen
class Took:
    """The average duration of an operation in earlier executions: of a whole batch, and of one member, both in ms."""

    batch_ms: float
    member_ms: float


def expected_s(phases: Iterable[PhasePlan], took: Mapping[str, Took]) -> float | None:
    """Return the expected duration in seconds: the sum over all waves of the slowest operation in each wave.

    Return None if no operation of the plan ran before.

    >>> from phaseline.plan.preview.plan_summary import PhasePlan
    >>> create = PhasePlan("create", "each", "threads", 10, 1, 10, 1, 1, False)
    >>> start = PhasePlan("start", "bulk", "threads", 10, 2, 2, 2, 2, False)
    >>> expected_s([create, start], {"create": Took(500, 100), "start": Took(3000, 300)})
    7.0
    >>> expected_s([create], {}) is None
    True
    """
    waves: dict[int, float] = {}
    for phase in phases:
        before = took.get(phase.name)
        if before is not None:
            each = _in_a_wave(phase, before)
            for wave in range(phase.first_wave, phase.last_wave + 1):
                waves[wave] = max(waves.get(wave, 0.0), each)
    return round(sum(waves.values()) / 1000, 1) if waves else None


def _in_a_wave(phase: PhasePlan, before: Took) -> float:
    """Return the duration of the phase in each of its waves, in ms.

    For a bulk phase it is the average duration of a batch times the batches in a wave. For any other phase it is the
    average duration of a member times the members in a wave.
    """
    waves = phase.last_wave - phase.first_wave + 1
    if phase.form == "bulk":
        return before.batch_ms * max(1.0, phase.batches / waves)
    return before.member_ms * phase.count / waves
