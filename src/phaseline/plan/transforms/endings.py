"""End the sequence of each chosen instance with an entry that passes even if earlier entries of the sequence failed."""

from __future__ import annotations

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.status import Mark
from phaseline.plan.graph.draft import CLOSING, GraphDraft, absent_slot


def end_however(draft: GraphDraft) -> GraphDraft:
    """Add a last entry for each chosen instance, which passes as soon as all entries before it have ended in any way.

    Instances that wait for a failed instance then continue instead of being skipped.
    """
    owner = np.flatnonzero(draft.participants.is_chosen).astype(np.int32)
    closing = altered(absent_slot(draft, CLOSING, owner), marks=Mark.ABSENT | Mark.ENDED)
    return altered(draft, items=(*draft.items, closing))
