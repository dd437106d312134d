"""Entries at which instances stop before or after an operation until somebody clears them (H46)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.graph import LaneSpec, Policy, SubjectKind
from phaseline.plan.draft import Slot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.breakpoints import Breakpoint
    from phaseline.plan.draft import Draft


def stops(draft: Draft, breakpoints: Sequence[Breakpoint], when: str, operation: str, who: np.ndarray) -> list[Slot]:
    """A slot for each breakpoint ``when`` (pre or post) of the operation, of those of ``who`` (bool by place) that it concerns."""
    found = []
    for one in {one.phase: one for one in breakpoints if one.is_at(when, operation)}.values():
        alike = [other for other in breakpoints if other.phase == one.phase]
        by_node = np.array([any(other.concerns(node.name) for other in alike) for node in draft.topology.nodes], bool)
        owner = (who & by_node[draft.participants.node]).nonzero()[0].astype(np.int32)
        if len(owner):
            number = draft.policies.add(Policy(LaneSpec(one.phase, form="bulk"), max_retries=0, repeatable=True))
            policy = np.full(len(owner), number, np.int32)
            found.append(Slot(one.phase, SubjectKind.INSTANCE, owner, draft.participants.number[owner], policy))
    return found
