"""Update: a deployment gets another blueprint, and its instances follow (W60, W61).

Rounds in the order of the source: ``uninstall`` of who goes; the new blueprint is taken over, with all that comes and goes;
``install`` of who comes; ``check_drift`` of who stays; ``check_status`` and ``heal`` of those to be updated; what these found is
sorted out; ``update``; those that could not be updated are uninstalled and installed again; the update is finished. Empty
rounds are left out. What a round needs to know of earlier ones lies in ``Topology.started``, in the states and in the results of
checks, so an engine that takes the execution over in the middle comes to the same.

Who goes is uninstalled before the new blueprint is stored: what takes it away sees the deployment as it was made, and an
update that fails so early has changed nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.checks import UPDATE_RELATIONSHIP, UPDATES
from phaseline.model.execution import Reshape, Verdict
from phaseline.model.frozen import altered
from phaseline.model.modification import Started
from phaseline.model.problem import Problem, ProblemsError
from phaseline.model.states import InstanceState as State
from phaseline.model.status import ExecutionStatus
from phaseline.model.stored_plans import PLAN
from phaseline.model.subject_ranges import ranges_of
from phaseline.plan import operations as op
from phaseline.plan.revising import Revision, revise
from phaseline.plan.sequence import Call, Relate
from phaseline.plan.transforms.intact import concerned
from phaseline.plan.verdicts import verdict
from phaseline.plan.weaving import Asked, Walk, weave
from phaseline.plan.workflow import NAMES, SWITCH, Parameter, Workflow
from phaseline.plan.workflows import heal, install, uninstall
from phaseline.plan.workflows.checking import CHECK_DRIFT, CHECK_STATUS, lay_drift, lay_status
from phaseline.plan.workflows.sorting_out import (
    FORCE_REINSTALL,
    REINSTALL_LIST,
    SKIP_DRIFT_CHECK,
    SKIP_REINSTALL,
    assumes,
    candidates,
    has_any,
    kept,
    kept_instances,
    says,
    sort_out,
    who_again,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.model.blueprint import Value
    from phaseline.model.execution import History, Request, Round
    from phaseline.model.graph import Graph
    from phaseline.model.stored_plans import Aim
    from phaseline.model.topology import Topology
    from phaseline.plan.policies import Declare

UPDATE = "update"
"""Name of the workflow, and of the graph that updates."""
TAKEN_OVER, SORTED, FINISHED = "new blueprint", "sorted out", "finish"
"""Names of the rounds in which the deployment takes another shape."""
UNINSTALL_AGAIN, INSTALL_AGAIN = "uninstall again", "install again"
"""Names of the graphs that reinstall."""

SKIP_INSTALL = "skip_install"
SKIP_UNINSTALL = "skip_uninstall"
SKIP_HEAL = "skip_heal"
ALLOW_REPLACE = "allow_replace"
"""Parameter: nodes that cannot change as they stand are uninstalled and installed anew (decision 18)."""

SHOWN = 5
"""How many nodes are named; all are counted."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Reshape | Verdict:
    """The next round, in the order of the module; after the last one, or one that went wrong, the verdict."""
    last = history.rounds[-1] if history.rounds else None
    if last is not None and (history.canceled or not _goes_on(last)):
        return verdict(history, last)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    asked = Asked(topology, request, history, declare)
    done = frozenset(one.name for one in history.rounds)
    if TAKEN_OVER not in done:
        return _before(asked, done)
    return _installs(asked, done) or _sorts(asked, done) or _follows(asked, done) or _ends(asked, done, last)


def _goes_on(last: Round) -> bool:
    """Whether what comes after a round can come: a heal or an update that has failed is an answer."""
    if last.name in {heal.HEAL, UPDATE}:
        return not last.counts.get("unsure", 0) and not last.counts.get("canceled", 0)
    return last.is_met


# -- before the new blueprint ----------------------------------------------------------------------------------------


