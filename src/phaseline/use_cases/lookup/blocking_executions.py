"""Check whether a request may begin: it is valid for its workflow, and no stored execution blocks it.

The owner process decides by comparing the same claims of executions (decision 4).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.labels import PARENT_LABEL, Label
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.plan.explain import cloudify_sentences
from phaseline.plan.requests import availability, claims, request_problems, request_validation

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import numpy as np

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.ports.execution_reads import ExecutionReads
    from phaseline.ports.tenant_store import StoreRows


@frozen
class Queued:
    """Why a queued execution does not begin. ``blocker`` is the execution that blocks it.

    It is of the same deployment, or it installs one that this execution's deployment reads (DP12).
    ``needs_person`` is True if the blocker, or an execution that blocks the blocker, waits for an operator.
    """

    blocker: ExecutionRow
    needs_person: bool


def blocking_execution(store: ExecutionReads, row: ExecutionRow) -> Queued | None:
    """Return which execution blocks this queued execution, or None if it is not blocked or has already begun."""
    if row.status is not ExecutionStatus.QUEUED or row.started_at:
        return None
    before = [other for other in _in_order(store, row.deployment) if other.number != row.number]
    later = {other.number for other in before if not other.started_at and other.number > row.number}
    blocker = _first_in_the_way(store, row, [other for other in before if other.number not in later])
    if blocker is None and row.request.workflow == "install":
        from phaseline.calls.deployments.estate.provider_installs import awaited_install  # few commands need it

        blocker = awaited_install(_rows(store), row)
    if blocker is None:
        return None
    deeper = blocking_execution(store, blocker)
    return Queued(blocker, deeper.needs_person if deeper else blocker.status is ExecutionStatus.ATTENTION)


def _rows(store: ExecutionReads) -> StoreRows:
    """Return the store behind what was read ahead for a list; a store itself unchanged."""
    return cast("StoreRows", getattr(store, "store", store))


def is_read(store: StoreRows, row: DeploymentRow) -> bool:
    """Return True if another deployment has a record about this one, or its label ``csys-obj-parent`` names it (DP5)."""
    children = store.labels.having([Label(PARENT_LABEL, row.name)]) - {row.number}
    return bool(children) or (store.has_dependencies and bool(store.dependencies.on(row.number, limit=1)))


def goes_on(store: ExecutionReads, row: ExecutionRow) -> bool:
    """Return False if the execution waits for an operator, or is blocked by an execution that does."""
    if row.status is ExecutionStatus.ATTENTION:
        return False
    queued = blocking_execution(store, row)
    return queued is None or not queued.needs_person


def has_open_work(store: StoreRows, *, besides: Collection[int] = ()) -> bool:
    """Return True if an open execution can continue without an operator, or a request has no answer.

    ``besides`` are numbers of executions to leave out, because the engine knows that they wait for an operator.
    """
    rows = [row for row in store.executions(only_open=True) if row.number not in besides]
    last = store.incarnations.held() if rows else 0
    open_rows = [row for row in rows if row.number > last]
    return any(goes_on(store, row) for row in open_rows) or bool(store.requests())


def still_calling(store: ExecutionReads, row: ExecutionRow) -> ExecutionRow | None:
    """Return the canceled execution whose running calls a queued execution waits for, or None if there is none.

    Return None also until the engine has recorded that the execution is queued.
    """
    if row.status is not ExecutionStatus.QUEUED or row.started_at or blocking_execution(store, row) is not None:
        return None

    if not any(event.type == cloudify_sentences.QUEUED for event in store.events(row.number)):
        return None
    before = [other for other in store.executions(row.deployment) if other.number < row.number]
    return next((other for other in reversed(before) if other.status is ExecutionStatus.CANCELED), None)


def raise_if_reopening(store: StoreRows, row: ExecutionRow) -> None:
    """Raise PL-C016 if another execution claims the instances of an ended execution that is to continue.

    Raise PL-C010 if its deployment was deleted.
    """
    if row.status.is_ended:
        other = _first_in_the_way(store, row, _in_order(store, row.deployment))
        if other is not None:
            raise request_problems.busy(row, other)
        request_problems.raise_if_deleted(store.deployment(row.deployment_name), row)


def beside(store: StoreRows, row: ExecutionRow) -> Callable[[ExecutionRow], bool]:
    """Return a function that tests an open execution: True if an ended execution may continue beside it.

    It may if the two executions do not claim the same instances.
    """
    return _apart(store.topology(row.deployment), row.request)


def compatible_executions(topology: Topology, request: Request) -> Callable[[ExecutionRow], bool]:
    """Return a function that tests an open execution: True if a new execution may be stored while it is open.

    This is allowed if the new execution may wait, or if the two executions do not claim the same instances.
    """
    return _apart(topology, request) if request.if_busy == "refuse" else lambda _other: True


def raise_if_busy(store: StoreRows, row: DeploymentRow, topology: Topology, request: Request) -> None:
    """Raise PL-C016 if a new execution would have to wait but its request refuses to wait (decision 4)."""
    may_be_beside = compatible_executions(topology, request)
    for other in _in_order(store, row.number):
        if not may_be_beside(other):
            raise in_the_way(other)


def in_the_way(found: ExecutionRow) -> ProblemsError:
    """Return PL-C016: an execution of the deployment has not ended."""
    if found.status is ExecutionStatus.ATTENTION:
        way = f"decide about its unsure calls: phaseline executions retry {found.id}, or executions complete {found.id}"
    else:
        way = f"wait for it: phaseline executions follow {found.id}"
    message = f"the execution {found.id} of the deployment '{found.deployment_name}' has not ended"
    mend = f"{way}; or end it: phaseline executions cancel {found.id}"
    return problem_error("PL-C016", message, mend, subject=found.deployment_name)


def _in_order(store: ExecutionReads, deployment: int) -> list[ExecutionRow]:
    """Return the open executions of a deployment by number; executions that have begun come before queued ones."""
    return sorted(store.executions(deployment, only_open=True), key=lambda row: (not row.started_at, row.number))


def _first_in_the_way(store: ExecutionReads, row: ExecutionRow, others: list[ExecutionRow]) -> ExecutionRow | None:
    if not others or row.request.if_busy == "force":
        return None

    topology = store.topology(row.deployment)
    own = claims.claim_of(topology, row.request)
    return next((other for other in others if claims.collide(own, claims.claim_of(topology, other.request))), None)


def _apart(topology: Topology, request: Request) -> Callable[[ExecutionRow], bool]:
    own = claims.claim_of(topology, request)
    return lambda other: not claims.collide(own, claims.claim_of(topology, other.request))


def raise_if_invalid(topology: Topology, request: Request) -> None:
    """Raise ``ProblemsError`` with all problems of the request."""
    problems = request_validation.check(topology, request)
    if problems:
        raise ProblemsError(problems)


def raise_if_suspended(name: str, workflow: str, topology: Topology, states: np.ndarray) -> None:
    """Raise PL-C080 if some instances are suspended and the workflow changes running instances.

    Heat (source 2) refuses this, too.
    """
    count = availability.suspended_count(workflow, topology, states)
    if count:
        verb = "instance is" if count == 1 else "instances are"
        message = f"the workflow '{workflow}' changes what runs, and {count:,} {verb} suspended"
        raise problem_error("PL-C080", message, f"resume them first: phaseline resume -d {name}", subject=name)
