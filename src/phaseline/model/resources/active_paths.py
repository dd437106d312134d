"""Active paths: executions that still move some resource towards its target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.resources.resources import REMOVED, newest_of
from phaseline.model.resources.state_graph_names import state_numbers

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value


@frozen
class ActivePath:
    """An execution that moves resources: ``subjects`` are ranges of their numbers, ``target`` is the name of a state."""

    execution: int
    target: Value
    subjects: Value


def speaking(ways: Iterable[ActivePath], states: np.ndarray, names: Sequence[str]) -> set[int]:
    """Return the executions that still move at least one existing resource which is not at the target.

    ``states`` are by number of the resource; ``names`` are the names of the deployment's states.

    >>> ways = [ActivePath(7, "Started", [[0, 3]]), ActivePath(9, "Gone", [[2, 1]])]
    >>> sorted(speaking(ways, np.array([64, 65, 64], np.uint8), ("Allocation", "Started")))
    [7, 9]
    >>> speaking(ways, np.array([65, 65, 63], np.uint8), ("Allocation", "Started"))
    set()
    """
    known = list(ways)
    numbers = state_numbers(names)
    newest = newest_of(((way.execution, way.subjects) for way in known), len(states))
    found = set()
    for way in known:
        here = states[newest == way.execution]
        target = numbers.get(way.target, REMOVED) if isinstance(way.target, str) else REMOVED
        if ((here != REMOVED) & (here != target)).any():
            found.add(way.execution)
    return found
