"""Uninstall: every chosen instance is stopped, unlinked and deleted, after the instances that depend on it (W23, W24)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution import Verdict
from phaseline.model.states import InstanceState as State
from phaseline.model.status import ExecutionStatus
from phaseline.plan import operations as op
from phaseline.plan.assembly import assemble
from phaseline.plan.selection import choose
from phaseline.plan.sequence import Become, Call, Relate, Sequence
from phaseline.plan.transforms.chain import chain_entries
from phaseline.plan.transforms.intact import concerned, lay_intact
from phaseline.plan.transforms.on_paths import Manner, lay_paths, tie_phases
from phaseline.plan.transforms.selected import begin
from phaseline.plan.transforms.sequences import lay_sequence
from phaseline.plan.transforms.states import carry_states
from phaseline.plan.transforms.waits import wait_for_sources
from phaseline.plan.verdicts import settled, verdict

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.execution import History, Request
    from phaseline.model.graph import Graph
    from phaseline.model.topology import Topology
    from phaseline.plan.policies import Declare

UNINSTALL = "uninstall"
"""Name of the graph."""
IGNORE_FAILURE = "ignore_failure"
RETRY_IGNORED = "retry_ignored"
"""Parameter: with ``ignore_failure``, what fails is still tried again before it is ignored (W24)."""

STOPPED = frozenset({State.STOPPED, State.DELETING, State.DELETED})
NOT_RUNNING = STOPPED | {State.UNINITIALIZED, State.CONFIGURED}
NOT_THERE = frozenset({State.DELETED, State.UNINITIALIZED})
DELETED = frozenset({State.DELETED})

SEQUENCE: Sequence = (
    Become(State.STOPPING, unless=NOT_RUNNING),
    Call(op.VALIDATE_DELETION, unless=NOT_RUNNING),
    Call(op.MONITORING_STOP, unless=NOT_RUNNING),
    Call(op.PRESTOP, unless=NOT_RUNNING),
    Call(op.MONITORING_AGENT_STOP, unless=NOT_RUNNING, hosts_only=True),
    Call(op.MONITORING_AGENT_UNINSTALL, unless=NOT_RUNNING, hosts_only=True),
    Call(op.STOP, unless=NOT_RUNNING),
    Become(State.STOPPED, unless=STOPPED),
    Relate(op.UNLINK, unless=NOT_THERE, reverse=True),
    Call(op.DELETE, enter=(State.DELETING,), unless=NOT_THERE),
    Call(op.POSTDELETE, unless=NOT_THERE),
    Become(State.DELETED, unless=DELETED),
)
"""W23 with its skips by present state."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """The graph that takes the chosen instances away; after it, the verdict."""
    done = settled(history, UNINSTALL)
    if done:
        return verdict(history, done)
    if history.canceled:
        return Verdict(ExecutionStatus.CANCELED)
    chosen = choose(topology, request)
    if not chosen.any():
        return Verdict(ExecutionStatus.COMPLETED, "no instance was chosen, so there was nothing to do")
    return lay(topology, request, history, declare, chosen)


def lay(
    topology: Topology,
    request: Request,
    history: History,
    declare: Declare,
    chosen: np.ndarray,
    *,
    ignore_failure: bool | None = None,
) -> Graph:
    """The graph that takes the chosen instances (bool by number) away. ``ignore_failure``: None: as the request says."""
    tolerant = request.parameters.get(IGNORE_FAILURE) is True if ignore_failure is None else ignore_failure
    once = tolerant and request.parameters.get(RETRY_IGNORED) is not True
    extra = concerned(topology, chosen, op.UNLINK)
    draft = begin(topology, request, history, declare, chosen, extra, downwards=True, on_paths=True)
    draft = lay_sequence(draft, SEQUENCE, tolerant=tolerant, once=once)
    draft = lay_paths(draft, SEQUENCE, history.paths, Manner(downwards=True, tolerant=tolerant, once=once))
    draft = lay_intact(draft, Relate(op.UNLINK, reverse=True), tolerant=True)
    draft = carry_states(draft)
    draft = chain_entries(draft)
    draft = tie_phases(draft)
    draft = wait_for_sources(draft)
    return assemble(draft, UNINSTALL, by_node=request.stop_after is not None and request.stop_after.share is not None)
