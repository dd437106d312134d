"""Plan the workflows ``snapshot``, ``restore`` and ``delete_snapshot`` (decision 24; spec of hooks, section 11).

A snapshot calls ``cloudify.interfaces.snapshot.create`` of each instance that implements it, then stores the deployment
as a document. A restore is an update to the plan of that document, then ``snapshot.apply``. A deletion calls
``snapshot.delete``, then deletes the document. All three operations get the name of the snapshot; under this name an
operation can keep data for later in its runtime properties.

Example of ``restore``: the rounds of an update come first; the history that the planner of update gets has only these
rounds, not those of the restore itself.
Then instances that were up at the snapshot and are not up now are installed. Then ``snapshot.apply`` is called for
every instance that is up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.stack_documents import SNAPSHOT as KIND
from phaseline.model.execution.execution import Reshape, Verdict
from phaseline.model.execution.stored_plans import PLAN
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import Problem
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.lifecycle_sequence import Call
from phaseline.plan.graph.operation_arguments import OPERATION_PARMS, SNAPSHOT_NAME
from phaseline.plan.graph.verdicts import settled, verdict
from phaseline.plan.graph.workflow import INPUTS, NAMES, Parameter, Workflow
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows import install, update
from phaseline.plan.workflows.check import implementing, is_up

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import GoOn, History, Request, Round
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

SNAPSHOT, RESTORE, DELETE = "snapshot", "restore", "delete_snapshot"
"""Names of the workflows, and of their graphs with calls."""
WRITTEN_DOWN, DROPPED = "written down", "dropped"
"""Names of the rounds that store and delete the document."""
MISSING = "install missing"
"""Name of the graph that installs instances that were up at the snapshot and are not up now."""
WAS_UP = "was_up"
"""Parameter of ``restore``: the ids of instances that were up at the snapshot."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Reshape | GoOn | Verdict:
    """Return the graph with the calls, then the round that stores or deletes the document; after it, the verdict."""
    deletes = request.workflow == DELETE
    last = DROPPED if deletes else WRITTEN_DOWN
    done = settled(history, last) or settled(history, request.workflow)
    if done is not None and (done.name == last or history.canceled or not done.is_met):
        return verdict(history, done)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    if done is None:
        asked = Asked(topology, request, history, declare)
        graph = _called(asked, request.workflow, op.SNAPSHOT_DELETE if deletes else op.SNAPSHOT_CREATE)
        if graph is not None:
            return graph
    document = (KIND, str(request.parameters.get(SNAPSHOT_NAME) or history.execution))
    return Reshape(DROPPED, topology, drops=document) if deletes else Reshape(WRITTEN_DOWN, topology, keeps=document)


def plan_restore(
    topology: Topology, request: Request, history: History, declare: Declare
) -> Graph | Reshape | GoOn | Verdict:
    """Return the rounds of an update, then the restore's own rounds; after these, the verdict."""
    own = tuple(done for done in history.rounds if done.name in {MISSING, RESTORE})
    answer = _updated(topology, request, altered(history, rounds=_others(history, own)), declare)
    if not (isinstance(answer, Verdict) and answer.status is ExecutionStatus.COMPLETED):
        return answer
    asked, last = Asked(topology, request, history, declare), own[-1] if own else None
    if last is not None and (last.name == RESTORE or history.canceled or not last.is_met):
        return verdict(history, last)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    if last is None:
        missing = _missing(asked)
        if missing.any():
            return install.build_install_graph(asked, missing, intact=op.INSTALL_RELATIONSHIP_OPERATIONS, name=MISSING)
    return _called(asked, RESTORE, op.SNAPSHOT_APPLY) or (answer if last is None else verdict(history, last))


def _others(history: History, own: tuple[Round, ...]) -> tuple[Round, ...]:
    return tuple(done for done in history.rounds if done not in own)


def _updated(
    topology: Topology, request: Request, history: History, declare: Declare
) -> Graph | Reshape | GoOn | Verdict:
    """Return the next step of the update to the document's plan. Nodes that cannot be updated in place are replaced."""
    if history.canceled and any(done.name == update.FINISHED for done in history.rounds):
        history = altered(history, canceled=False)
    asked = altered(request, parameters={**request.parameters, update.ALLOW_REPLACE: True})
    return update.plan(topology, asked, history, declare)


def _missing(asked: Asked) -> np.ndarray:
    """Return the existing instances that were up at the snapshot and are not up now; bool by number."""
    said = asked.request.parameters.get(WAS_UP)
    number_of = asked.topology.number_of
    found = np.zeros(len(asked.topology), bool)
    found[[number_of[id] for id in said if id in number_of] if isinstance(said, list) else []] = True
    found &= asked.topology.is_there & ~is_up(asked)
    return found


def _called(asked: Asked, name: str, operation: str) -> Graph | None:
    """Return the graph that calls the operation of each instance that is up and implements it; None if none does."""
    chosen = is_up(asked) & implementing(asked.topology, operation)
    return weave(asked, name, chosen, Walk((Call(operation),))) if chosen.any() else None


def problems(_topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield PL-P042 if a restore has no plan to carry out."""
    if request.workflow == RESTORE and PLAN not in request.parameters:
        mend = "name the snapshot: phaseline restore -d NAME SNAPSHOT"
        yield Problem("PL-P042", "a restore needs a snapshot, and none is given", mend)


_NAME = Parameter((str,), "the name of a snapshot", required=True)
_COMMON: Mapping[str, Parameter] = {SNAPSHOT_NAME: _NAME, OPERATION_PARMS: INPUTS}
WORKFLOWS = {
    SNAPSHOT: Workflow(plan, _COMMON),
    DELETE: Workflow(plan, _COMMON),
    RESTORE: Workflow(plan_restore, {**_COMMON, **update.PARAMETERS, WAS_UP: NAMES}, problems=problems),
}
