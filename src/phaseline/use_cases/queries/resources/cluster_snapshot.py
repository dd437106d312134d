"""Read one stored cluster: the state, the target and the present graph of each resource.

Columns are indexed by resource number. Each graph is read only once, when it is first needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.model.deployment.index_ranges import numbers_of
from phaseline.model.deployment.sealed_values import veiled_properties
from phaseline.model.graph.status import EntryStatus
from phaseline.model.problems.problem import problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW, REMOVED, newest_of
from phaseline.model.resources.state_graph_names import FIRST_NAMED, state_name
from phaseline.model.rows.details import DetailQuery
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.use_cases.lookup.read_ahead import ReadAhead
from phaseline.use_cases.lookup.unreadable_rows import Flaws
from phaseline.use_cases.queries.resources.state_stays import Stay

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.rows.rows import BatchRow, DeploymentRow, ExecutionRow
    from phaseline.ports.execution_reads import ExecutionReads
    from phaseline.ports.tenant_store import TenantStore

Standing = Literal["arrived", "moving", "failed", "still"]
NO_STATE = ""
"""The state of a resource that no engine has started yet."""


class ClusterSnapshot:
    """One stored cluster. It takes no locks, so data read later may be slightly newer than data read earlier."""

    def __init__(self, store: ExecutionReads, row: DeploymentRow) -> None:
        """Read the number of resources and their states; other data is read when it is first needed."""
        self.store = store
        self.row = row
        self.states = store.states(row.number)
        self.names = store.state_names(row.number)  # after the states, so that each of them has its name
        self.topology: Topology = store.topology(row.number)
        self._stays: dict[int, Stay] = {}
        self._batches: dict[int, Sequence[BatchRow]] = {}

    @cached_property
    def living(self) -> np.ndarray:
        """Numbers (int64, ascending) of the resources that are not removed."""
        return np.flatnonzero(self.states[: len(self.topology)] != REMOVED)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """{name: number} of the resources that are not removed."""
        ids = self.topology.ids
        return {ids[number]: number for number in self.living.tolist()}

    def name(self, number: int) -> str:
        """The name of a resource."""
        return self.topology.ids[number]

    def type(self, number: int) -> str:
        """The type of a resource."""
        return self.topology.nodes[int(self.topology.node[number])].type

    def counted(self, numbers: np.ndarray) -> dict[str, int]:
        """Return {state: number of resources in it} for the given resources, in the order in which the states first occur."""
        bytes_, first, counts = np.unique(self.states[numbers], return_index=True, return_counts=True)
        order = np.argsort(first, kind="stable").tolist()
        found: dict[str, int] = {}
        for place in order:
            word = self.word(int(bytes_[place]))
            found[word] = found.get(word, 0) + int(counts[place])
        return found

    def state(self, number: int) -> str:
        """Return the name of a resource's state, or "" before an engine has started it."""
        return self.word(int(self.states[number]))

    def word(self, state: int) -> str:
        """Return the name of the state with this number, as stored in ``states``."""
        return state_name(state, self.names) if state >= FIRST_NAMED else NO_STATE

    @cached_property
    def executions(self) -> Sequence[ExecutionRow]:
        """The executions that bring or brought resources of the cluster to targets, oldest first."""
        return [row for row in self.store.executions(self.row.number) if row.request.workflow == REACH_WORKFLOW]

    @cached_property
    def by_number(self) -> dict[int, ExecutionRow]:
        """{number: execution} of all ``executions``."""
        return {row.number: row for row in self.executions}

    @cached_property
    def _subjects(self) -> dict[int, np.ndarray]:
        """{execution: ascending numbers of the resources that it was requested to move}."""
        return {row.number: numbers_of(row.request.parameters.get("subjects")) for row in self.executions}

    @cached_property
    def _bounds(self) -> dict[int, tuple[int, int]]:
        """{execution: (first, last) number in ``_subjects``}, with which most executions are skipped quickly."""
        return {
            execution: (int(numbers[0]), int(numbers[-1])) if len(numbers) else (1, 0)
            for execution, numbers in self._subjects.items()
        }

    @cached_property
    def newest(self) -> np.ndarray:
        """For each resource, the number of the latest execution that was requested to move it, or 0 if there is none; int64."""
        ways = ((row.number, row.request.parameters.get("subjects")) for row in self.executions)
        return newest_of(ways, len(self.states))

    def executions_of(self, number: int) -> list[ExecutionRow]:
        """Return the executions that were requested to move one resource, oldest first."""
        bounds = self._bounds
        return [
            row
            for row in self.executions
            if bounds[row.number][0] <= number <= bounds[row.number][1] and _has(self._subjects[row.number], number)
        ]

    def target(self, number: int) -> str:
        """Return the target of a resource; its state if it never got a target."""
        wanted = self.target_of(int(self.newest[number]))
        return self.state(number) if wanted is None else wanted

    def target_of(self, execution: int) -> str | None:
        """Return the target to which an execution brings its resources; None if it removes them or is unknown."""
        row = self.by_number.get(execution)
        wanted = row.request.parameters.get("target") if row is not None else None
        return wanted if isinstance(wanted, str) else None

    def standing(self, number: int) -> Standing:
        """Return the progress of a resource towards its target.

        "arrived": it is in its target state; "moving": it is on its way; "failed": a phase has failed; "still": its
        execution ended or was canceled before it arrived, or it never had one.
        """
        row = self.by_number.get(int(self.newest[number]))
        if row is None:
            return "still"
        if self.state(number) == row.request.parameters.get("target"):
            return "arrived"
        stay = self.stay(number)
        if stay is None or stay.execution != row.number:
            return "still" if row.status.is_ended else "moving"
        if EntryStatus.FAILED in stay.statuses_of(number).values():
            return "failed"
        return "still" if row.status.is_ended or stay.is_canceled(number) else "moving"

    # -- stays

    @cached_property
    def graphs(self) -> Sequence[tuple[int, int, str, int]]:
        """(graph, execution, state, creation time) of all stored graphs of the cluster, oldest first."""
        found = [
            (graph.id, row.number, graph.name, graph.created_at)
            for row in self.executions
            for graph in self.store.graphs(row.number)
        ]
        return sorted(found)

    @cached_property
    def _graphs_of(self) -> dict[int, list[tuple[int, int, str, int]]]:
        """{execution: its items of ``graphs``}."""
        found: dict[int, list[tuple[int, int, str, int]]] = {}
        for graph in self.graphs:
            found.setdefault(graph[1], []).append(graph)
        return found

    def batches(self, execution: int) -> Sequence[BatchRow]:
        """Return all batches of an execution."""
        if execution not in self._batches:
            self._batches[execution] = self.store.batches(execution=execution)
        return self._batches[execution]

    def open_batches(self, execution: int) -> Sequence[BatchRow]:
        """Return the open batches of an execution."""
        if execution in self._batches:
            return [batch for batch in self._batches[execution] if not batch.closed_at]
        return self.store.batches(execution=execution, only_open=True)

    def stay_in(self, graph: int, execution: int, state: str, at: int) -> Stay:
        """Return the stay that a graph describes: some resources in a state, since the time ``at``."""
        found = self._stays.get(graph)
        if found is None:
            found = self._stays[graph] = Stay(
                self.store,
                graph,
                execution,
                state,
                at,
                lambda: self.batches(execution),
                lambda: self.open_batches(execution),
            )
        return found

    @cached_property
    def stays(self) -> Sequence[Stay]:
        """All stored stays, oldest first; this reads every graph."""
        return [self.stay_in(*graph) for graph in self.graphs]

    @cached_property
    def _latest(self) -> np.ndarray:
        """For each resource, the index in ``stays`` of its latest stay in a state, or -1 if it has none; int64."""
        found = np.full(len(self.states), -1, np.int64)
        for place, stay in enumerate(self.stays):
            subjects = stay.subjects
            found[subjects[subjects < len(found)]] = place
        return found

    @cached_property
    def _by_subject(self) -> tuple[np.ndarray, np.ndarray]:
        """Two equally long arrays, which list each resource once for each of its stays, ascending by resource number.

        The first has the resource numbers, the second the indices of the stays in ``stays``.
        """
        parts = [stay.subjects for stay in self.stays]
        places = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        subjects = np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)
        order = np.argsort(subjects, kind="stable")
        return subjects[order], places[order]

    def stays_of(self, number: int) -> list[Stay]:
        """Return every stay of one resource in a state, oldest first.

        Only graphs of executions that were requested to move the resource are read. If all graphs have been read
        already, because many resources were looked up, the stays are found in memory.
        """
        if "_latest" in self.__dict__:
            subjects, places = self._by_subject
            low, high = np.searchsorted(subjects, (number, number + 1)).tolist()
            return [self.stays[place] for place in places[low:high].tolist()]
        found = []
        for row in self.executions_of(number):
            stays = [self.stay_in(*graph) for graph in self._graphs_of.get(row.number, ())]
            found += [stay for stay in stays if _has(stay.subjects, number)]
        return sorted(found, key=lambda stay: stay.graph)

    def stay(self, number: int) -> Stay | None:
        """Return the present stay of a resource, which is its latest one, or None if it has none."""
        if "_latest" not in self.__dict__:
            found = self.stays_of(number)
            return found[-1] if found else None
        place = int(self._latest[number])
        return None if place < 0 else self.stays[place]

    def by_stay(self, numbers: np.ndarray) -> Iterable[tuple[Stay, np.ndarray]]:
        """Return pairs (stay, numbers of the given resources that are in it at present)."""
        if len(numbers) == 1 and "_latest" not in self.__dict__:  # for one resource few graphs are read
            stay = self.stay(int(numbers[0]))
            return [] if stay is None else [(stay, numbers)]
        return self._by_latest(numbers)

    def _by_latest(self, numbers: np.ndarray) -> Iterator[tuple[Stay, np.ndarray]]:
        latest = self._latest[numbers]
        for place in np.unique(latest[latest >= 0]).tolist():
            yield self.stays[place], numbers[latest == place]

    def is_superseded(self, stay: Stay, number: int) -> bool:
        """Return whether the resource has been given another target since this stay."""
        return int(self.newest[number]) != stay.execution

    def document(self, number: int) -> dict[str, Value]:
        """Return the attributes of a resource and the data of its phases, for display: secrets are hidden."""
        return veiled_properties(self.store.documents(self.row.number, [number]).get(number, {}))


