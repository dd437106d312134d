"""A deployment in one row of a list: its status, the number of its instances in each state, its latest execution."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.status import LEFT, ExecutionStatus
from phaseline.model.resources.resources import REMOVED
from phaseline.model.resources.state_graph_names import state_name

if TYPE_CHECKING:
    from phaseline.model.rows.rows import DeploymentKind, ExecutionRow

IN_PROGRESS, REQUIRES_ATTENTION = "in_progress", "requires_attention"
NOT_INSTALLED, GOOD, ADOPTED, SUSPENDED = "not_installed", "good", "adopted", "suspended"
"""Statuses of deployments."""
GONE = (InstanceState.UNINITIALIZED, InstanceState.DELETED)
IS_GONE = frozenset(map(int, GONE))
"""Numbers of the states in which nothing of an instance is installed."""
HALF_WAY = (
    InstanceState.INITIALIZING,
    InstanceState.CREATING,
    InstanceState.CONFIGURING,
    InstanceState.STARTING,
    InstanceState.STOPPING,
    InstanceState.DELETING,
)
"""States of instances during operations. In a deployment where nothing runs, only a failure leaves them there."""
IS_HALF_WAY = frozenset(map(int, HALF_WAY))
ADOPT_WORKFLOW = "adopt"


@frozen
class DeploymentSummary:
    """A deployment as lists show it.

    ``states`` are numbers of instances by state: without those that were removed. ``executions``: the open ones and the
    latest one, and if the deployment may need attention also those that failed or were canceled; oldest first.
    ``flaw`` is why nothing else could be read.
    """

    status: str
    states: Mapping[str, int] = field(default_factory=dict)
    executions: Sequence[ExecutionRow] = ()
    flaw: str = ""


@frozen
class LatestExecution:
    """What decides about the status of a deployment: its latest execution, without those that hook classes refused."""

    status: ExecutionStatus
    workflow: str


def status_of(kind: DeploymentKind, latest: LatestExecution | None, present: Collection[int], *, has_open: bool) -> str:
    """Return the status of a deployment (W11).

    ``present``: the life-cycle states that at least one instance has. ``has_open``: an execution is open.
    """
    return _status_of_resources(latest, has_open=has_open) if kind == "resources" else _status_of_nodes(latest, present)


def _status_of_resources(latest: LatestExecution | None, *, has_open: bool) -> str:
    """It is "in_progress" while an execution is open, "requires_attention" if the last one failed, otherwise "good"."""
    if has_open:
        return IN_PROGRESS
    return REQUIRES_ATTENTION if latest is not None and latest.status is ExecutionStatus.FAILED else GOOD


def _status_of_nodes(latest: LatestExecution | None, present: Collection[int]) -> str:
    """The latest execution decides if it is open or has failed; otherwise the states of the instances decide."""
    status = latest.status if latest is not None else None
    if status is not None and not status.is_ended and status is not ExecutionStatus.ATTENTION:
        return IN_PROGRESS
    if status in {ExecutionStatus.FAILED, ExecutionStatus.ATTENTION}:
        return REQUIRES_ATTENTION
    if IS_GONE.issuperset(present):
        return NOT_INSTALLED
    if set(present) == {InstanceState.STARTED}:
        return ADOPTED if latest is not None and latest.workflow == ADOPT_WORKFLOW else GOOD
    return SUSPENDED if set(present) == {InstanceState.SUSPENDED} else REQUIRES_ATTENTION


def may_be_refused(row: ExecutionRow) -> bool:
    """Return True if hook classes may have refused the execution, which then has changed nothing (H22)."""
    return row.status is ExecutionStatus.FAILED and row.request.is_surrounded


def is_calm(kind: DeploymentKind, latest: ExecutionStatus | None, states: Collection[int], *, has_failed: bool) -> bool:
    """Return True if no ended execution of a deployment can need attention.

    ``states`` are the numbers of the states of its instances. ``has_failed``: an execution of it has failed or was
    canceled.
    """
    if not has_failed:
        return True
    return not (latest in LEFT or kind == "resources" or not IS_HALF_WAY.isdisjoint(states))


def named(states: Mapping[int, int], names: Sequence[str]) -> Mapping[str, int]:
    """Return {state: number of instances} from numbers of states, without removed ones, in the order of the numbers.

    >>> named({7: 2, 65: 1, 63: 4}, ("Validation", "Allocation"))
    {'started': 2, 'Allocation': 1}
    """
    return {state_name(state, names): states[state] for state in sorted(states) if state != REMOVED}
