"""Plan a scale: add and install instances of a node or scaling group, or uninstall and remove them (W40-W44).

The topology changes when a modification begins, and again when it is finished or taken back; the graphs run in between.
Example, a scale out of ``web``: no modification is open, so the change "begin web" adds the instances. Then the
graph "install web" is built for them. When that has settled, the change "finish web" ends the modification. After a
failure, "rollback web", "uninstall web" and "take back web" undo it.

Progress is stored in the topology rather than in the rounds. So it is known after a crash, in a later attempt, and
to another execution that takes the modification back (W41).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import some
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.index_ranges import numbers_of, ranges_of
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import Reshape, Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.verdicts import settled, verdict
from phaseline.plan.graph.workflow import NAMES, SWITCH, Parameter, Workflow, refuse_restricted
from phaseline.plan.topology import modification_lifecycle as under_way
from phaseline.plan.topology import scale_request as scaling
from phaseline.plan.transforms.intact_neighbours import concerned
from phaseline.plan.transforms.pipeline import Asked, weave
from phaseline.plan.workflows import install, rollback, uninstall
from phaseline.plan.workflows.lifecycle_retries import retrying

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from phaseline.model.deployment.modification import Started
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

SCALE = "scale"
ROLLBACK_IF_FAILED = "rollback_if_failed"
ABORT_STARTED = "abort_started"
ESTABLISH = "establish"
"""First word of the name of the graph in which relationships are established that got another target."""
TIED = "tied"
"""Key of a modification's stored data: numbers of relationships that got another target when theirs was removed."""
NOTHING_THERE = frozenset({State.UNINITIALIZED, State.INITIALIZING, State.DELETED})
"""States in which an added instance has nothing to uninstall."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Reshape | Verdict:
    """Return the next graph or change of the topology; after the last one the verdict."""
    asked = Asked(topology, request, history, declare)
    started = topology.started
    if started is None or started.workflow != SCALE or started.execution != history.execution:
        return _ended(asked) or _begin(asked)
    if TIED in started.kept:
        return _tied(asked, started)
    return _taken_back(asked, started) or _run(asked, started)


def _ended(asked: Asked) -> Verdict | None:
    """Return the verdict if this attempt has ended the modification, or was canceled before it began; else None."""
    rounds = [done for done in asked.history.rounds if done.attempt == asked.history.attempt]
    run = [done for done in rounds if done.counts]
    if rounds and rounds[-1].name.startswith("finish "):
        found = verdict(asked.history, run[-1] if run else rounds[-1])
        return found if not asked.history.canceled else Verdict(found.status, "all of it had been done before")
    if run and rounds[-1].name.startswith("take back "):
        lost = next((done for done in run if not done.is_met), run[0])
        found = verdict(asked.history, lost)
        status = ExecutionStatus.FAILED if found.status is ExecutionStatus.COMPLETED else found.status
        return Verdict(
            status, f"{found.reason}; what was begun was taken back" if found.reason else "it was taken back"
        )
    return Verdict(ExecutionStatus.CANCELED) if asked.history.canceled else None


def _begin(asked: Asked) -> Graph | Reshape | Verdict:
    """Return the change of the topology that begins the modification.

    If another modification is open, it is first taken back if requested; otherwise PL-P043 is raised (N8).
    """
    topology, request = asked.topology, asked.request
    started = topology.started
    if started is not None:
        if started.workflow == SCALE and request.parameters.get(ABORT_STARTED) is True:
            return _abort(asked, started)
        raise ProblemsError([under_way.refusal(started)])
    found = scaling.read_scaling(topology, request)
    if not found.delta:
        return Verdict(ExecutionStatus.COMPLETED, f"delta is 0, so '{found.name}' was left unchanged")
    change = scaling.change_of(topology, request, found)
    refuse_restricted(topology, "delete", _of(asked, change.removed.changed))
    shape = under_way.begun(change, execution=asked.history.execution, workflow=SCALE, name=found.name)
    return Reshape(f"begin {found.name}", shape)


def _abort(asked: Asked, started: Started) -> Graph | Reshape | Verdict:
    """Return the graph that uninstalls what another execution has added, then the change that takes it back (W41)."""
    whose = f"{started.name} of {started.execution}"
    gone = settled(asked.history, f"uninstall {whose}")
    if gone is not None and not gone.is_met:
        return verdict(asked.history, gone)
    there = _still_there(asked, started)
    if gone is None and some(there):
        return uninstall.build_uninstall_graph(asked, there, name=f"uninstall {whose}")
    return Reshape(f"abort {whose}", under_way.taken_back(asked.topology))


def _run(asked: Asked, started: Started) -> Graph | Reshape | Verdict:
    """Return the graph that installs added or uninstalls removed instances, then the change that ends the scaling."""
    history = asked.history
    is_out = len(started.added) > 0
    changed = _of(asked, started.added if is_out else started.removed)
    name = f"{'install' if is_out else 'uninstall'} {started.name}"
    done = settled(history, name)
    if done is None and some(changed) and not history.canceled:
        return (
            install.build_install_graph(asked, changed, name=name)
            if is_out
            else uninstall.build_uninstall_graph(asked, changed, name=name)
        )
    if done is None and history.canceled:
        return Reshape(f"take back {started.name}", under_way.taken_back(asked.topology))
    if done is None or done.is_met:
        return _finish(asked, started)
    if asked.request.parameters.get(ROLLBACK_IF_FAILED) is False and not asked.request.take_back:
        return verdict(history, done)
    return _take_back(asked, started)


def _finish(asked: Asked, started: Started) -> Reshape:
    """Return the change that removes the removed instances.

    If relationships have moved to other targets, they are established before the modification ends.
    """
    shape, rows = under_way.finished(asked.topology)
    if some(concerned(shape, np.zeros(len(shape), bool), op.ESTABLISH, rows)):
        left = altered(started, removed=started.removed[:0], removed_groups=started.removed_groups[:0])
        return Reshape(f"retie {started.name}", altered(shape, started=altered(left, kept={TIED: ranges_of(rows)})))
    return Reshape(f"finish {started.name}", shape)


def _tied(asked: Asked, started: Started) -> Graph | Reshape | Verdict:
    """Return the graph that establishes the moved relationships, then the change that ends the modification."""
    done = settled(asked.history, f"{ESTABLISH} {started.name}")
    if done is None:
        if asked.history.canceled:
            return Verdict(ExecutionStatus.CANCELED)
        nobody = np.zeros(len(asked.topology), bool)
        return install.build_install_graph(
            asked, nobody, name=f"{ESTABLISH} {started.name}", between=numbers_of(started.kept[TIED])
        )
    if not done.is_met:
        return verdict(asked.history, done)
    return Reshape(f"finish {started.name}", under_way.finished(asked.topology)[0])


def _take_back(asked: Asked, started: Started) -> Graph | Reshape | Verdict:
    """Return the graphs that roll back half-made added instances and uninstall the others, then the final change.

    Instances that were already removed are not installed again (W42, W43).
    """
    half_made = _of(asked, started.added) & np.isin(asked.history.states, list(rollback.HALF_MADE))
    if some(half_made):
        tolerant = asked.request.parameters.get(uninstall.IGNORE_FAILURE) is True
        walk = altered(rollback.BACK, tolerant=tolerant, once=tolerant)
        return weave(asked, f"rollback {started.name}", half_made, walk)
    return _clear(asked, started)


def _clear(asked: Asked, started: Started) -> Graph | Reshape:
    there = _still_there(asked, started)
    if some(there):
        return uninstall.build_uninstall_graph(asked, there, name=f"uninstall {started.name}")
    return Reshape(f"take back {started.name}", under_way.taken_back(asked.topology))


def _taken_back(asked: Asked, started: Started) -> Graph | Reshape | Verdict | None:
    """Return the next step of taking back a scale out; None if this attempt has not begun to take it back.

    If a call has failed, the modification stays open.
    """
    if not len(started.added):
        return None
    cleared = settled(asked.history, f"uninstall {started.name}")
    if cleared is not None:
        if not cleared.is_met:
            return verdict(asked.history, cleared)
        return Reshape(f"take back {started.name}", under_way.taken_back(asked.topology))
    rolled_back = settled(asked.history, f"rollback {started.name}")
    if rolled_back is None:
        return None
    return _clear(asked, started) if rolled_back.is_met else verdict(asked.history, rolled_back)


def _of(asked: Asked, numbers: np.ndarray) -> np.ndarray:
    found = np.zeros(len(asked.topology), bool)
    found[numbers] = True
    return found


def _still_there(asked: Asked, started: Started) -> np.ndarray:
    """Return the added instances that have something to uninstall, bool by number."""
    return _of(asked, started.added) & ~np.isin(asked.history.states, list(NOTHING_THERE))


def problems(topology: Topology, request: Request) -> Iterable[Problem]:
    """Yield the problems of the request, and PL-P043 for an open modification that the request does not take back."""
    started = topology.started
    if started is not None and not (started.workflow == SCALE and request.parameters.get(ABORT_STARTED) is True):
        yield under_way.refusal(started)
    if not scaling.said_entity(request):
        message = f"the parameter '{scaling.ENTITY}' of '{request.workflow}' is missing"
        yield Problem("PL-P008", message, f"give {NAME.words}: -p {scaling.ENTITY}=…")
        return
    yield from scaling.problems_of(topology, request)


NAME = Parameter((str,), "the name of a node or scaling group")
PARAMETERS: Mapping[str, Parameter] = {
    scaling.ENTITY: NAME,
    scaling.NODE_ID: NAME,
    scaling.DELTA: Parameter((int, str), "a whole number, such as 2 or -1"),
    scaling.SCALE_COMPUTE: SWITCH,
    scaling.INCLUDE: NAMES,
    scaling.EXCLUDE: NAMES,
    **uninstall.IGNORING,
    ROLLBACK_IF_FAILED: SWITCH,
    ABORT_STARTED: SWITCH,
    scaling.FORCE_LIMITS: SWITCH,
    scaling.YES_MANY: SWITCH,
}
WORKFLOW = Workflow(retrying(plan, uninstall.BEFORE_AGAIN), PARAMETERS, problems=problems, takes_back=True)
