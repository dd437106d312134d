"""A deployment in one row of a list: its status, the number of its instances in each state, its latest execution.

In the words of Cloudify it has further statuses, which are computed from its summary and from those of all that belongs
to it by the label ``csys-obj-parent`` (LB10). It is an environment if its label ``csys-obj-type`` is "environment", and
a service otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.blueprint import labels as label_keys
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


# -- in the words of Cloudify, with what belongs to a deployment (LB10)

ACTIVE, INACTIVE = "active", "inactive"
COMPLETED, FAILED, CANCELLED = "completed", "failed", "cancelled"
ENVIRONMENT = "environment"
STARTED = "started"
"""Name of the state of an instance that is installed."""
_WORST = {GOOD: 0, IN_PROGRESS: 1, REQUIRES_ATTENTION: 2}
_LATEST = {
    ExecutionStatus.COMPLETED: COMPLETED,
    ExecutionStatus.FAILED: FAILED,
    ExecutionStatus.ATTENTION: FAILED,
    ExecutionStatus.CANCELED: CANCELLED,
}


class Kin(NamedTuple):
    """A deployment that belongs to others, or is an environment. ``parents``: the names of what it belongs to, sorted."""

    number: int
    name: str
    kind: DeploymentKind = "blueprint"
    parents: tuple[str, ...] = ()
    is_environment: bool = False


@frozen
class ListedFacts:
    """What lists show of some deployments besides rows and summaries.

    ``kin`` are all deployments that belong to others and all environments, by number. ``sites``: {deployment: name of
    its site}. ``checked``: the deployments with results of checks. ``blueprint_ids``: {deployment: id of its stored
    blueprint}. ``display_names``: {deployment: the name that its blueprint gives it for display}.
    """

    kin: Sequence[Kin]
    sites: Mapping[int, str]
    checked: frozenset[int]
    blueprint_ids: Mapping[int, str]
    display_names: Mapping[int, str]


@frozen
class DeploymentStatuses:
    """The statuses of a deployment. Those of what belongs to it are empty if nothing does."""

    installation_status: str
    latest_execution_status: str
    deployment_status: str
    sub_services_count: int = 0
    sub_services_status: str = ""
    sub_environments_count: int = 0
    sub_environments_status: str = ""


def installation_status(kind: str, summary: DeploymentSummary) -> str:
    """Return ``active`` if no instance is in another state than started, else ``inactive``.

    Resources are active if nothing of them runs and their last execution reached its states.
    """
    if kind == "resources":
        return ACTIVE if summary.status == GOOD else INACTIVE
    is_started = all(state == STARTED for state, count in summary.states.items() if count)
    return ACTIVE if is_started or summary.status in {GOOD, ADOPTED} else INACTIVE


def latest_execution_status(summary: DeploymentSummary) -> str:
    """Return the status of the latest execution in Cloudify's words, or "" without one."""
    if not summary.executions:
        return ""
    return _LATEST.get(summary.executions[-1].status, IN_PROGRESS)


def own_status(kind: str, summary: DeploymentSummary) -> str:
    """Return the status of a deployment without those that belong to it: good, in progress, or requires attention.

    An execution that hook classes refused has changed nothing, so it does not count (H22).
    """
    latest = latest_execution_status(summary)
    if latest == IN_PROGRESS:
        return IN_PROGRESS
    has_failed = latest == FAILED and summary.status == REQUIRES_ATTENTION
    if summary.flaw or has_failed or installation_status(kind, summary) == INACTIVE:
        return REQUIRES_ATTENTION
    return GOOD


def worst(statuses: Iterable[str]) -> str:
    """Return the worst of some statuses, "" if there are none.

    >>> worst(["good", "requires_attention", "in_progress"])
    'requires_attention'
    """
    return max(statuses, key=_WORST.__getitem__, default="")


class Families:
    """Which deployments belong to which, by name."""

    def __init__(self, kin: Iterable[Kin]) -> None:
        """``kin``: all deployments that belong to others, and all environments."""
        self.known: dict[str, Kin] = {}
        self.children: dict[str, list[str]] = {}
        """{name: names of those that belong to it directly}"""
        for one in kin:
            self.known[one.name] = one
            for parent in one.parents:
                self.children.setdefault(parent, []).append(one.name)

    def below(self, name: str) -> list[str]:
        """Return the names of all that belong to a deployment, directly or not, each once and never itself."""
        found: dict[str, None] = {}
        waiting = [name]
        while waiting:
            for child in self.children.get(waiting.pop(), ()):
                if child not in found and child != name:
                    found[child] = None
                    waiting.append(child)
        return list(found)

    def above(self, name: str) -> Mapping[str, str]:
        """Return {name of a deployment that this one belongs to, directly or not: the one below it on the way}."""
        found: dict[str, str] = {}
        waiting = [name]
        while waiting:
            one = waiting.pop(0)
            for parent in self.known[one].parents if one in self.known else ():
                if parent not in found:
                    found[parent] = one
                    waiting.append(parent)
        return found

    def is_environment(self, name: str) -> bool:
        """Return whether a deployment is an environment."""
        return name in self.known and self.known[name].is_environment

    def statuses(self, name: str, kind: str, summary: DeploymentSummary, own: Mapping[str, str]) -> DeploymentStatuses:
        """Return the statuses of a deployment. ``own``: {name: ``own_status``} of all that belong to it."""
        services: list[str] = []
        environments: list[str] = []
        for one in self.below(name):
            if one in own:
                (environments if self.is_environment(one) else services).append(own[one])
        mine = own_status(kind, summary)
        return DeploymentStatuses(
            installation_status(kind, summary),
            latest_execution_status(summary),
            worst([mine, *services, *environments]),
            len(services),
            worst(services),
            len(environments),
            worst(environments),
        )


def kin_of(labels: Iterable[tuple[int, str, DeploymentKind, str, str]]) -> list[Kin]:
    """Return the deployments that make families. ``labels``: (number, name, kind, key, value), in order."""
    parents: dict[int, list[str]] = {}
    environments: set[int] = set()
    named: dict[int, tuple[str, DeploymentKind]] = {}
    for number, name, kind, key, value in labels:
        named[number] = name, kind
        if key == label_keys.PARENT:
            parents.setdefault(number, []).append(value)
        elif key == label_keys.OBJECT_TYPE and value == ENVIRONMENT:
            environments.add(number)
    return [
        Kin(number, name, kind, tuple(parents.get(number, ())), number in environments)
        for number, (name, kind) in named.items()
        if number in parents or number in environments
    ]
