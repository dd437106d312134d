"""What was really called, kept outside of the engine, and the sentences that must be true of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.states import InstanceState
from phaseline.model.status import FIRST_ENDED, EntryStatus, Mark, OutcomeKind
from phaseline.testing.builders import full_name

if TYPE_CHECKING:
    from phaseline.model.events import Batch, Changes, Segment
    from phaseline.model.graph import Graph
    from phaseline.model.topology import Topology
    from phaseline.store.memory import MemoryStore

STARTED, DELETED = InstanceState.STARTED, InstanceState.DELETED
UNKNOWN = {OutcomeKind.PENDING, OutcomeKind.UNSURE, OutcomeKind.LOST}
FAILED = int(EntryStatus.FAILED)
DONE = {EntryStatus.COMPLETED, EntryStatus.PASSED}
GONE = {DELETED, InstanceState.UNINITIALIZED}


class Ledger:
    """Every call of the world. Survives crashes: it is what the clouds would tell."""

    def __init__(self, store: MemoryStore) -> None:
        """Nothing was called."""
        self._store = store
        self._needs: dict[int, list[list[int]]] = {}
        self._graphs: dict[int, Graph] = {}
        self._unknown: dict[tuple[int, int], tuple[int, int]] = {}
        self._batches: dict[int, list[tuple[int, int]]] = {}
        self.calls = 0

    def began(self, batch: Batch) -> None:
        """A batch is handed over; asserts that each of its members may be called now."""
        members = self._batches[batch.id] = []
        for segment in batch.segments:
            statuses = self._store.statuses(segment.graph).tolist()
            for place, position in enumerate(segment.positions.tolist()):
                members.append((segment.graph, position))
                self._may_begin(segment, place, statuses)
                self._unknown[segment.graph, position] = (batch.id, int(segment.generations[place]))
                self.calls += 1
        limit = batch.lane.max_batch
        assert len(batch) <= limit, f"batch {batch.id} has {len(batch)} members, {limit} are the limit"

    def _may_begin(self, segment: Segment, place: int, statuses: list[int]) -> None:
        graph, position = self._graph(segment.graph), int(segment.positions[place])
        name = f"entry {position} of graph {segment.graph}"
        assert statuses[position] < FIRST_ENDED, f"{name} is called after it ended"
        for need in self._needs[segment.graph][position]:
            status = statuses[need]
            tolerated = status == FAILED and int(graph.marks[need]) & Mark.TOLERANT
            is_done = status in DONE or tolerated
            assert is_done, f"{name} is called before what it needs: {need} is {EntryStatus(status).word}"
        before = self._unknown.get((segment.graph, position))
        policy = graph.policies[int(segment.policies[place])]
        is_safe = policy.repeatable or before is None or before[1] < int(segment.generations[place])
        assert is_safe, f"{name} may have been carried out and is called again"

    def _graph(self, graph_id: int) -> Graph:
        found = self._graphs.get(graph_id)
        if found is None:
            found = self._graphs[graph_id] = self._store.graph(graph_id)
            self._needs[graph_id] = [[] for _ in range(len(found))]
            for entry in range(len(found)):
                for dependent in found.idx[found.ptr[entry] : found.ptr[entry + 1]].tolist():
                    self._needs[graph_id][dependent].append(entry)
        return found

    def committed(self, changes: Changes) -> None:
        """What calls returned is known from now on."""
        for closed in changes.closed:
            members = self._batches.get(closed.batch, ())
            for (graph_id, position), kind in zip(members, closed.kinds.tolist(), strict=False):
                known_batch, _ = self._unknown.get((graph_id, position), (0, 0))
                if known_batch == closed.batch and kind not in UNKNOWN:
                    del self._unknown[graph_id, position]

    def check_order(self, batch: Batch, topologies: dict[int, Topology]) -> None:
        """Sources are created after their targets have started, and targets deleted after their sources are gone."""
        create, delete = full_name("create"), full_name("delete")
        if batch.lane.phase not in {create, delete}:
            return
        for segment in batch.segments:
            topology, states = topologies[segment.deployment], self._store.states(segment.deployment)
            for instance in segment.subjects.tolist():
                if batch.lane.phase == create:
                    targets = topology.target[topology.source == instance].tolist()
                    wrong = [other for other in targets if states[other] != STARTED]
                else:
                    sources = topology.source[topology.target == instance].tolist()
                    wrong = [other for other in sources if states[other] not in GONE]
                assert not wrong, f"{batch.lane.phase} of instance {instance} while {wrong} are not ready for it"
