"""The life cycle of a modification: it begins, and is then finished or taken back (N8).

Each step returns a new topology. While a modification is open, its added instances exist already and its removed
instances still exist, so that a workflow can install or uninstall them. The result is computed at the end, from the
topology at that time.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.index_ranges import numbers_of
from phaseline.model.deployment.modification import Started
from phaseline.model.problems.problem import Problem
from phaseline.plan.topology.added_relationships import tie

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.plan.topology.modification import Modification

NOTHING: Mapping[str, Value] = {}
CUT = "cut"
"""Key of an open update's stored data: numbers of the links to cut at its end, when removed instances disappear."""


def begun(
    change: Modification, *, execution: str, workflow: str, name: str, kept: Mapping[str, Value] = NOTHING
) -> Topology:
    """Return the topology with the added instances, in which the modification has begun.

    ``kept`` is data that the workflow stores until the modification ends.
    """
    started = Started(
        execution,
        workflow,
        name,
        added=change.added.changed,
        removed=change.removed.changed,
        added_groups=change.added_groups,
        removed_groups=change.removed_groups,
        counts=change.counts,
        kept=kept,
    )
    return altered(change.topology, started=started)


def finished(topology: Topology) -> tuple[Topology, np.ndarray]:
    """Return (topology after a successful modification, numbers of new relationships between staying instances, int32).

    The removed instances are gone. If the target of an all_to_one was removed, its sources are related to another
    target.
    """
    started = topology.started
    assert started is not None, "only what has begun can be finished"
    left = without(topology, started.removed, started.removed_groups)
    tied = tie(left, np.zeros(len(left), bool), yes_many=True)
    rows = np.arange(len(topology.link), len(tied.link), dtype=np.int32)
    return altered(tied, counts=started.counts, started=None), rows


def taken_back(topology: Topology) -> Topology:
    """Return the topology after the modification is taken back: without the added instances.

    States and properties of the other instances stay unchanged.
    """
    started = topology.started
    assert started is not None, "only what has begun can be taken back"
    return altered(without(topology, started.added, started.added_groups), started=None)


def given_up(topology: Topology) -> Topology:
    """Return the topology when a modification is given up because no instance is left.

    The instances that a scaling has added are removed. After an update the topology is that of the new blueprint.
    """
    started = topology.started
    assert started is not None, "only what has begun can be given up"
    return taken_back(topology) if started.workflow == "scale" else ended(topology)


def ended(topology: Topology) -> Topology:
    """Return the topology after an update, without the removed instances.

    The links of removed relationships are cut.
    """
    started = topology.started
    assert started is not None, "only what has begun can end"
    shape = without(topology, started.removed, started.removed_groups)
    places = numbers_of(started.kept.get(CUT)).tolist()
    links = list(shape.links)
    cut_before = Counter(link.source for link in links if link.is_cut)
    for place in places:
        link = links[place]
        links[place] = altered(link, is_cut=True, is_rule=False, place=cut_before[link.source])
        cut_before[link.source] += 1
    return altered(shape, links=tuple(links) if places else shape.links, started=None)


def without(topology: Topology, instances: np.ndarray, groups: np.ndarray) -> Topology:
    """Return the topology without these instances and group instances. Their numbers and ids are not used again."""
    if not len(instances) and not len(groups):
        return topology
    gone, gone_groups = ~topology.is_there, ~topology.groups.is_there
    gone[instances] = True
    gone_groups[groups] = True
    return altered(topology, gone=gone, groups=altered(topology.groups, gone=gone_groups))


def refusal(started: Started) -> Problem:
    """Return PL-P043: another modification has begun and not ended."""
    who = f" by {started.execution}" if started.execution else ""
    wanted = f"phaseline executions retry {started.execution}" if started.execution else "retry it"
    message = f"the modification of '{started.name}' that was begun{who} has not ended"
    abort = ", or take it back before: -p abort_started=true" if started.workflow == "scale" else ""
    return Problem("PL-P043", message, f"continue it: {wanted}{abort}")
