"""Names of steps and lanes in the graph of a state, and numbers of states that have no fixed number (ADR 0011).

The graph of a state of resources has a beginning (``state:NAME``), phases (``phase:NAME``) and an exit (``exit:NAME``).
Instance states of blueprints have fixed numbers. Other states are defined by plugins, so each deployment has a list of
their names; a state's number is ``FIRST_NAMED`` plus its index in the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.graph import LANE_PREFIX
from phaseline.model.resources.resources import REMOVED

FIRST_NAMED = 64
"""Number of the first state of a path; smaller numbers are those of ``InstanceState`` or of the engine."""
MOST_NAMED = 192
"""Most different states of paths in a deployment, because a state is stored as a byte."""


ENGINE_MEASURE = "engine"
"""Name under which an engine stores the figures that it measures of itself."""


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