def _before(asked: Asked, done: frozenset[str]) -> Graph | Reshape:
    """Who goes is uninstalled; then the new blueprint is taken over."""
    aim = asked.history.aim()
    if aim is None:
        raise ProblemsError(problems(asked.topology, altered(asked.request, parameters={})))
    refuse_other(asked.topology)
    revision = revised(asked.topology, aim)
    if not says(asked, ALLOW_REPLACE):
        refuse_replaced(revision)
    if uninstall.UNINSTALL not in done and not says(asked, SKIP_UNINSTALL):
        goes = np.zeros(len(asked.topology), bool)
        goes[revision.removed] = True
        if goes.any() or concerned(asked.topology, goes, op.UNLINK, revision.reduced).any():
            return uninstall.lay(asked, goes, between=revision.reduced)
    return Reshape(TAKEN_OVER, _taken_over(asked, revision), inputs=aim.inputs, code=aim.code, uses=aim.uses)


def revised(topology: Topology, aim: Aim) -> Revision:
    """What becomes of a deployment that is brought to this. Raises: what ``revise`` does."""
    known = aim.revision
    if isinstance(known, Revision) and known.former is topology:
        return known
    return revise(
        topology,
        aim.blueprint,
        suffixes=aim.suffixes,
        changed_inputs=frozenset(aim.changed_inputs),
        wanted=aim.counts,
        yes_many=True,
    )


def _taken_over(asked: Asked, revision: Revision) -> Topology:
    """The topology under the new blueprint, with what is to be done in it.

    Who came with an update that has not ended, and was not installed by it, comes with this one.
    """
    former = asked.topology.started
    left = former.added if former is not None else np.empty(0, np.int32)
    states, there = asked.history.states, revision.finished.is_there
    left = left[there[left] & (states[left] != State.STARTED)]
    remembered: dict[str, Value] = {
        "extended": ranges_of(revision.extended),
        "retied": ranges_of(revision.retied),
        "changed": ranges_of(revision.drifted),
    }
    return altered(
        revision.finished,
        started=Started(
            asked.history.execution,
            UPDATE,
            revision.finished.blueprint.file,
            added=np.union1d(left, revision.added).astype(np.int32),
            counts=revision.finished.counts,
            kept=remembered,
        ),
    )


def refuse_replaced(revision: Revision) -> None:
    """Raise PL-P041 with every node that would have to be replaced."""
    found = revision.fates.replaced
    if found:
        nodes = revision.finished.blueprint.nodes
        mend = "If these nodes may be uninstalled and installed anew: --allow-replace"
        raise ProblemsError(
            Problem("PL-P041", f"'{name}' cannot change as it stands: {why}", mend, nodes[name].place)
            for name, why in found.items()
        )


def refuse_other(topology: Topology) -> None:
    """Raise PL-P043 while the deployment is in the middle of a modification of another kind."""
    other = topology.started
    if other is not None and other.workflow != UPDATE:
        message = f"the modification of '{other.name}' by {other.execution or other.workflow} has not ended"
        raise ProblemsError(
            [Problem("PL-P043", message, f"End it first: phaseline executions retry {other.execution}")]
        )


# -- after it --------------------------------------------------------------------------------------------------------


def _installs(asked: Asked, done: frozenset[str]) -> Graph | None:
    """Who comes is installed, and ties between those who stay are established."""
    if install.INSTALL in done or says(asked, SKIP_INSTALL):
        return None
    comes, rows = kept_instances(asked, "added"), kept(asked, "extended")
    if comes.any() or concerned(asked.topology, comes, op.ESTABLISH, rows).any():
        return install.lay(asked, comes, between=rows)
    return None


