"""Instances as rows of a list, and which instances of a deployment a query selects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.health.checks import CheckKind
from phaseline.model.resources.resources import REMOVED
from phaseline.model.resources.state_graph_names import state_name, state_numbers

if TYPE_CHECKING:
    from phaseline.model.rows.listings import Roster
    from phaseline.model.rows.row_queries import InstanceQuery

LIFE_CYCLE = {state.word: int(state) for state in InstanceState}
"""{word of a state of the life cycle: its number}"""
NO_STATE = -1
"""Number of a state that a deployment does not know."""


@frozen
class InstanceRow:
    """One instance in a list. ``number`` is its number in its deployment, ``index`` that in its node.

    ``host`` and ``container`` are ids, empty if there is none. ``status`` and ``drift`` are the stored results of its
    checks.
    """

    deployment: str
    number: int
    id: str
    node: str
    index: int
    state: str
    host: str = ""
    container: str = ""
    status: int = 0
    drift: int = 0


@frozen
class InstancePage:
    """One page of instances, by deployment and number.

    ``total``: number of all selected instances. ``flaws`` is {deployment: why its instances or their checks cannot be
    read}.
    """

    rows: Sequence[InstanceRow]
    total: int
    flaws: Mapping[str, str] = field(default_factory=dict)


def number_of_state(state: str, names: Sequence[str]) -> int:
    """Return the number of a state in a deployment with these names of states; ``NO_STATE`` if it has no such state.

    >>> number_of_state("started", ()), number_of_state("Allocation", ("Validation", "Allocation"))
    (7, 65)
    """
    found = LIFE_CYCLE.get(state)
    return state_numbers(names).get(state, NO_STATE) if found is None else found


def selected_numbers(roster: Roster, wanted: InstanceQuery) -> np.ndarray:
    """Return the numbers of the instances that a query selects, ascending, without regard to its page and limit."""
    chosen = (roster.states != REMOVED) & roster.is_there
    if wanted.node:
        chosen &= np.isin(roster.node, [number for number, name in enumerate(roster.nodes) if name == wanted.node])
    if wanted.state:
        chosen &= roster.states == number_of_state(wanted.state, roster.state_names)
    return np.flatnonzero(chosen)


def rows_of(roster: Roster, deployment: str, numbers: Sequence[int]) -> Iterator[InstanceRow]:
    """Yield the rows of these instances of a deployment."""
    for number in numbers:
        host, container = int(roster.host[number]), int(roster.container[number])
        yield InstanceRow(
            deployment,
            number,
            roster.ids[number],
            roster.nodes[int(roster.node[number])],
            int(roster.index[number]),
            state_name(int(roster.states[number]), roster.state_names),
            roster.ids[host] if host >= 0 else "",
            roster.ids[container] if container >= 0 else "",
            roster.checks.of(CheckKind.STATUS, number),
            roster.checks.of(CheckKind.DRIFT, number),
        )


class PageOfInstances:
    """Finds which instances are on the page of a query: deployments are counted first, then those of the page are read."""

    def __init__(self, wanted: InstanceQuery) -> None:
        """Begin with an empty page."""
        self._wanted = wanted
        self._unplanned = self._room = wanted.limit
        self.total = 0

    def may_have(self, name: str, count: int) -> bool:
        """Add a deployment with so many selected instances to the total; return True if the page may have some of them.

        Call it in the order of the list, for all deployments before ``take``.
        """
        self.total += count
        after, room = self._wanted.after, self._unplanned
        if not count or (room is not None and room <= 0):
            return False
        if after is not None and (name > after[0] if self._wanted.is_last_first else name < after[0]):
            return False
        if room is not None and (after is None or after[0] != name):
            self._unplanned = room - count
        return True

    def take(self, name: str, numbers: np.ndarray) -> Sequence[int]:
        """Return those of a deployment's selected instances (ascending numbers) that are on the page, in its order."""
        found: Sequence[int] = numbers.tolist()
        if self._wanted.is_last_first:
            found = found[::-1]
        after = self._wanted.after
        if after is not None and after[0] == name:
            found = [one for one in found if (one < after[1] if self._wanted.is_last_first else one > after[1])]
        if self._room is not None:
            found = found[: max(0, self._room)]
            self._room -= len(found)
        return found
