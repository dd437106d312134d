"""How far each step of a graph is: counts by status, computed from status bytes when asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phaseline.model.graph.graph import Step
from phaseline.model.graph.status import EntryStatus

_STATUSES = tuple(EntryStatus)


def count_by_step(steps: Sequence[Step], statuses: np.ndarray) -> dict[int, dict[EntryStatus, int]]:
    """{place of the step: {status: how many of its entries}}; statuses with none are left out.

    Steps tile the graph, so one count over (step, status) serves ten thousand small steps as well as nine large ones.
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
