"""Find the resources of an execution that no later execution has given another target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.status import FIRST_ENDED, EntryStatus
from phaseline.model.resources.resources import REACH_WORKFLOW, REMOVED, newest_of

if TYPE_CHECKING:
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.execution_reads import ExecutionReads


def only_present(store: ExecutionReads, row: ExecutionRow, graph: int, statuses: np.ndarray) -> np.ndarray:
    """Return the statuses of a graph's entries; open, failed and skipped entries that are outdated become canceled.

    An entry is outdated if its resource was removed or was given another target by a later execution. The graph is read
    only if some entry is open, failed or skipped.
    """
    is_open = (statuses < FIRST_ENDED) | np.isin(statuses, (EntryStatus.FAILED, EntryStatus.SKIPPED))
    if not is_open.any():
        return statuses
    states = store.states(row.deployment)
    ways = [other for other in store.executions(row.deployment) if other.request.workflow == REACH_WORKFLOW]
    newest = newest_of(((way.number, way.request.parameters.get("subjects")) for way in ways), len(states))
    subjects = store.graph(graph).subject
    past = (newest[subjects] != row.number) | (states[subjects] == REMOVED)
    found = statuses.copy()
    found[past & is_open] = EntryStatus.CANCELED
    return found
