"""Plan an update: bring a deployment and its instances to another blueprint (W60, W61).

The rounds have the order that the Cloudify document (source 3) prescribes; empty ones are left out:

- ``uninstall`` of removed instances; then the new blueprint is stored, with the added and removed instances;
- ``install`` of added instances; ``check_drift`` of staying instances; ``check_status`` and ``heal`` of those to update;
- the decision which instances are updated, and which reinstalled; then ``update``;
- uninstall and install of the instances that could not be updated; then the update is finished.

A round reads the results of earlier rounds from ``Topology.started``, the states and the results of checks. So an
engine that takes the execution over halfway computes the same rounds.

Removed instances are uninstalled before the new blueprint is stored. So their operations find the deployment that
created them, and an update that fails so early has changed nothing else. With ``workflow_id`` another planner supplies
the rounds between the new blueprint and the end (``delegated_update``).

If a failed update is to be taken back, the rounds of an update to the former blueprint (``Aim.former``) follow after
the round ``BACK``. A retry of an update that was taken back starts again after the round ``ONCE_MORE``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.index_ranges import ranges_of
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.deployment.modification import Started
from phaseline.model.execution.execution import Reshape, Verdict
from phaseline.model.execution.stored_plans import PLAN
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.health.checks import UPDATE_RELATIONSHIP, UPDATES
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.lifecycle_sequence import Call, Relate
from phaseline.plan.graph.verdicts import verdict
from phaseline.plan.graph.workflow import NAMES, SWITCH, Parameter, Workflow, refuse_restricted
from phaseline.plan.topology import modification_lifecycle as under_way
from phaseline.plan.transforms.intact_neighbours import concerned
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows import heal, install, uninstall
from phaseline.plan.workflows.apply_revision import (
    UNTOUCHED,
    UPDATE,
    raise_if_forbidden,
    raise_if_other_modification,
    raise_if_replaced,
    revised,
    taken_over,
)
from phaseline.plan.workflows.check import CHECK_DRIFT, CHECK_STATUS, build_drift_graph, build_status_graph
from phaseline.plan.workflows.delegated_update import WORKFLOW_ID, handed_over
from phaseline.plan.workflows.lifecycle_retries import retrying
from phaseline.plan.workflows.update_or_reinstall import (
    AGAIN,
    FORCE_REINSTALL,
    REINSTALL_LIST,
    SKIP_DRIFT_CHECK,
    SKIP_REINSTALL,
    assumes,
    candidates,
    has_any,
    is_confirmed,
    kept,
    kept_instances,
    sort_out,
    who_again,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import GoOn, History, Request, Round
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

    Answer = Graph | Reshape | GoOn | Verdict

TAKEN_OVER, SORTED, FINISHED = "new blueprint", "sorted out", "finish"
"""Names of the rounds that change the topology."""
BACK, ONCE_MORE = "back", "once more"
"""Names of rounds that begin a new sequence of rounds: back to the former blueprint, or the update once more."""
UNINSTALL_AGAIN, INSTALL_AGAIN = "uninstall again", "install again"
"""Names of the graphs that reinstall instances."""

SKIP_INSTALL = "skip_install"
SKIP_UNINSTALL = "skip_uninstall"
SKIP_HEAL = "skip_heal"
ALLOW_REPLACE = "allow_replace"
"""Parameter: nodes that cannot be updated in place are uninstalled and installed again (decision 18)."""

AUTO_CORRECT_TYPES = "auto_correct_types"
"""Parameter: inputs given as text are converted to the numbers and booleans that their types require."""
UPDATE_PLUGINS = "update_plugins"
"""Parameter of Cloudify without effect here, because plugins are read from their folder at every call."""
STATUSES = Parameter((bool,), "false: an update has no status but its execution's", is_ignored=True)


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Answer:
    """Return the next round, in the order listed for this module; after the last round or a failed one, the verdict."""
    asked = Asked(topology, request, history, declare)
    forth, back = _parted(history.rounds)
    if back is None:
        answer = _towards(asked, forth)
        is_lost = isinstance(answer, Verdict) and answer.status is ExecutionStatus.FAILED
        return _begin_back(asked, forth) or answer if is_lost and request.take_back else answer
    if back and back[-1].name == FINISHED and back[-2].attempt < history.attempt:
        return Reshape(ONCE_MORE, topology)
    failed = verdict(altered(history, canceled=False), forth[-1])
    if not request.take_back:
        return failed
    aim = history.aim()
    former = aim.former if aim is not None else None
    allowed = altered(request, parameters={**request.parameters, ALLOW_REPLACE: True, WORKFLOW_ID: None})
    answer = _towards(altered(asked, request=allowed, history=altered(history, aim=lambda: former)), back)
    return _brought_back(failed, answer) if isinstance(answer, Verdict) else answer


def _towards(asked: Asked, rounds: tuple[Round, ...]) -> Answer:
    """Return the round that follows ``rounds`` on the way to the target of the update."""
    last, done = rounds[-1] if rounds else None, frozenset(one.name for one in rounds)
    asked = altered(asked, history=altered(asked.history, rounds=rounds))
    if TAKEN_OVER in done and FINISHED not in done and asked.request.parameters.get(WORKFLOW_ID):
        answer = handed_over(asked, rounds[[one.name for one in rounds].index(TAKEN_OVER) + 1 :])
        is_done = isinstance(answer, Verdict) and answer.status is ExecutionStatus.COMPLETED
        return Reshape(FINISHED, under_way.ended(asked.topology)) if is_done else answer
    if last is not None and (asked.history.canceled or last.name == FINISHED or not _goes_on(last)):
        return verdict(asked.history, last)
    if asked.history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    if TAKEN_OVER not in done:
        return _before(asked, done)
    return _installs(asked, done) or _sorts(asked, done) or _follows(asked, done) or _ends(asked)


# -- and back --------------------------------------------------------------------------------------------------------


def _parted(rounds: tuple[Round, ...]) -> tuple[tuple[Round, ...], tuple[Round, ...] | None]:
    """Return (the rounds to the new blueprint, the rounds back to the old one), since the last round ``ONCE_MORE``.

    The second is None if the way back has not begun.
    """
    names = [one.name for one in rounds]
    if ONCE_MORE in names:
        return _parted(rounds[len(names) - names[::-1].index(ONCE_MORE) :])
    at = names.index(BACK) if BACK in names else None
    return (rounds, None) if at is None else (rounds[:at], rounds[at + 1 :])


def _begin_back(asked: Asked, forth: tuple[Round, ...]) -> Reshape | None:
    """Return the round that begins the way back to the former blueprint; None if that blueprint is unknown.

    Removed instances that were uninstalled are recorded, to be installed again. So is whether staying instances may
    have been changed, which happens only after the round "sorted out".
    """
    aim, topology = asked.history.aim(), asked.topology
    if aim is None or aim.former is None:
        return None
    done = {one.name for one in forth}
    started = topology.started or Started(asked.history.execution, UPDATE, topology.blueprint.file)
    remembered: dict[str, Value] = {**started.kept, UNTOUCHED: SORTED not in done}
    if TAKEN_OVER not in done:
        goes = np.zeros(len(topology), bool)
        goes[revised(topology, aim).removed] = True
        goes &= ~np.isin(asked.history.states, [State.STARTED, State.UNINITIALIZED])
        goes |= kept_instances(asked, AGAIN)
        remembered[AGAIN] = ranges_of(goes.nonzero()[0])
    return Reshape(BACK, altered(topology, started=altered(started, kept=remembered)))


def _brought_back(failed: Verdict, back: Verdict) -> Verdict:
    if back.status is ExecutionStatus.COMPLETED:
        return altered(failed, reason=f"{failed.reason}; the deployment was brought back to what it was")
    return altered(back, reason=f"{failed.reason}; then it was brought back: {back.reason or back.status.value}")


def _goes_on(last: Round) -> bool:
    """Return True if the next round can follow. A failed heal or update is a result that the next round handles."""
    if last.name in {heal.HEAL, UPDATE}:
        return not last.counts.get("unsure", 0) and not last.counts.get("canceled", 0)
    return last.is_met


# -- before the new blueprint ----------------------------------------------------------------------------------------


def _before(asked: Asked, done: frozenset[str]) -> Graph | Reshape:
    """Return the graph that uninstalls removed instances; then the change to the new blueprint."""
    aim = asked.history.aim()
    if aim is None:
        raise ProblemsError(problems(asked.topology, altered(asked.request, parameters={})))
    raise_if_other_modification(asked.topology)
    revision = revised(asked.topology, aim)
    if not is_confirmed(asked, ALLOW_REPLACE):
        raise_if_replaced(revision)
    if asked.topology.started is None:  # else a way back, or a continuation that was already checked
        raise_if_forbidden(revision)
    is_handed_over = bool(asked.request.parameters.get(WORKFLOW_ID))
    if uninstall.UNINSTALL not in done and not is_confirmed(asked, SKIP_UNINSTALL) and not is_handed_over:
        goes = np.zeros(len(asked.topology), bool)
        goes[revision.removed] = True
        if goes.any() or concerned(asked.topology, goes, op.UNLINK, revision.reduced).any():
            return uninstall.build_uninstall_graph(asked, goes, between=revision.reduced)
    shape = taken_over(asked, revision, keeps_all=is_handed_over)
    return Reshape(TAKEN_OVER, shape, inputs=aim.inputs, code=aim.code, uses=aim.uses)


# -- after it --------------------------------------------------------------------------------------------------------


def _installs(asked: Asked, done: frozenset[str]) -> Graph | None:
    """Return the graph that installs added instances and establishes new relationships; None if not needed."""
    if install.INSTALL in done or is_confirmed(asked, SKIP_INSTALL):
        return None
    comes, rows = kept_instances(asked, "added"), kept(asked, "extended")
    if comes.any() or concerned(asked.topology, comes, op.ESTABLISH, rows).any():
        return install.build_install_graph(asked, comes, between=rows)
    return None


def _sorts(asked: Asked, done: frozenset[str]) -> Graph | Reshape | None:
    """Return the graphs of checks and heals, then the round that decides whether instances are updated or reinstalled.

    Return None when the decision is made.
    """
    if SORTED in done:
        return None
    if not {CHECK_DRIFT, CHECK_STATUS, heal.HEAL} & done and not is_confirmed(asked, SKIP_DRIFT_CHECK):
        graph = build_drift_graph(asked, candidates(asked), tolerant=True, in_order=True)
        if graph is not None:
            return graph
    found = sort_out(asked)
    healing = altered(asked, request=altered(asked.request, parameters={heal.ASSUME_HEALTHY: assumes(asked)}))
    if not is_confirmed(asked, SKIP_HEAL):
        if not {CHECK_STATUS, heal.HEAL} & done:
            graph = build_status_graph(healing, found.updated, tolerant=True)
            if graph is not None:
                return graph
        sick = heal.to_heal(healing, found.updated) & found.updated
        if heal.HEAL not in done and sick.any():
            return heal.build_heal_graph(healing, sick)
        found = found.without(asked, heal.to_reinstall(healing, found.updated))
    started = asked.topology.started
    assert started is not None, "the new blueprint was taken over"
    kept = {**started.kept, **found.as_kept()}
    return Reshape(SORTED, altered(asked.topology, started=altered(started, kept=kept)))


def _follows(asked: Asked, done: frozenset[str]) -> Graph | None:
    """Return the graph of the update, then the graphs that reinstall instances which the update could not change.

    Return None when all of them have settled.
    """
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
        refuse_restricted(asked.topology, "replace", again)
        return uninstall.build_uninstall_graph(asked, again, ignore_failure=True, name=UNINSTALL_AGAIN)
    if INSTALL_AGAIN not in done:
        return install.build_install_graph(asked, again, intact=op.INSTALL_RELATIONSHIP_OPERATIONS, name=INSTALL_AGAIN)
    return None


def _ends(asked: Asked) -> Reshape:
    return Reshape(FINISHED, under_way.ended(asked.topology))


def _updating(asked: Asked, own: np.ndarray, rows: np.ndarray) -> Walk:
    """Return what an update runs: update operations of drifted instances, then of drifted relationships (W61)."""
    only = np.zeros(len(asked.topology.link), bool)
    only[rows] = True
    calls = tuple(Call(name, only=own) for name in UPDATES)
    return Walk((*calls, Relate(UPDATE_RELATIONSHIP, only=only)), once=True, however=True)


# -- what is asked for --------------------------------------------------------------------------------------------------


def problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield PL-P042 if there is no plan to carry out, and PL-P001 for unknown instances."""
    if PLAN not in request.parameters:
        mend = "name the blueprint to come: phaseline deployments update NAME FILE"
        yield Problem("PL-P042", "an update needs a plan, and none is given", mend)
    said = request.parameters.get(REINSTALL_LIST)
    for name in [said] if isinstance(said, str) else said if isinstance(said, list) else []:
        number = topology.number_of.get(str(name))
        if number is None or not topology.is_there[number]:
            mend = "see: phaseline instances list -d NAME"
            yield Problem("PL-P001", f"{REINSTALL_LIST}: the deployment has no node instance '{name}'", mend)


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
    AUTO_CORRECT_TYPES: SWITCH,
    UPDATE_PLUGINS: SWITCH,
    "reevaluate_active_statuses": STATUSES,
    WORKFLOW_ID: Parameter((str,), "the name of a workflow"),
}
WORKFLOW = Workflow(retrying(plan, uninstall.BEFORE_AGAIN), PARAMETERS, problems=problems, takes_back=True)
