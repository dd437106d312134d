"""Progress of each step of a graph: number of entries by status, computed from the status bytes when requested."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phaseline.model.graph.graph import Step
from phaseline.model.graph.status import EntryStatus

_STATUSES = tuple(EntryStatus)


def count_by_step(steps: Sequence[Step], statuses: np.ndarray) -> dict[int, dict[EntryStatus, int]]:
    """Return {index of the step: {status: number of its entries}}, without statuses that no entry has.

    Every entry is in exactly one step. So one count over (step, status) serves ten thousand small steps as well as nine
    large ones.
    """
    sizes = np.fromiter((step.count for step in steps), np.int64, len(steps))
    cells = np.repeat(np.arange(len(steps), dtype=np.int64) * len(_STATUSES), sizes)
    cells += statuses
    counts = np.bincount(cells, minlength=len(steps) * len(_STATUSES))
    found = np.flatnonzero(counts)
    counted: dict[int, dict[EntryStatus, int]] = {place: {} for place in range(len(steps))}
    for cell, count in zip(found.tolist(), counts[found].tolist(), strict=True):
        place, status = divmod(cell, len(_STATUSES))
        counted[place][_STATUSES[status]] = count
    return counted
