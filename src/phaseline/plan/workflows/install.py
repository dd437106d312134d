"""Plan an install: bring every chosen instance to started, after the instances on which it depends (W20-W22)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import TOLERATED, Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.lifecycle_sequence import Become, Call, Relate, Sequence
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.verdicts import counted, settled, verdict
from phaseline.plan.graph.workflow import FILTERING, Workflow, only_chosen
from phaseline.plan.transforms.intact_neighbours import NO_ROWS
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows import uninstall
from phaseline.plan.workflows.lifecycle_retries import retrying

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

INSTALL = "install"
CLEAN_UP = "clean-up"
TAKE_BACK = "take back"
"""Names of the graphs of an install, of the clean-up before it, and of taking it back."""

SUSPENDED = frozenset({State.SUSPENDED})
STARTED = frozenset({State.STARTED}) | SUSPENDED
CONFIGURED = frozenset({State.CONFIGURED, State.STARTING}) | STARTED
CREATED = CONFIGURED | {State.CREATED, State.CONFIGURING}
CREATING = CREATED | {State.CREATING}

SEQUENCE: Sequence = (
    Become(State.INITIALIZING, with_calls=True),
    Call(op.VALIDATE_CREATION, unless=CREATING),
    Call(op.PRECREATE, unless=CREATING),
    Call(op.CREATE, enter=(State.CREATING,), leave=(State.CREATED,), unless=CREATED),
    Relate(op.PRECONFIGURE, unless=CONFIGURED),
    Call(op.CONFIGURE, enter=(State.CONFIGURING,), leave=(State.CONFIGURED,), unless=CONFIGURED),
    Relate(op.POSTCONFIGURE, unless=STARTED),
    Call(op.START, enter=(State.STARTING,), unless=STARTED),
    Call(op.GET_STATE, unless=STARTED, hosts_only=True, until_true=True),
    Call(op.MONITORING_AGENT_INSTALL, unless=STARTED, hosts_only=True),
    Call(op.MONITORING_AGENT_START, unless=STARTED, hosts_only=True),
    Call(op.POSTSTART, unless=STARTED),
    Call(op.MONITORING_START, unless=STARTED),
    Relate(op.ESTABLISH, unless=STARTED),
    Become(State.STARTED, unless=SUSPENDED),
)
"""The steps of an install (W20). ``unless`` names the states in which an instance skips a step (W21)."""

ALL_BUT_STARTING = frozenset(State) - {State.STARTING}
ALL_BUT_CREATING = frozenset(State) - {State.CREATING}

CLEAN_UP_SEQUENCE: Sequence = (
    Call(op.PRESTOP, unless=ALL_BUT_STARTING),
    Call(op.MONITORING_AGENT_STOP, unless=ALL_BUT_STARTING, hosts_only=True),
    Call(op.MONITORING_AGENT_UNINSTALL, unless=ALL_BUT_STARTING, hosts_only=True),
    Call(op.STOP, unless=ALL_BUT_STARTING),
    Call(op.DELETE, unless=ALL_BUT_CREATING),
    Call(op.POSTDELETE, unless=ALL_BUT_CREATING),
)
HALF_MADE = (
    State.INITIALIZING, State.CREATING, State.CREATED, State.CONFIGURING, State.CONFIGURED, State.STARTING,
)  # fmt: skip
"""States of half-made instances.

Taking an install back removes such instances even if no call on them has completed.
"""
CLEANING = Walk(CLEAN_UP_SEQUENCE, downwards=True, tolerant=True, once=True)
"""Clean-up before an install continues: half-started instances are stopped, half-created ones are deleted (W8)."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """Return the next graph: the clean-up of half-made instances if requested, then the install; after it, the verdict.

    If the install has failed and the request asks for it, a graph that takes the install back comes before the verdict.
    """
    done = settled(history, INSTALL)
    if done:
        found = verdict(history, done)
        is_taken_back = request.take_back and found.status is ExecutionStatus.FAILED
        return _taken_back(Asked(topology, request, history, declare), found) if is_taken_back else found
    cleaned = settled(history, CLEAN_UP)
    if history.canceled:
        return verdict(history, cleaned) if cleaned else Verdict(ExecutionStatus.CANCELED)
    chosen = choose(topology, request)
    if not chosen.any():
        return Verdict(ExecutionStatus.COMPLETED, "no instance was chosen, so there was nothing to do")
    if cleaned and not cleaned.is_met:
        return verdict(history, cleaned)
    asked = Asked(topology, request, history, declare)
    if request.clean and not cleaned:
        half_made = chosen & np.isin(history.states, [State.STARTING, State.CREATING])
        if half_made.any():
            return weave(asked, CLEAN_UP, half_made, CLEANING)
    return build_install_graph(asked, chosen)


def build_install_graph(
    asked: Asked,
    chosen: np.ndarray,
    *,
    intact: tuple[str, ...] = (op.ESTABLISH,),
    name: str = INSTALL,
    between: np.ndarray = NO_ROWS,
) -> Graph:
    """Return the graph that installs the chosen instances (bool by number).

    Resources go through the states of their paths. ``intact`` are relationship operations that other instances call for
    their relationships to the chosen ones, and for the relationships numbered ``between`` among themselves. ``name`` is
    the name of the graph.
    """
    walk = Walk(SEQUENCE, intact=tuple(Relate(operation) for operation in intact), between=between, on_paths=True)
    return weave(asked, name, chosen, walk)


def _taken_back(asked: Asked, failed: Verdict) -> Graph | Verdict:
    """Return the graph that removes what a failed install has made; after it, the verdict."""
    done = settled(asked.history, TAKE_BACK)
    if done:
        how = (
            "was taken back"
            if not done.counts.get(TOLERATED)
            else f"was taken back as far as it could be: {counted(done)}"
        )
        return Verdict(failed.status, f"{failed.reason}; what it had made {how}")
    called = asked.history.called(INSTALL)
    if called is None or not called.any():
        return failed
    empty = np.array([not any(one.is_implemented for one in node.operations.values()) for node in asked.topology.nodes])
    states = asked.history.states
    made = called | np.isin(states, HALF_MADE) | (empty[asked.topology.node] & (states == State.STARTED))
    return weave(asked, TAKE_BACK, made & choose(asked.topology, asked.request), uninstall.TAKING_BACK)


WORKFLOW = Workflow(retrying(plan, uninstall.BEFORE_AGAIN), FILTERING, claims=only_chosen, takes_back=True)
