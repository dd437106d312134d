"""Place breakpoints before and after the phases of a state, which run side by side (H46).

A breakpoint before a phase waits for the needs of the phase, and the phase waits for the breakpoint. The dependents of
the phase wait for the breakpoint after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.breakpoints import POST, PRE
from phaseline.model.graph.graph import LaneSpec, Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.plan.states.state_graph import Beside


def with_stops(phases: Sequence[Beside], breakpoints: Sequence[Breakpoint]) -> tuple[Beside, ...]:
    """Return the phases together with their breakpoints: a phase waits for the breakpoints before it.

    Phases that need this phase wait for the breakpoints after it.
    """
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
            found.append(altered(one, name=stop, needs=needs, is_stop=True))
            needs = (stop,)
        found.append(altered(one, needs=needs))
        needs = (one.name,)
        for stop in names[POST, one.name]:
            found.append(altered(one, name=stop, needs=needs, is_stop=True))
            needs = (stop,)
    return tuple(found)


def pause_policy(step: str) -> Policy:
    """Return the policy for the entries of a breakpoint, whose step is called ``step``."""
    return Policy(LaneSpec(step, form="bulk"), max_retries=0, repeatable=True)


def stopping(step: str, breakpoints: Sequence[Breakpoint], names: Sequence[str]) -> list[bool]:
    """Return one bool for each name of a node or resource: True if it stops at a breakpoint of the step."""
    alike = [one for one in breakpoints if one.phase == step]
    return [any(one.concerns(name) for one in alike) for name in names]
