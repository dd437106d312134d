"""How the graph of a state is written: names of its steps and lanes, numbers of states that have no fixed one (ADR 0011).

A state of resources is a graph: who enters it (``state:NAME``), its phases (``phase:NAME``), who leaves it
(``exit:NAME``). Instance states of blueprints have fixed numbers; the states of paths are data, so each deployment has
a list of names, and a name's number is its place there behind ``FIRST_NAMED``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.resources.resources import REMOVED

if TYPE_CHECKING:
    from phaseline.model.graph.graph import Step

STATE_PREFIX = "state:"
LANE_PREFIX = "phase:"
"""What stands before the name of a phase where it names a step or a lane."""
EXIT_PREFIX = "exit:"
FIRST_NAMED = 64
"""States of paths have numbers from here on; those below are ``InstanceState`` or the engine's own."""
MOST_NAMED = 192
"""So many different states a deployment may have: a state is a byte."""


ENGINE_MEASURE = "engine"
"""Under which an engine stores what it measures of itself."""


def measure_of(phase: str) -> str:
    """Under which an engine stores what it measures of a phase."""
    return LANE_PREFIX + phase.lower()


def phase_of(step: str) -> str | None:
    """The phase that a step or lane is about; None: it is about no phase of a state.

    >>> phase_of("phase:Acme.Create"), phase_of("cloudify.interfaces.lifecycle.create")
    ('Acme.Create', None)
    """
    return step[len(LANE_PREFIX) :] if step.startswith(LANE_PREFIX) else None


def has_phases(steps: Iterable[Step]) -> bool:
    """Whether one of these steps is about a phase."""
    return any(step.phase.startswith(LANE_PREFIX) for step in steps)


def is_of_state(step: str) -> bool:
    """True for who enters a state, and for who leaves it: nothing is called there.

    >>> is_of_state("exit:Allocation"), is_of_state("phase:Acme.Create")
    (True, False)
    """
    return step.startswith((STATE_PREFIX, EXIT_PREFIX))


def state_entered(step: str) -> str | None:
    """The state that subjects of a step enter; None: of another step.

    >>> state_entered("state:Allocation"), state_entered("exit:Allocation")
    ('Allocation', None)
    """
    return step[len(STATE_PREFIX) :] if step.startswith(STATE_PREFIX) else None


def state_name(number: int, names: Sequence[str]) -> str:
    """The state of a number; ``names``: those of the deployment.

    >>> state_name(7, ()), state_name(65, ("Validation", "Allocation"))
    ('started', 'Allocation')
    """
    if number >= FIRST_NAMED:
        place = number - FIRST_NAMED
        return names[place] if place < len(names) else f"state {number}"
    return WORDS.get(number) or f"state {number}"


WORDS = {**{int(state): state.word for state in InstanceState}, REMOVED: "removed"}


def state_numbers(names: Sequence[str]) -> Mapping[str, int]:
    """{state: its number}.

    >>> state_numbers(("Validation", "Allocation"))
    {'Validation': 64, 'Allocation': 65}
    """
    return {name: FIRST_NAMED + place for place, name in enumerate(names)}


def missing_names(names: Sequence[str], wanted: Iterable[str]) -> tuple[str, ...]:
    """Those wanted that have no number yet, each once."""
    known = set(names)
    return tuple(name for name in dict.fromkeys(wanted) if name not in known)
