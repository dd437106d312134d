"""Phases of a state side by side, each after those that it waits for, with the breakpoints before and behind them (H46).

A breakpoint before a phase waits for what the phase would wait for, and the phase for it; what would wait for the phase waits for the one behind it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.frozen import altered, frozen
from phaseline.model.graph import LaneSpec, Policy
from phaseline.model.state_steps import LANE_PREFIX

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.breakpoints import Breakpoint
    from phaseline.model.phases import PhaseDefinition


@frozen
class Beside:
    """A phase of a state, or (``is_stop``) a breakpoint at one, and those beside it, by name, that it waits for.

    ``phase`` None: nobody has defined it.
    """

    name: str
    phase: PhaseDefinition | None
    needs: tuple[str, ...]
    is_stop: bool = False

    @property
    def step(self) -> str:
        """The name of its step."""
        return self.name if self.is_stop else LANE_PREFIX + self.name


def with_stops(phases: Sequence[Beside], breakpoints: Sequence[Breakpoint]) -> tuple[Beside, ...]:
    """The phases with what stands before and behind them."""
    if not breakpoints:
        return tuple(phases)
    from phaseline.model.breakpoints import POST, PRE

    names = {
        (when, one.name): list(dict.fromkeys(stop.phase for stop in breakpoints if stop.is_beside(when, one.name)))
        for one in phases
        for when in (PRE, POST)
    }
    last = {one.name: [one.name, *names[POST, one.name]][-1] for one in phases}
    found: list[Beside] = []
    for one in phases:
        needs = tuple(last[need] for need in one.needs)
        for stop in names[PRE, one.name]:
            found.append(Beside(stop, one.phase, needs, is_stop=True))
            needs = (stop,)
        found.append(altered(one, needs=needs))
        needs = (one.name,)
        for stop in names[POST, one.name]:
            found.append(Beside(stop, one.phase, needs, is_stop=True))
            needs = (stop,)
    return tuple(found)


def pause_policy(step: str) -> Policy:
    """How the entries of a breakpoint are called."""
    return Policy(LaneSpec(step, form="bulk"), max_retries=0, repeatable=True)


def stopping(step: str, breakpoints: Sequence[Breakpoint], names: Sequence[str]) -> list[bool]:
    """Which of these nodes or resources stop at a step of breakpoints."""
    alike = [one for one in breakpoints if one.phase == step]
    return [any(one.concerns(name) for one in alike) for name in names]
