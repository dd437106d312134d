"""A record of the calls that were really made, kept outside the engine, and checks of what must be true of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.status import FIRST_ENDED, EntryStatus, Mark, OutcomeKind
from phaseline.testing.builders import full_name

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.events import Batch, Changes
    from phaseline.model.graph.graph import Graph
    from phaseline.ports.store import Store

STARTED, DELETED = InstanceState.STARTED, InstanceState.DELETED
CREATE, DELETE = full_name("create"), full_name("delete")
# Plain integers: members of an enumeration are compared by functions of their own.
UNKNOWN = set(map(int, (OutcomeKind.PENDING, OutcomeKind.UNSURE, OutcomeKind.LOST)))
FAILED = int(EntryStatus.FAILED)
DONE = set(map(int, (EntryStatus.COMPLETED, EntryStatus.PASSED)))
GONE = set(map(int, (DELETED, InstanceState.UNINITIALIZED)))

Neighbours = tuple[list[list[int]], list[list[int]]]
"""(targets of each instance's relationships, sources of the relationships that lead to each instance)."""


@dataclass(slots=True)
class LedgerGraph:
    """One graph: the needs of each entry, whether each entry may fail, and which policies allow a second call."""

    needs: list[list[int]]
    is_tolerant: list[bool]
    is_repeatable: list[bool]

    @classmethod
    def of(cls, graph: Graph) -> LedgerGraph:
        """Read from the columns as they were stored."""
        needs: list[list[int]] = [[] for _ in range(len(graph))]
        for entry, (low, high) in enumerate(pairwise(graph.ptr.tolist())):
            for dependent in graph.idx[low:high].tolist():
                needs[dependent].append(entry)
        is_tolerant = [bool(mark & Mark.TOLERANT) for mark in graph.marks.tolist()]
        return cls(needs, is_tolerant, [policy.repeatable for policy in graph.policies])


class CallLedger:
    """Every call of the world. It survives crashes, as the records of real clouds would."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._graphs: dict[int, LedgerGraph] = {}
        self._unknown: dict[tuple[int, int], tuple[int, int]] = {}
        self._batches: dict[int, list[tuple[int, int]]] = {}
        self.calls = 0
        self.neighbours: dict[int, Neighbours] = {}
        """{deployment: neighbours of its instances}"""

    def began(self, batch: Batch) -> None:
        """Note a batch that is handed over; asserts that each of its members may be called now."""
        members = self._batches[batch.id] = []
        for segment in batch.segments:
            known = self._graphs.get(segment.graph)
            if known is None:
                known = self._graphs[segment.graph] = LedgerGraph.of(self._store.graph(segment.graph))
            statuses = self._store.statuses(segment.graph).tolist()
            columns = segment.positions.tolist(), segment.generations.tolist(), segment.policies.tolist()
            for position, generation, policy in zip(*columns, strict=True):
                member = (segment.graph, position)
                _has_what_it_needs(known, member, statuses)
                before = self._unknown.get(member)
                is_safe = known.is_repeatable[policy] or before is None or before[1] < generation
                assert is_safe, f"{_name(member)} may have been carried out and is called again"
                members.append(member)
                self._unknown[member] = (batch.id, generation)
        self.calls += len(members)
        limit = batch.lane.max_batch
        assert len(members) <= limit, f"batch {batch.id} has {len(members)} members, {limit} are the limit"

    def committed(self, changes: Changes) -> None:
        """Note the results of the calls that have returned."""
        for closed in changes.closed:
            members = self._batches.get(closed.batch, ())
            for (graph_id, position), kind in zip(members, closed.kinds.tolist(), strict=False):
                known_batch, _ = self._unknown.get((graph_id, position), (0, 0))
                if known_batch == closed.batch and kind not in UNKNOWN:
                    del self._unknown[graph_id, position]

    def check_order(self, batch: Batch) -> None:
        """Check that sources are created after their targets have started, and targets deleted after their sources."""
        if batch.lane.phase not in {CREATE, DELETE}:
            return
        is_create = batch.lane.phase == CREATE
        for segment in batch.segments:
            states = self._store.states(segment.deployment).tolist()
            targets, sources = self.neighbours[segment.deployment]
            for instance in segment.subjects.tolist():
                if is_create:
                    wrong = [other for other in targets[instance] if states[other] != STARTED]
                else:
                    wrong = [other for other in sources[instance] if states[other] not in GONE]
                assert not wrong, f"{batch.lane.phase} of instance {instance} while {wrong} are not ready for it"


def neighbours_of(topology: Topology) -> Neighbours:
    """Return (the targets, the sources) of each instance."""
    targets: list[list[int]] = [[] for _ in range(len(topology))]
    sources: list[list[int]] = [[] for _ in range(len(topology))]
    for source, target in zip(topology.source.tolist(), topology.target.tolist(), strict=True):
        targets[source].append(target)
        sources[target].append(source)
    return targets, sources


def _has_what_it_needs(known: LedgerGraph, member: tuple[int, int], statuses: list[int]) -> None:
    """Check that an entry has not ended, and that all its needs are done according to the store."""
    position = member[1]
    assert statuses[position] < FIRST_ENDED, f"{_name(member)} is called after it ended"
    for need in known.needs[position]:
        status = statuses[need]
        is_done = status in DONE or (status == FAILED and known.is_tolerant[need])
        assert is_done, f"{_name(member)} is called before what it needs: {need} is {EntryStatus(status).word}"


def _name(member: tuple[int, int]) -> str:
    return f"entry {member[1]} of graph {member[0]}"
