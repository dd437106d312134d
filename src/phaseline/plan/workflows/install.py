"""Install: every chosen instance goes from nothing to started, after the instances it depends on (W20-W22)."""

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
from phaseline.plan.transforms.intact import concerned, lay_intact
from phaseline.plan.transforms.on_paths import Manner, lay_paths, tie_phases
from phaseline.plan.transforms.selected import begin
from phaseline.plan.transforms.sequences import lay_sequence
from phaseline.plan.transforms.states import carry_states
from phaseline.plan.transforms.waits import wait_for_sources, wait_for_targets
from phaseline.plan.verdicts import settled, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence as Names

    from phaseline.model.execution import History, Request
    from phaseline.model.graph import Graph
    from phaseline.model.topology import Topology
    from phaseline.plan.policies import Declare

INSTALL = "install"
CLEAN_UP = "clean-up"
"""Names of the graphs."""

STARTED = frozenset({State.STARTED})
CONFIGURED = frozenset({State.CONFIGURED, State.STARTING, State.STARTED})
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
    Become(State.STARTED),
)
"""W20, with the skips of W21."""

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
"""What is half started is stopped, what is half created is deleted (W8)."""


def plan(topology: Topology, request: Request, history: History, declare: Declare) -> Graph | Verdict:
    """The next graph: clean-up of half-made instances if asked for, then install; after it, the verdict."""
    done = settled(history, INSTALL)
    if done:
        return verdict(history, done)
    cleaned = settled(history, CLEAN_UP)
    if history.canceled:
        return verdict(history, cleaned) if cleaned else Verdict(ExecutionStatus.CANCELED)
    chosen = choose(topology, request)
    if not chosen.any():
        return Verdict(ExecutionStatus.COMPLETED, "no instance was chosen, so there was nothing to do")
    if cleaned and not cleaned.is_met:
        return verdict(history, cleaned)
    if request.clean and not cleaned:
        half_made = chosen & np.isin(history.states, [State.STARTING, State.CREATING])
        if half_made.any():
            return _clean_up(topology, request, history, declare, half_made)
    return lay(topology, request, history, declare, chosen)


def lay(
    topology: Topology,
    request: Request,
    history: History,
    declare: Declare,
    chosen: np.ndarray,
    *,
    intact: Names[str] = (op.ESTABLISH,),
) -> Graph:
    """The graph that installs the chosen instances (bool by number), those on paths of states along these.

    ``intact``: relationship operations that others run for their relationships to the chosen ones.
    """
    extra = np.logical_or.reduce([concerned(topology, chosen, operation) for operation in intact])
    draft = begin(topology, request, history, declare, chosen, extra, downwards=False, on_paths=True)
    draft = lay_sequence(draft, SEQUENCE, tolerant=False, once=False)
    draft = lay_paths(draft, SEQUENCE, history.paths, Manner())
    for operation in intact:
        draft = lay_intact(draft, Relate(operation), tolerant=False)
    draft = carry_states(draft)
    draft = chain_entries(draft)
    draft = tie_phases(draft)
    draft = wait_for_targets(draft)
    return assemble(draft, INSTALL, by_node=request.stop_after is not None and request.stop_after.share is not None)


def _clean_up(topology: Topology, request: Request, history: History, declare: Declare, chosen: np.ndarray) -> Graph:
    draft = begin(topology, request, history, declare, chosen, np.zeros_like(chosen), downwards=True)
    draft = lay_sequence(draft, CLEAN_UP_SEQUENCE, tolerant=True, once=True)
    draft = carry_states(draft)
    draft = chain_entries(draft)
    draft = wait_for_sources(draft)
    return assemble(draft, CLEAN_UP)
