"""Having a phase called no more until somebody allows it again; kept with who wanted it and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.frozen import frozen
from phaseline.model.problem import fail
from phaseline.model.rows import RequestKind
from phaseline.use_cases.resources.applying import known_phases
from phaseline.use_cases.resources.asking import ask_for, engine_now
from phaseline.use_cases.typos import did_you_mean

if TYPE_CHECKING:
    from phaseline.model.blueprint import Value
    from phaseline.use_cases.workplace import Workplace

BY_USER = "paused by a user"


@frozen
class Paused:
    """What came of it. ``is_changed`` False: it was so before. ``is_running``: an engine runs, and knows of it."""

    phase: str
    is_paused: bool
    is_changed: bool
    actor: str
    reason: str
    is_running: bool


def pause(place: Workplace, name: str, *, reason: str = BY_USER) -> Paused:
    """Have a phase called no more: resources that come to it wait, calls that run go on. Raises: PL-D053."""
    phase = _name(place, name)
    is_new = place.store.pause_phase(phase, place.actor, reason.strip() or BY_USER)
    return _told(place, phase, is_new=is_new)


def unpause(place: Workplace, name: str) -> Paused:
    """Have it called again, whoever paused it. Raises: PL-D053 for a phase that is neither known nor paused."""
    phase = _name(place, name)
    was_paused = place.store.unpause_phase(phase)
    return _told(place, phase, is_new=was_paused)


def _told(place: Workplace, phase: str, *, is_new: bool) -> Paused:
    engine = engine_now(place)
    row = place.store.paused_phases().get(phase.lower())
    if is_new:
        told: dict[str, Value] = {"is_paused": row is not None, "reason": row.reason if row is not None else ""}
        engine = ask_for(place, [(RequestKind.PAUSE, 0, {"phase": phase, **told})])
    actor, reason = (row.actor, row.reason) if row is not None else (place.actor.name, "")
    return Paused(phase, row is not None, is_new, actor, reason, engine.is_there)


def _name(place: Workplace, name: str) -> str:
    """The phase as it is spelled where it is defined, or where it was paused."""
    registry = known_phases(place)
    phase = registry.get(name)
    if phase is not None:
        return phase.name
    row = place.store.paused_phases().get(name.lower())
    if row is not None:
        return row.name
    hint = did_you_mean(name, [each.name for each in registry.phases])
    mend = f"{hint[:1].upper()}{hint[1:]} " if hint else ""
    raise fail("PL-D053", f"there is no phase '{name}'", f"{mend}See phaseline phases list.")
