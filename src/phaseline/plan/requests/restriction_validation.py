"""Refusing what would do with instances that which is forbidden of them (``model.deployment.restrictions``), all of it at once and before anything runs.

Whoever asks for a workflow is refused by ``refusals``; planners ask again when their turn has come, for a blueprint may have come between. What
is taken back because it failed is nobody's wish, and is not restricted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.restrictions import DELETE, REPLACE, RESTRICTABLE, UPDATE, WORDS, mending, restricted
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.topology.node_diff import current_nodes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.plan.topology.revision import Revision

SHOWN = 5
"""How many instances of a node are named; all are counted."""


def refusals(topology: Topology, request: Request) -> tuple[Problem, ...]:
    """PL-P049 for each node of which the request would do what is forbidden. An update says it when its blueprint is known."""
    return tuple(forbidden(topology, _asked_for(topology, request)))


def refuse(topology: Topology, action: str, chosen: np.ndarray) -> None:
    """Raise PL-P049 for each node of which this is forbidden. ``chosen``: with whom it is to be done, bool by number."""
    found = tuple(forbidden(topology, {action: chosen}))
    if found:
        raise ProblemsError(found)


def refuse_revision(revision: Revision) -> None:
    """Raise PL-P049 for each node of which an update would do what is forbidden."""
    former = revision.former
    replaced = [revision.fates.removed[name] for name in revision.fates.replaced]
    goes = _of(former, revision.removed)
    again = goes & np.isin(former.node, replaced)
    finished, rows = revision.finished, np.concatenate((revision.retied, revision.extended))
    changed = (
        _of(former, revision.drifted)
        | _of(former, finished.source[rows])
        | _of(former, former.source[revision.reduced])
    )
    found = tuple(forbidden(former, {UPDATE: changed & ~goes, REPLACE: again, DELETE: goes & ~again}))
    if found:
        raise ProblemsError(found)


def forbidden(topology: Topology, wanted: Mapping[str, np.ndarray]) -> Iterator[Problem]:
    """PL-P049 for each node and action. ``wanted``: {action: with whom it is to be done, bool by number}."""
    for action, chosen in wanted.items():
        hit = (chosen & restricted(topology, action)).nonzero()[0]
        for at in np.unique(topology.node[hit]).tolist():
            node, numbers = topology.nodes[at], hit[topology.node[hit] == at].tolist()
            ids = [topology.ids[number] for number in numbers[:SHOWN]]
            more = f" and {len(numbers) - SHOWN:,} more" if len(numbers) > SHOWN else ""
            said = [name for name in (*ids, node.name) if name in topology.restricted]
            whose = " ".join(dict.fromkeys((*said, *(() if said else (node.name,)))))
            yield Problem(
                "PL-P049",
                f"'{node.name}' must not be {WORDS[action]}, and {', '.join(ids)}{more} would be",
                f"If it may be: phaseline instances restrict {whose} -d NAME --lift",
                node.place,
            )


def wrong(topology: Topology, said: Mapping[str, Sequence[str] | None]) -> Iterator[Problem]:
    """What is wrong with what a person says: PL-P001 for whom there is not, PL-P004 for what cannot be forbidden."""
    for name, actions in said.items():
        number = topology.number_of.get(name)
        if name not in current_nodes(topology) and (number is None or not topology.is_there[number]):
            mend = "See: phaseline instances list -d NAME."
            yield Problem("PL-P001", f"the deployment has no node and no node instance '{name}'", mend)
        for word in actions or ():
            if word not in RESTRICTABLE:
                yield Problem("PL-P004", f"'{word}' is nothing that can be forbidden", mending(str(word)))


def whom(topology: Topology, said: Mapping[str, Sequence[str] | None]) -> np.ndarray:
    """Of whom a person says it, bool by number."""
    found: np.ndarray = np.isin(topology.node, [at for name, at in current_nodes(topology).items() if name in said])
    found[[topology.number_of[name] for name in said if name in topology.number_of]] = True
    return found


def _asked_for(topology: Topology, request: Request) -> Mapping[str, np.ndarray]:
    """{action: with whom it is to be done} as far as the request alone says it."""
    parameters = request.parameters
    match request.workflow:
        case "uninstall" | "reinstall":
            from phaseline.plan.graph.selection import choose

            return {DELETE if request.workflow == "uninstall" else REPLACE: choose(topology, request)}
        case "heal":
            from phaseline.plan.workflows import heal

            is_forced = parameters.get(heal.FORCE_REINSTALL) is True
            return {REPLACE: heal.with_contained(topology, heal.select(topology, request))} if is_forced else {}
        case "scale":
            from phaseline.plan.topology import scale_request as scaling
            from phaseline.plan.topology.modification_lifecycle import taken_back

            shape = topology if topology.started is None else taken_back(topology)
            found = scaling.read_scaling(shape, request)
            gone = scaling.change_of(shape, request, found).removed.changed if found.delta < 0 else ()
            return {DELETE: _of(topology, gone)}
        case "update":
            from phaseline.plan.workflows.update_or_reinstall import REINSTALL_LIST

            said = parameters.get(REINSTALL_LIST)
            names = [said] if isinstance(said, str) else said if isinstance(said, list) else []
            return {REPLACE: _of(topology, [topology.number_of[str(name)] for name in names])}
    return {}


def _of(topology: Topology, numbers: Iterable[int] | np.ndarray) -> np.ndarray:
    """Bool by number; numbers that the topology does not have are of those that come, and nothing is forbidden of them."""
    chosen = np.fromiter(numbers, np.int64)
    found = np.zeros(len(topology), bool)
    found[chosen[chosen < len(topology)]] = True
    return found
