"""Refuse actions that a user or the blueprint has forbidden for instances (``model.deployment.restrictions``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.deployment.restrictions import WORDS, restricted
from phaseline.model.problems.problem import Problem, ProblemsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from phaseline.model.deployment.topology import Topology

SHOWN = 5
"""Largest number of forbidden instances of a node that a problem names. It gives the number of the others."""


def refuse(topology: Topology, action: str, chosen: np.ndarray) -> None:
    """Raise PL-P049 for each node for which the action is forbidden.

    ``chosen`` marks the instances that the action would affect, bool indexed by instance number.
    """
    found = tuple(forbidden(topology, {action: chosen}))
    if found:
        raise ProblemsError(found)


def forbidden(topology: Topology, wanted: Mapping[str, np.ndarray]) -> Iterator[Problem]:
    """Yield one problem PL-P049 for each action and each node for which the action is forbidden.

    ``wanted`` is {action: bool array by instance number of the instances that it would affect}.
    """
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
                f"if it may be: phaseline instances restrict {whose} -d NAME --lift",
                node.place,
            )


def as_mask(topology: Topology, numbers: Iterable[int] | np.ndarray) -> np.ndarray:
    """Return a bool array indexed by instance number, which is true for ``numbers``.

    Numbers beyond the topology are ignored: they belong to instances to be added, which have no restrictions.
    """
    chosen = np.fromiter(numbers, np.int64)
    found = np.zeros(len(topology), bool)
    found[chosen[chosen < len(topology)]] = True
    return found
