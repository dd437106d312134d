"""Check results, derived from the outcomes of check and heal operations (see ``model.health.checks``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import some
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.model.health.checks import OPERATIONS, UPDATES, NewCheckResults, results_of

if TYPE_CHECKING:
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.engine.arena import Arena
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.events import Accepted, Batch
    from phaseline.model.graph.batch_members import GraphSegment
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import EntryRemark

COMPLETED, RETRY, FAILED = int(OutcomeKind.COMPLETED), int(OutcomeKind.RETRY), int(OutcomeKind.FAILED)
SLEEPING, DONE = int(EntryStatus.SLEEPING), int(EntryStatus.COMPLETED)


@frozen
class Vouch:
    """Entries of a graph that a user declares completed; ``positions`` is int32."""

    execution: int
    deployment: int
    graph_id: int
    graph: Graph
    positions: np.ndarray


def leaves_results(batch: Batch) -> bool:
    """Return True if outcomes of the batch's operation are stored as check results."""
    return batch.lane.phase in OPERATIONS


def checks_made(
    batch: Batch,
    report: CallReport,
    answer: Accepted | None,
    arena: Arena,
    now: int,
    topology_of: Callable[[int], Topology],
) -> Iterator[NewCheckResults]:
    """Yield the check results in a report, for members that the scheduler accepted and that are not called again.

    ``topology_of`` returns the topology of a deployment.
    """
    members, kinds = report.members, report.kinds
    if answer is not None and len(answer.rejected):
        kept = ~np.isin(members, answer.rejected)
        members, kinds = members[kept], kinds[kept]
    said = {member: remark for member, remark in report.remarks if remark.message or remark.result is not None}
    first = 0
    for segment in batch.segments:
        end = first + len(segment.positions)
        mine = (members >= first) & (members < end)
        places = members[mine] - first
        outcomes = _final(arena, segment, places, kinds[mine])
        if batch.lane.phase in UPDATES:
            goes_on = _is_updated_on(batch.lane.phase, topology_of(segment.deployment), segment.subjects[places])
            outcomes[goes_on & (outcomes == COMPLETED)] = 0
        places, outcomes = places[outcomes > 0], outcomes[outcomes > 0]
        bodies = _bodies(said, first, places, outcomes) if said else {}
        has_said = (
            np.array([place in bodies for place in places.tolist()], bool) if bodies else np.zeros(len(places), bool)
        )
        found = results_of(batch.lane.phase, segment.kind, outcomes, has_said)
        if found is not None and some(found[1] > 0):
            subjects = segment.subjects[places]
            told = {int(segment.subjects[place]): body for place, body in bodies.items()}
            yield NewCheckResults(segment.deployment, found[0], subjects, found[1], now, segment.execution, told)
        first = end


def vouched_for(vouch: Vouch, arena: Arena, now: int) -> Iterator[NewCheckResults]:
    """Yield the check results of entries that a user declared completed: such a check counts as "found nothing"."""
    slot = arena.slots.get(vouch.graph_id)
    if slot is None:
        return
    done = vouch.positions[arena.status[slot.base + vouch.positions] == DONE]
    for step in vouch.graph.steps:
        mine = done[(done >= step.first) & (done < step.first + step.count)]
        if step.phase in OPERATIONS and len(mine):
            subjects = vouch.graph.subject[mine]
            outcomes = np.full(len(mine), COMPLETED, np.uint8)
            found = results_of(step.phase, step.kind, outcomes, np.zeros(len(mine), bool))
            if found is not None:
                yield NewCheckResults(vouch.deployment, found[0], subjects, found[1], now, vouch.execution)


def _bodies(said: Mapping[int, EntryRemark], first: int, places: np.ndarray, outcomes: np.ndarray) -> dict[int, Value]:
    """Return {index in the segment: value that a completed call returned, or error message of a failed one}.

    Calls without a value or message are left out.
    """
    found: dict[int, Value] = {}
    for place, outcome in zip(places.tolist(), outcomes.tolist(), strict=True):
        remark = said.get(first + place)
        body = None if remark is None else remark.result if outcome == COMPLETED else remark.message or None
        if body is not None:
            found[place] = body
    return found


def _is_updated_on(operation: str, topology: Topology, subjects: np.ndarray) -> np.ndarray:
    """Return for each instance (bool) whether its node implements update operations that come after ``operation``.

    The drift of such an instance remains until the last of them has completed (W61).
    """
    later = UPDATES[UPDATES.index(operation) + 1 :]
    by_node = [
        any(name in node.operations and node.operations[name].is_implemented for name in later)
        for node in topology.nodes
    ]
    found: np.ndarray = np.array(by_node, bool)[topology.node[subjects]]
    return found


def _final(arena: Arena, segment: GraphSegment, places: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Return the outcome of each member: completed, failed, or 0 if it is called again or not known yet.

    ``places``: indexes of the members in the segment; ``kinds``: their reported outcomes. A temporary failure counts as
    failed unless its entry sleeps until it is retried.
    """
    found = np.where((kinds == COMPLETED) | (kinds == FAILED), kinds, 0).astype(np.uint8)
    retried = kinds == RETRY
    if some(retried):
        slot = arena.slots.get(segment.graph)
        sleeps = np.zeros(len(places), bool)
        if slot is not None:
            sleeps = arena.status[slot.base + segment.positions[places]] == SLEEPING
        found[retried & ~sleeps] = FAILED
    return found
