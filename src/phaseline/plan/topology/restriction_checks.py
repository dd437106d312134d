"""Check a revision against the restrictions of its deployment, and check restrictions that a user sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.restrictions import DELETE, REPLACE, RESTRICTABLE, UPDATE, mending
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.graph.restrictions import as_mask, forbidden
from phaseline.plan.topology.node_diff import current_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from phaseline.model.deployment.topology import Topology
    from phaseline.plan.topology.revision import Revision


def refuse_revision(revision: Revision) -> None:
    """Raise PL-P049 for each node with a restriction that the update would violate."""
    former = revision.former
    replaced = [revision.fates.removed[name] for name in revision.fates.replaced]
    goes = as_mask(former, revision.removed)
    again = goes & np.isin(former.node, replaced)
    finished, rows = revision.finished, np.concatenate((revision.retied, revision.extended))
    changed = (
        as_mask(former, revision.drifted)
        | as_mask(former, finished.source[rows])
        | as_mask(former, former.source[revision.reduced])
    )
    found = tuple(forbidden(former, {UPDATE: changed & ~goes, REPLACE: again, DELETE: goes & ~again}))
    if found:
        raise ProblemsError(found)


def wrong(topology: Topology, said: Mapping[str, Sequence[str] | None]) -> Iterator[Problem]:
    """Yield problems of restrictions to be set: unknown names (PL-P001), actions that cannot be forbidden (PL-P004)."""
    for name, actions in said.items():
        number = topology.number_of.get(name)
        if name not in current_nodes(topology) and (number is None or not topology.is_there[number]):
            mend = "see: phaseline instances list -d NAME"
            yield Problem("PL-P001", f"the deployment has no node and no node instance '{name}'", mend)
        for word in actions or ():
            if word not in RESTRICTABLE:
                yield Problem("PL-P004", f"'{word}' cannot be forbidden", mending(str(word)))


def whom(topology: Topology, said: Mapping[str, Sequence[str] | None]) -> np.ndarray:
    """Return the instances that the restrictions name, directly or by their node; bool by number."""
    found: np.ndarray = np.isin(topology.node, [at for name, at in current_nodes(topology).items() if name in said])
    found[[topology.number_of[name] for name in said if name in topology.number_of]] = True
    return found
