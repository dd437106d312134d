"""Count the needs of each entry from the edges; after a restore also count unmet and lost needs.

Most edges of a planned graph lead from each instance of a step to the same instance of the next step, so their targets
ascend by one. Such edges are counted with one addition to a slice of the column. All other edges are counted piece by
piece, which takes less memory than a second column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.status_transitions import IS_OPEN, LOST, TOLERANT, UNMET, UNSURE
from phaseline.lang.arrays import as_slice, some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phaseline.engine.arena import Arena
    from phaseline.engine.arena_layout import GraphSlot
    from phaseline.model.graph.graph import Graph

PIECE = 65_536
"""Number of edges that are counted at a time."""
WIDEST = 4 * PIECE
"""Largest distance (in entries) between targets counted with ``bincount``, which takes memory for the distance."""
MOST_STRETCHES = 64
"""Number of ranges of entries up to which edges are read range by range; for more ranges they are read with an index."""
STATUSES = range(len(IS_OPEN))


def count_into(column: np.ndarray, targets: np.ndarray, change: int = 1) -> None:
    """Add ``change`` to each row of a column that is named in ``targets``, once for each time it is named."""
    for low in range(0, len(targets), PIECE):
        piece = targets[low : low + PIECE]
        where = as_slice(piece)
        if isinstance(where, slice):
            column[where] += change
            continue
        first, last = int(piece.min()), int(piece.max())
        if last - first < WIDEST:
            column[first : last + 1] += (np.bincount(piece - first) * change).astype(column.dtype)
        else:
            np.add.at(column, piece, column.dtype.type(change))


def recount(arena: Arena, slot: GraphSlot, graph: Graph) -> None:
    """Count the unmet and lost needs, and the open and unsure entries, of a restored graph from the statuses of its entries."""
    low, high = slot.base, slot.end
    status = arena.status[low:high]
    held = status.tobytes()
    found = {one: status == one for one in STATUSES if one in held}
    tolerant = (arena.marks[low:high] & TOLERANT) != 0
    for column, table, tells, change in ((arena.unmet, UNMET, 0, -1), (arena.lost, LOST, 1, 1)):
        told = _telling(found, tolerant, table == tells)
        if told is not None:
            for targets in _targets(graph, told):
                count_into(column[low:high], targets, change)
    unsure = np.count_nonzero(found[UNSURE]) if UNSURE in found else 0
    still_open = sum([np.count_nonzero(mask) for one, mask in found.items() if IS_OPEN[one]])
    arena.slot_open[slot.number] = still_open - unsure
    arena.slot_unsure[slot.number] = unsure
    arena.touched.add(slot.number)


def _telling(found: dict[int, np.ndarray], tolerant: np.ndarray, table: np.ndarray) -> np.ndarray | None:
    """Return the entries (bool array) whose status changes a counter of their dependents, or None if there are none.

    ``table[status, is tolerant]`` is True if the status changes the counter.
    """
    told: np.ndarray | None = None
    for status, mask in found.items():
        hardly, easily = table[status].tolist()
        if not hardly and not easily:
            continue
        if hardly != easily:
            mask = mask & (tolerant if easily else ~tolerant)
        told = mask if told is None else told | mask
    return told if told is not None and some(told) else None


def _targets(graph: Graph, told: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the targets of the edges of the entries marked in ``told`` (bool array), range by range if there are few ranges."""
    bends = (told[1:] != told[:-1]).nonzero()[0]
    if len(bends) > MOST_STRETCHES:
        yield graph.idx[told.repeat(graph.ptr[1:] - graph.ptr[:-1])]
        return
    cuts = [0, *(bends + 1).tolist(), len(told)]
    first = 0 if told[0] else 1
    for low, high in zip(cuts[first::2], cuts[first + 1 :: 2], strict=False):
        yield graph.idx[graph.ptr[low] : graph.ptr[high]]