def _has(ascending: np.ndarray, number: int) -> bool:
    place = int(np.searchsorted(ascending, number))
    return place < len(ascending) and int(ascending[place]) == number


def read_clusters(
    store: TenantStore, rows: Sequence[DeploymentRow], flaws: Flaws | None = None, *, with_graphs: bool = True
) -> tuple[ReadAhead, list[ClusterSnapshot]]:
    """Read several clusters by one statement; return what was read, and the clusters.

    ``flaws`` collects clusters that cannot be read; without it, they raise an error. ``with_graphs``: read all graphs
    of their executions, too, for statements about many resources.
    """
    numbers = [row.number for row in rows]
    reads = ReadAhead(store)
    reads.read(
        DetailQuery(
            topologies_of=numbers,
            states_of=numbers,
            executions_of=numbers if with_graphs else (),
            graphs_within=numbers if with_graphs else (),
            with_columns=with_graphs,
            open_batches=with_graphs,
        )
    )
    found: list[ClusterSnapshot] = []
    for row in rows:
        with flaws.of(row.name) if flaws is not None else nullcontext():
            found.append(ClusterSnapshot(reads, row))
    return reads, found


def telling_graphs(reads: ReadAhead, snapshots: Iterable[ClusterSnapshot]) -> dict[int, set[int]]:
    """Return {execution: its graphs with entries that are open or have failed}; lists show no other graphs."""
    found: dict[int, set[int]] = {}
    for snapshot in snapshots:
        with Flaws().of(snapshot.row.name):  # reported when the cluster itself is read
            for graph, execution, _, _ in snapshot.graphs:
                if not np.isin(reads.statuses(graph), QUIET).all():
                    found.setdefault(execution, set()).add(graph)
    return found


QUIET = (EntryStatus.PASSED, EntryStatus.COMPLETED, EntryStatus.CANCELED)
"""Statuses of entries that do not keep a resource in its state."""


def clusters(store: TenantStore, name: str | None = None) -> list[DeploymentRow]:
    """Return all clusters, or only the one with this name or unique beginning of a name. Raises: PL-C030."""
    rows = {row.name: row for row in store.listings.deployments(DeploymentQuery(kind="resources"))}
    if name is None:
        return list(rows.values())
    fitting = [name] if name in rows else [known for known in rows if name and known.startswith(name)]
    if len(fitting) == 1:
        return [rows[fitting[0]]]
    hint = did_you_mean(name, rows) or (f"there are: {', '.join(sorted(rows)[:5])}" if rows else "there is none yet")
    raise problem_error("PL-C030", f"there is no cluster '{name}'", f"correct the name; {hint}")
