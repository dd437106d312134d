"""Rollback: what an install has left half made is taken back to where it can be begun anew (W45).

Half started instances go back to configured, half created or half configured ones to uninitialized; all others stay as
they are. Failures are ignored, as in the ancestor: what cannot be undone must not keep the rest from being undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.execution import Verdict
from phaseline.model.states import InstanceState as State
from phaseline.model.status import ExecutionStatus
from phaseline.plan import operations as op
from phaseline.plan.assembly import assemble
from phaseline.plan.selection import choose
from phaseline.plan.sequence import Become, Call, Relate, Sequence
from phaseline.plan.transforms.chain import chain_entries
from phaseline.plan.transforms.selected import begin
from phaseline.plan.transforms.sequences import lay_sequence
from phaseline.plan.transforms.states import carry_states
from phaseline.plan.transforms.waits import wait_for_sources
from phaseline.plan.verdicts import settled, verdict
from phaseline.plan.workflows import uninstall

if TYPE_CHECKING:
    from phaseline.model.execution import History, Request
    from phaseline.model.graph import Graph
    from phaseline.model.topology import Topology
    from phaseline.plan.policies import Declare

ROLLBACK = "rollback"
"""Name of the graph."""
FULL_ROLLBACK = "full_rollback"
"""Parameter: afterwards the whole deployment is uninstalled."""

NOTHING_HALF_MADE = "no chosen instance is half made, so there was nothing to take back"
HALF_MADE = frozenset({State.CREATING, State.CONFIGURING, State.STARTING})
UNLESS_STARTING = frozenset(State) - {State.STARTING}
UNLESS_HALF_THERE = frozenset(State) - {State.CREATING, State.CONFIGURING}

SEQUENCE: Sequence = (
    Become(State.STOPPING, unless=UNLESS_STARTING),
    Call(op.VALIDATE_DELETION, unless=UNLESS_STARTING),
    Call(op.MONITORING_STOP, unless=UNLESS_STARTING),
    Call(op.PRESTOP, unless=UNLESS_STARTING),
    Call(op.MONITORING_AGENT_STOP, unless=UNLESS_STARTING, hosts_only=True),
    Call(op.MONITORING_AGENT_UNINSTALL, unless=UNLESS_STARTING, hosts_only=True),
    Call(op.STOP, unless=UNLESS_STARTING),
    Become(State.CONFIGURED, unless=UNLESS_STARTING),
    Relate(op.UNLINK, unless=UNLESS_HALF_THERE, reverse=True),
    Call(op.DELETE, unless=UNLESS_HALF_THERE),
    Call(op.POSTDELETE, unless=UNLESS_HALF_THERE),
    Become(State.UNINITIALIZED, unless=UNLESS_HALF_THERE),
)


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """The graph that takes half-made instances back, then, if it is asked for, that of an uninstall; then the verdict."""
    gone = settled(history, uninstall.UNINSTALL)
    if gone:
        return verdict(history, gone)
    back = settled(history, ROLLBACK)
    if history.canceled:
        return verdict(history, back) if back else Verdict(ExecutionStatus.CANCELED)
    half_made = choose(topology, request) & np.isin(history.states, list(HALF_MADE))
    if not back and half_made.any():
        return lay(topology, request, history, declare, half_made)
    if request.parameters.get(FULL_ROLLBACK) is not True:
        return verdict(history, back) if back else Verdict(ExecutionStatus.COMPLETED, NOTHING_HALF_MADE)
    if back and not back.is_met:
        return verdict(history, back)
    everyone = np.ones(len(topology), bool)
    return uninstall.lay(topology, request, history, declare, everyone)


def lay(topology: Topology, request: Request, history: History, declare: Declare, chosen: np.ndarray) -> Graph:
    """The graph that takes the chosen instances (bool by number) back, dependents first."""
    draft = begin(topology, request, history, declare, chosen, np.zeros_like(chosen), downwards=True)
    draft = lay_sequence(draft, SEQUENCE, tolerant=True, once=True)
    draft = carry_states(draft)
    draft = chain_entries(draft)
    draft = wait_for_sources(draft)
    return assemble(draft, ROLLBACK)
