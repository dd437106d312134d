"""The name of a store in tokens and marks: its identity, and after a restore also the incarnation (rule BK4)."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence


@frozen
class Incarnation:
    """One life of a store after its first: it was restored, or is a copy. ``name`` is random; ``at`` is in ms.

    Graphs from the id ``first_graph`` on and batches from ``first_batch`` on were made in it. A store that is restored
    twice from one backup uses ids twice; the different names keep the tokens different.
    """

    number: int
    name: str
    at: int
    cause: str
    first_graph: int
    first_batch: int


class Names:
    """The name of the store in tokens, for each incarnation. A store that was never restored has only its identity."""

    def __init__(self, identity: str, incarnations: Sequence[Incarnation] = ()) -> None:
        """``incarnations`` are in the order of time."""
        self._names = [identity, *(f"{identity}.{one.name}" for one in incarnations)]
        self._graphs = [one.first_graph for one in incarnations]
        self.present = self._names[-1]
        """Name in everything that is made from now on."""
        self.first_batch = incarnations[-1].first_batch if incarnations else 0
        """First batch of the present incarnation. Calls of earlier batches may still run for another copy of the store."""
        self.is_only = not incarnations

    def of_graph(self, graph: int) -> str:
        """Return the name in tokens of a graph's entries: that of the incarnation that made the graph.

        >>> names = Names("ab12", [Incarnation(1, "c0de", 0, "restored", 7, 9)])
        >>> names.of_graph(6), names.of_graph(7)
        ('ab12', 'ab12.c0de')
        """
        return self._names[bisect_right(self._graphs, graph)]
