"""Add entries at which instances stop before or after an operation until an operator clears the breakpoint (H46)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph.graph import SubjectKind
from phaseline.plan.graph.draft import StepSlot
from phaseline.plan.states.phase_breakpoints import pause_policy, stopping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.plan.graph.draft import GraphDraft


def stops(
    draft: GraphDraft, breakpoints: Sequence[Breakpoint], when: str, operation: str, who: np.ndarray
) -> list[StepSlot]:
    """Return a slot for each breakpoint before (``when`` is pre) or after (post) the operation.

    ``who`` marks the instances that run the operation, bool indexed by participant place. Each slot has an entry for
    each of these instances that stops at the breakpoint.
    """
    found = []
    names = [node.name for node in draft.topology.nodes]
    for step in dict.fromkeys(one.phase for one in breakpoints if one.is_at(when, operation)):
        by_node = np.array(stopping(step, breakpoints, names), bool)
        owner = (who & by_node[draft.participants.node]).nonzero()[0].astype(np.int32)
        if len(owner):
            policy = np.full(len(owner), draft.policies.add(pause_policy(step)), np.int32)
            found.append(StepSlot(step, SubjectKind.INSTANCE, owner, draft.participants.number[owner], policy))
    return found