def _sorts(asked: Asked, done: frozenset[str]) -> Graph | Reshape | None:
    """Checks and heals, then what is to become of those who stay."""
    if SORTED in done:
        return None
    if not {CHECK_DRIFT, CHECK_STATUS, heal.HEAL} & done and not says(asked, SKIP_DRIFT_CHECK):
        graph = lay_drift(asked, candidates(asked), tolerant=True, in_order=True)
        if graph is not None:
            return graph
    found = sort_out(asked)
    healing = altered(asked, request=altered(asked.request, parameters={heal.ASSUME_HEALTHY: assumes(asked)}))
    if not says(asked, SKIP_HEAL):
        if not {CHECK_STATUS, heal.HEAL} & done:
            graph = lay_status(healing, found.updated, tolerant=True)
            if graph is not None:
                return graph
        sick = heal.to_heal(healing, found.updated) & found.updated
        if heal.HEAL not in done and sick.any():
            return heal.lay_heal(healing, sick)
        found = found.without(asked, heal.to_reinstall(healing, found.updated))
    started = asked.topology.started
    assert started is not None, "the new blueprint was taken over"
    kept = {**started.kept, **found.as_kept()}
    return Reshape(SORTED, altered(asked.topology, started=altered(started, kept=kept)))


def _follows(asked: Asked, done: frozenset[str]) -> Graph | None:
    """The update itself, and a reinstall of those for whom it was not enough."""
    own, rows = kept_instances(asked, "updated"), kept(asked, "tied")
    if UPDATE not in done:
        chosen = own.copy()
        chosen[asked.topology.source[rows]] = True
        if has_any(asked.topology, own, UPDATES) or len(rows):
            return weave(asked, UPDATE, chosen, _updating(asked, own, rows))
    again = who_again(asked, own, rows)
    if not again.any():
        return None
    if UNINSTALL_AGAIN not in done:
        return uninstall.lay(asked, again, ignore_failure=True, name=UNINSTALL_AGAIN)
    if INSTALL_AGAIN not in done:
        return install.lay(asked, again, intact=op.INSTALL_RELATIONSHIP_OPERATIONS, name=INSTALL_AGAIN)
    return None


def _ends(asked: Asked, done: frozenset[str], last: Round | None) -> Reshape | Verdict:
    if FINISHED not in done:
        return Reshape(FINISHED, altered(asked.topology, started=None))
    assert last is not None, "a round has finished"
    return verdict(asked.history, last)


def _updating(asked: Asked, own: np.ndarray, rows: np.ndarray) -> Walk:
    """The operations of those who have drifted themselves, then those of relationships that have (W61)."""
    only = np.zeros(len(asked.topology.link), bool)
    only[rows] = True
    calls = tuple(Call(name, only=own) for name in UPDATES)
    return Walk((*calls, Relate(UPDATE_RELATIONSHIP, only=only)), once=True, however=True)


# -- what is asked for --------------------------------------------------------------------------------------------------


def problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """An update without a plan to carry out, and instances that there are not."""
    if PLAN not in request.parameters:
        mend = "Name the blueprint to come: phaseline deployments update NAME FILE"
        yield Problem("PL-P042", "an update is of a plan, and there is none", mend)
    said = request.parameters.get(REINSTALL_LIST)
    for name in [said] if isinstance(said, str) else said if isinstance(said, list) else []:
        number = topology.number_of.get(str(name))
        if number is None or not topology.is_there[number]:
            mend = "See: phaseline instances list -d NAME."
            yield Problem("PL-P001", f"{REINSTALL_LIST}: the deployment has no node instance '{name}'", mend)


NO_OWN = Parameter((bool,), "nothing: workflows of one's own cannot be run yet", is_ignored=True)
PARAMETERS: Mapping[str, Parameter] = {
    PLAN: Parameter((int,), "the number of a plan"),
    ALLOW_REPLACE: SWITCH,
    SKIP_INSTALL: SWITCH,
    SKIP_UNINSTALL: SWITCH,
    SKIP_REINSTALL: SWITCH,
    SKIP_DRIFT_CHECK: SWITCH,
    SKIP_HEAL: SWITCH,
    FORCE_REINSTALL: SWITCH,
    REINSTALL_LIST: NAMES,
    heal.ASSUME_HEALTHY: SWITCH,
    uninstall.IGNORE_FAILURE: SWITCH,
    "workflow_id": NO_OWN,
}
WORKFLOW = Workflow(plan, PARAMETERS, problems=problems)
