"""Plan an uninstall: stop, unlink and delete each chosen instance, after the instances that depend on it (W23, W24)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.execution.execution import Reshape, Verdict
from phaseline.model.graph.status import ExecutionStatus
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.lifecycle_sequence import Become, Call, Relate, Sequence
from phaseline.plan.graph.selection import choose
from phaseline.plan.graph.verdicts import settled, verdict
from phaseline.plan.graph.workflow import FILTERING, SWITCH, Parameter, Workflow, only_chosen, refuse_restricted
from phaseline.plan.topology import modification_lifecycle
from phaseline.plan.transforms.intact_neighbours import NO_ROWS
from phaseline.plan.transforms.pipeline import Asked, Walk, weave
from phaseline.plan.workflows.lifecycle_retries import retrying

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import History, Request
    from phaseline.model.graph.graph import Graph
    from phaseline.plan.graph.call_policies import Declare

UNINSTALL = "uninstall"
"""Name of the workflow, and of its graph."""
IGNORE_FAILURE = "ignore_failure"
RECURSIVE = "recursive"
"""Parameter: first uninstall deployments that belong to this one.

The caller that starts the uninstall does that (W24).
"""
RETRY_IGNORED = "retry_ignored"
"""Parameter: with ``ignore_failure``, failed calls are still retried before the failure is ignored (W24)."""

STOPPED = frozenset({State.STOPPED, State.DELETING, State.DELETED})
NOT_RUNNING = STOPPED | {State.UNINITIALIZED, State.CONFIGURED}
NOT_THERE = frozenset({State.DELETED, State.UNINITIALIZED})
DELETED = frozenset({State.DELETED})


def stopping(unless: frozenset[State]) -> Sequence:
    """Return the steps that stop a running instance (W23, steps 2 to 7).

    Instances in a state of ``unless`` skip them.
    """
    return (
        Become(State.STOPPING, unless=unless),
        Call(op.VALIDATE_DELETION, unless=unless),
        Call(op.MONITORING_STOP, unless=unless),
        Call(op.PRESTOP, unless=unless),
        Call(op.MONITORING_AGENT_STOP, unless=unless, hosts_only=True),
        Call(op.MONITORING_AGENT_UNINSTALL, unless=unless, hosts_only=True),
        Call(op.STOP, unless=unless | {State.SUSPENDED}),
    )


def taking_away(not_running: frozenset[State]) -> Sequence:
    """Return all steps of an uninstall. Instances in one of the states ``not_running`` are not stopped."""
    return (
        *stopping(unless=not_running),
        Become(State.STOPPED, unless=STOPPED),
        Relate(op.UNLINK, unless=NOT_THERE, reverse=True),
        Call(op.DELETE, enter=(State.DELETING,), unless=NOT_THERE),
        Call(op.POSTDELETE, unless=NOT_THERE),
        Become(State.DELETED, unless=DELETED),
    )


SEQUENCE = taking_away(NOT_RUNNING)
"""The steps of an uninstall, which an instance skips or runs depending on its present state (W23)."""
NOT_STARTED = frozenset({State.INITIALIZING, State.CREATING, State.CREATED, State.CONFIGURING})
TAKING_BACK = Walk(taking_away(NOT_RUNNING | NOT_STARTED), downwards=True, tolerant=True, once=True, on_paths=True)
"""Uninstall of half-made instances, without stopping instances that had not begun to start."""
BEFORE_AGAIN = Walk(SEQUENCE, downwards=True, tolerant=True, once=True, on_paths=True)
"""Uninstall before a life cycle is repeated; it stops half-made instances, too (W5, W23)."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Reshape | Verdict:
    """Return the graph that uninstalls the chosen instances; after it, the verdict.

    If no instance is left in a deployment with an open modification, the modification is ended, too.
    """
    done = settled(history, UNINSTALL)
    if done:
        is_left = topology.is_there & ~np.isin(history.states, list(NOT_THERE))
        if topology.started is not None and done.is_met and not is_left.any():
            return Reshape(f"give up {topology.started.name}", modification_lifecycle.given_up(topology))
        return verdict(history, done)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    chosen = choose(topology, request)
    if not chosen.any():
        return Verdict(ExecutionStatus.COMPLETED, "no instance was chosen, so there was nothing to do")
    refuse_restricted(topology, "delete", chosen)
    return build_uninstall_graph(Asked(topology, request, history, declare), chosen)


def build_uninstall_graph(
    asked: Asked,
    chosen: np.ndarray,
    *,
    ignore_failure: bool | None = None,
    name: str = UNINSTALL,
    between: np.ndarray = NO_ROWS,
) -> Graph:
    """Return the graph that uninstalls the chosen instances (bool by number).

    ``ignore_failure`` overrides the request's parameter unless it is None. ``between`` are numbers of relationships
    between other instances that are unlinked as well. ``name`` is the name of the graph.
    """
    parameters = asked.request.parameters
    tolerant = parameters.get(IGNORE_FAILURE) is True if ignore_failure is None else ignore_failure
    once = tolerant and parameters.get(RETRY_IGNORED) is not True
    intact = (Relate(op.UNLINK, reverse=True),)
    walk = Walk(SEQUENCE, downwards=True, tolerant=tolerant, once=once, intact=intact, between=between, on_paths=True)
    return weave(asked, name, chosen, walk)


IGNORING: Mapping[str, Parameter] = {IGNORE_FAILURE: SWITCH, RETRY_IGNORED: SWITCH}
WORKFLOW = Workflow(retrying(plan, BEFORE_AGAIN), {**IGNORING, RECURSIVE: SWITCH, **FILTERING}, claims=only_chosen)
