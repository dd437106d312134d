"""How the graph of a state is written: names of its steps and lanes, numbers of states that have no fixed one (ADR 0011).

A state of resources is a graph: the entry (``state:NAME``), its phases (``phase:NAME``), the exit
(``exit:NAME``). Instance states of blueprints have fixed numbers; the states of paths are data, so each deployment has
a list of names, and a name's number is its place there behind ``FIRST_NAMED``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.graph import LANE_PREFIX
from phaseline.model.resources.resources import REMOVED

FIRST_NAMED = 64
"""States of paths have numbers from here on; those below are ``InstanceState`` or the engine's own."""
MOST_NAMED = 192
"""So many different states a deployment may have: a state is a byte."""


ENGINE_MEASURE = "engine"
"""Under which an engine stores what it measures of itself."""


def measure_of(phase: str) -> str:
    """Return the name under which an engine stores the figures that it measures of a phase."""
    return LANE_PREFIX + phase.lower()


def state_name(number: int, names: Sequence[str]) -> str:
    """Return the state with a number. ``names``: the state names of the deployment.

    >>> state_name(7, ()), state_name(65, ("Validation", "Allocation"))
    ('started', 'Allocation')
    """
    if number >= FIRST_NAMED:
        place = number - FIRST_NAMED
        return names[place] if place < len(names) else f"state {number}"
    return WORDS.get(number) or f"state {number}"


WORDS = {**{int(state): state.word for state in InstanceState}, REMOVED: "removed"}


def state_numbers(names: Sequence[str]) -> Mapping[str, int]:
    """Return {state: its number}.

    >>> state_numbers(("Validation", "Allocation"))
    {'Validation': 64, 'Allocation': 65}
    """
    return {name: FIRST_NAMED + place for place, name in enumerate(names)}


def missing_names(names: Sequence[str], wanted: Iterable[str]) -> tuple[str, ...]:
    """Return the names in ``wanted`` that have no number yet, each once."""
    known = set(names)
    return tuple(name for name in dict.fromkeys(wanted) if name not in known)
