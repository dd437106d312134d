"""Find failures that later executions did not repair: their instances are still half way between two states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.use_cases.lookup.entries import last_own_graph
from phaseline.use_cases.queries.events.events_and_logs import owners
from phaseline.use_cases.queries.executions import WORTH_TELLING

if TYPE_CHECKING:
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import TenantStore

HALF_WAY = (
    InstanceState.INITIALIZING,
    InstanceState.CREATING,
    InstanceState.CONFIGURING,
    InstanceState.STARTING,
    InstanceState.STOPPING,
    InstanceState.DELETING,
)
"""States of instances during operations. In a deployment where nothing runs, only a failure leaves them there."""
LEFT = (ExecutionStatus.FAILED, ExecutionStatus.CANCELED)
LOOKED_BACK = 20
"""Number of failed and canceled executions that are examined, latest first."""


def left_half_way(store: TenantStore, row: ExecutionRow, graph: int, statuses: np.ndarray) -> np.ndarray:
    """Return a bool array by position: True if the entry failed or is unsure and its instance is still half way.

    An instance is half way while it is in a state such as ``creating`` or ``stopping``.
    """
    bad = np.isin(statuses, WORTH_TELLING)
    if not bad.any():
        return bad
    owner = owners(store.graph(graph), store.topology(row.deployment))
    states = store.states(row.deployment)
    return np.asarray(bad & (owner >= 0) & np.isin(states[owner], HALF_WAY))


def left_behind(store: TenantStore, rows: Sequence[ExecutionRow]) -> ExecutionRow | None:
    """Return the latest execution before the last one that left instances half way and was not replaced.

    ``left_half_way`` defines half way. An execution is replaced if later executions failed on all instances that it
    left. ``rows``: the executions of one deployment, oldest first. Return None if there is no such execution, or while
    an execution is open, because it may repair the instances.
    """
    if len(rows) < 2 or rows[-1].request.workflow == REACH_WORKFLOW or any(not row.status.is_ended for row in rows):
        return None
    ended = [row for row in reversed(rows) if row.status in LEFT][:LOOKED_BACK]
    if not any(row is not rows[-1] for row in ended) or not _any_half_way(store, rows[-1].deployment):
        return None
    later = np.zeros(0, np.int64)
    for row in ended:
        numbers = _numbers(store, row)
        if row is not rows[-1] and len(np.setdiff1d(numbers, later)):
            return row
        later = np.union1d(later, numbers)
    return None


def _any_half_way(store: TenantStore, deployment: int) -> bool:
    return bool(np.isin(store.states(deployment), HALF_WAY).any())


def _numbers(store: TenantStore, row: ExecutionRow) -> np.ndarray:
    """Return the numbers of the instances on which an execution failed and that are still half way."""
    last = last_own_graph(store, row)
    if last is None:
        return np.zeros(0, np.int64)
    found = left_half_way(store, row, last.id, store.statuses(last.id))
    return np.asarray(owners(store.graph(last.id), store.topology(row.deployment))[found])
