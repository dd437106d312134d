"""Apply the revision of an update: make the topology under the new blueprint, and record the work left to do (W60).

An update with its own rounds has uninstalled the removed instances before. If a delegated workflow does that work, the
removed instances and their relationships still exist while it runs, and ``ended`` removes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.deployment.index_ranges import ranges_of
from phaseline.model.deployment.instance_states import InstanceState as State
from phaseline.model.deployment.modification import Started
from phaseline.model.problems.problem import Problem, ProblemsError
from phaseline.plan.topology import modification_lifecycle as under_way
from phaseline.plan.topology.revision import Revision, revise
from phaseline.plan.workflows.heal import with_contained
from phaseline.plan.workflows.update_or_reinstall import AGAIN, at_source, kept, kept_instances

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.stored_plans import Aim
    from phaseline.plan.transforms.pipeline import Asked

UPDATE = "update"
"""Name of the workflow, and of the graph that updates instances."""
UNTOUCHED = "untouched"
"""Key of stored data that is set if taking an update back begins before any staying instance was changed."""


def revised(topology: Topology, aim: Aim) -> Revision:
    """Return the change from the topology to the blueprint that ``aim`` names. Raises: the problems of ``revise``."""
    known = aim.revision
    if isinstance(known, Revision) and known.former is topology:
        return known
    return revise(
        topology,
        aim.blueprint,
        suffixes=aim.suffixes,
        changed_inputs=frozenset(aim.changed_inputs),
        wanted=aim.counts,
        yes_many=True,
    )


def taken_over(asked: Asked, revision: Revision, *, keeps_all: bool = False) -> Topology:
    """Return the topology under the new blueprint, with a record of the work left to do.

    With ``keeps_all``, removed instances still exist, because a delegated workflow uninstalls them. An earlier update
    may be unfinished: instances that it added but did not install count as added by this one, and instances that it
    uninstalled but did not install again are reinstalled.
    """
    former = asked.topology.started
    left = former.added if former is not None else np.empty(0, np.int32)
    states, there = asked.history.states, revision.finished.is_there
    left = left[there[left] & (states[left] != State.STARTED)]
    again = left_between(asked) & there[: len(states)]
    is_touched = former is None or not former.kept.get(UNTOUCHED)
    remembered: dict[str, Value] = {
        "extended": ranges_of(revision.extended),
        "retied": ranges_of(revision.retied) if is_touched else [],
        "changed": ranges_of(revision.drifted) if is_touched else [],
        AGAIN: ranges_of(again.nonzero()[0]),
    }
    started = Started(
        asked.history.execution,
        UPDATE,
        revision.finished.blueprint.file,
        added=np.union1d(left, revision.added).astype(np.int32),
        counts=revision.finished.counts,
        kept=remembered,
    )
    return _with_all(revision, started) if keeps_all else altered(revision.finished, started=started)


def left_between(asked: Asked) -> np.ndarray:
    """Return unstarted instances that an unfinished update was to reinstall or update; bool by number."""
    found = kept_instances(asked, AGAIN) | kept_instances(asked, "reinstalled") | kept_instances(asked, "updated")
    found |= at_source(asked.topology, kept(asked, "tied"))
    found = with_contained(asked.topology, found) & asked.topology.is_there
    left: np.ndarray = found & (asked.history.states != State.STARTED)
    return left


def _with_all(revision: Revision, started: Started) -> Topology:
    """Return the new topology, in which the removed instances and their relationships still exist."""
    former, finished = revision.former, revision.finished
    gone, groups_gone = ~finished.is_there, ~finished.groups.is_there
    gone[revision.removed] = False
    before = former.groups.is_there
    removed_groups = (groups_gone[: len(before)] & before).nonzero()[0].astype(np.int32)
    groups_gone[removed_groups] = False
    pairs = list(zip(former.links, finished.links, strict=False))
    cut = [place for place, (old, new) in enumerate(pairs) if new.is_cut and not old.is_cut]
    links = list(finished.links)
    for place in cut:
        links[place] = former.links[place]
    remembered = {
        **started.kept,
        under_way.CUT: ranges_of(np.array(cut, np.int32)),
        "reduced": ranges_of(revision.reduced),
    }
    return altered(
        finished,
        links=tuple(links),
        gone=gone,
        groups=altered(finished.groups, gone=groups_gone),
        started=altered(started, removed=revision.removed, removed_groups=removed_groups, kept=remembered),
    )


def raise_if_replaced(revision: Revision) -> None:
    """Raise PL-P041 for every node that would have to be replaced."""
    found = revision.fates.replaced
    if found:
        nodes = revision.finished.blueprint.nodes
        mend = "if these nodes may be uninstalled and installed again: --allow-replace"
        raise ProblemsError(
            Problem("PL-P041", f"'{name}' cannot be updated in place: {why}", mend, nodes[name].place)
            for name, why in found.items()
        )


def raise_if_forbidden(revision: Revision) -> None:
    """Raise PL-P049 for every node whose restrictions forbid its part of the revision."""
    if revision.former.is_restricted:
        from phaseline.plan.topology.restriction_checks import refuse_revision

        refuse_revision(revision)


def raise_if_other_modification(topology: Topology) -> None:
    """Raise PL-P043 if a modification of another kind has not ended."""
    other = topology.started
    if other is not None and other.workflow != UPDATE:
        message = f"the modification of '{other.name}' by {other.execution or other.workflow} has not ended"
        raise ProblemsError(
            [Problem("PL-P043", message, f"end it first: phaseline executions retry {other.execution}")]
        )
