"""What a store is called in tokens and marks: its identity, and since a restore the incarnation (rule BK4)."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence


@frozen
class Incarnation:
    """One life of a store after its first: it was restored, or is a copy. Random ``name``; ``at`` in ms.

    ``first_graph``, ``first_batch``: graphs and batches from these ids on were made in it. A store that was restored twice from one
    backup has two different names, so numbers that are used again never give an equal token.
    """

    number: int
    name: str
    at: int
    cause: str
    first_graph: int
    first_batch: int


class Names:
    """The name of the store in what each of its incarnations made; a store that was never restored has its identity alone."""

    def __init__(self, identity: str, incarnations: Sequence[Incarnation] = ()) -> None:
        """``incarnations`` oldest first."""
        self._names = [identity, *(f"{identity}.{one.name}" for one in incarnations)]
        self._graphs = [one.first_graph for one in incarnations]
        self.present = self._names[-1]
        """The name in what is made from now on."""
        self.first_batch = incarnations[-1].first_batch if incarnations else 0
        """The first batch of the present incarnation: calls of earlier ones may be running elsewhere, for another store."""
        self.is_only = not incarnations

    def of_graph(self, graph: int) -> str:
        """Return the name in tokens of a graph's entries: that of the incarnation that made the graph.

        >>> names = Names("ab12", [Incarnation(1, "c0de", 0, "restored", 7, 9)])
        >>> names.of_graph(6), names.of_graph(7)
        ('ab12', 'ab12.c0de')
        """
        return self._names[bisect_right(self._graphs, graph)]
