"""The present activity of each phase, and the results of its latest calls (sections 5 and 12)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.execution.breakpoints import due_of
from phaseline.model.graph.graph import LANE_PREFIX, phase_of
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.model.phases.activity import COUNTED, Activity, activity_of
from phaseline.model.resources.state_graph_names import measure_of
from phaseline.model.rows.details import DetailQuery
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.lookup.read_ahead import ReadAhead
from phaseline.use_cases.lookup.unreadable_rows import Flaws
from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot, telling_graphs
from phaseline.use_cases.queries.resources.node_activity import count_nodes
from phaseline.use_cases.queries.resources.state_stays import WORDS

if TYPE_CHECKING:
    from phaseline.model.rows.phase_tables import PhaseTables
    from phaseline.model.rows.rows import BatchRow, DeploymentRow, LaneStatistics, Metric, PausedRow
    from phaseline.ports.execution_reads import ExecutionReads
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.use_cases.queries.resources.state_stays import Stay

PAUSES_TOLD = 20
RUNS_TOLD = 10
LOOKED_AT = 100
"""Number of latest calls from which averages are computed."""
MOST_INSTANCES = 1_000_000
"""Number of instances whose graphs are in memory at the same time; more are read in several groups."""
CALLED = (EntryStatus.RUNNING, EntryStatus.CANCELING)


@frozen
class Pause:
    """A request of an operator to pause a phase (``is_paused``), or to lift a pause."""

    at: int
    actor: str
    is_paused: bool
    reason: str


@frozen
class RunNow:
    """One call of a phase: its number, the number of its resources, and how many had each outcome.

    ``took_ms`` is None while the call runs. ``again`` also counts failures that are tried again.
    """

    run: int
    started_at: int
    took_ms: int | None
    size: int
    completed: int
    again: int
    failed: int


@frozen
class PhaseNow:
    """The present activity of one phase and statistics of its calls.

    ``counts``: {status: number of resources}. ``is_queued``: resources wait and no call runs. ``is_overdue``: the
    oldest running call runs for longer than the phase allows (``Phase.OverdueAfter``). ``runs``: number of stored
    calls, which took ``run_ms`` in total. Means, ``failures`` and ``retries`` come from the last hundred calls.
    ``called``: number of resources given to calls so far, each counted in every call; together they had waited
    ``waited_ms``. ``latest``: the last runs, oldest first. ``paused``: actor and reason of the pause, empty if not
    paused; ``pauses``: the latest requests to pause the phase or to lift a pause.
    """

    name: str = ""
    activity: Activity = "Inactive"
    counts: Mapping[str, int] = field(default_factory=dict)
    is_queued: bool = False
    next_run_at: int = 0
    running_since_at: int = 0
    is_overdue: bool = False
    last_run_at: int = 0
    last_run_ms: int = 0
    last_run_size: int = 0
    runs: int = 0
    run_ms: int = 0
    mean_run_ms: int = 0
    mean_run_size: float = 0.0
    failures: int = 0
    retries: int = 0
    called: int = 0
    waited_ms: int = 0
    mean_wait_ms: int = 0
    latest: Sequence[RunNow] = ()
    paused: str = ""
    paused_at: int = 0
    pauses: Sequence[Pause] = ()


def phases_now(store: TenantStore, tables: PhaseTables) -> Mapping[str, PhaseNow]:
    """Return {phase in lower case: its activity}, of phases that resources are or were in, and of paused phases.

    ``tables``: what the store has of phases.
    """
    names: dict[str, str] = {}
    counts: dict[str, Counter[str]] = {}
    dues: dict[str, int] = {}
    rows = store.listings.deployments(DeploymentQuery(has_states=True))
    pauses: dict[str, tuple[str, list[Pause]]] = {}
    lanes: dict[str, LaneStatistics] = {}
    for group in _groups(rows):
        with_resources = [row for row in group if row.kind == "resources"]
        with_nodes = [row for row in group if row.kind != "resources"]
        reads, snapshots = _read(store, with_resources, with_nodes)
        pauses = _pauses(reads)
        found = _phases_in(reads, snapshots, with_nodes)
        asked = {*found, *(name for name, _ in pauses.values()), *(pause.name for pause in tables.paused.values())}
        graphs = telling_graphs(reads, snapshots)
        notes = {graph for some in graphs.values() for graph in some}
        notes.update(graph.id for row in with_nodes for graph in reads.graphs(reads.latest.get(row.number, 0)))
        reads.read(DetailQuery(notes_of=notes, lanes={LANE_PREFIX + name for name in asked}, last_calls=LOOKED_AT))
        for snapshot in snapshots:
            with Flaws().of(snapshot.row.name):  # `resources list` reports a cluster that cannot be read
                _count(snapshot, names, counts, dues)
        count_nodes(reads, with_nodes, names, counts, dues)
        lanes |= {name: reads.runs_of(LANE_PREFIX + name) for name in asked}
    paused = tables.paused
    names.update((key, found_[0]) for key, found_ in pauses.items() if key not in names)
    names.update((key, pause.name) for key, pause in paused.items() if key not in names)
    return {
        key: altered(
            _now(
                lanes.get(name) or store.runs_of(LANE_PREFIX + name, last=LOOKED_AT),
                name,
                counts.get(key, Counter()),
                dues.get(key, 0),
                paused.get(key),
                _measured(tables.measures, name),
            ),
            pauses=pauses[key][1][-PAUSES_TOLD:] if key in pauses else (),
        )
        for key, name in names.items()
    }


def _groups(rows: Sequence[DeploymentRow]) -> Iterator[list[DeploymentRow]]:
    """Yield deployments in groups with a limited number of instances: usually one group; an empty one if there are none."""
    group: list[DeploymentRow] = []
    room = MOST_INSTANCES
    for row in rows:
        if group and room < row.instance_count:
            yield group
            group, room = [], MOST_INSTANCES
        group.append(row)
        room -= row.instance_count
    yield group


def _read(
    store: TenantStore, with_resources: Sequence[DeploymentRow], with_nodes: Sequence[DeploymentRow]
) -> tuple[ReadAhead, list[ClusterSnapshot]]:
    """Read clusters with all their graphs, and the last rounds of deployments of nodes on paths, by one statement."""
    reads = ReadAhead(store)
    numbers = [row.number for row in with_resources]
    reads.read(
        DetailQuery(
            topologies_of=numbers,
            executions_of=numbers,
            graphs_within=numbers,
            states_of=[*numbers, *(row.number for row in with_nodes)],
            rounds_of=[row.number for row in with_nodes],
            with_columns=True,
            open_batches=True,
            requests_of=(0,),
        )
    )
    snapshots = []
    for row in with_resources:
        with Flaws().of(row.name):  # `resources list` reports a cluster that cannot be read
            snapshots.append(ClusterSnapshot(reads, row))
    return reads, snapshots


def _phases_in(reads: ReadAhead, snapshots: Sequence[ClusterSnapshot], with_nodes: Sequence[DeploymentRow]) -> set[str]:
    """Return the names of the phases in the graphs that were read."""
    found: set[str] = set()
    for snapshot in snapshots:
        with Flaws().of(snapshot.row.name):
            found.update(phase for stay in snapshot.stays for phase in stay.phases)
    for row in with_nodes:
        with Flaws().of(row.name):
            graphs = [reads.graph(graph.id) for graph in reads.graphs(reads.latest.get(row.number, 0))]
            names = (phase_of(step.phase) for graph in graphs for step in graph.steps)
            found.update(name for name in names if name is not None)
    return found


def _measured(measures: Mapping[str, Metric], name: str) -> Mapping[str, Any]:
    found = measures.get(measure_of(name))
    return found.body if found is not None else {}


def blocked(now: PhaseNow) -> PhaseNow:
    """Return the activity with the waiting resources counted as blocked, because the phase cannot be used (T15)."""
    counts = Counter(now.counts)
    counts["Blocked"] += counts.pop("Waiting", 0)
    counts += Counter()
    activity = activity_of(counts, is_called=bool(now.running_since_at))
    return altered(now, counts=dict(counts), is_queued=False, activity=activity)


def _pauses(store: ExecutionReads) -> dict[str, tuple[str, list[Pause]]]:
    """Return {phase in lower case: (its name, requests to pause it and to lift pauses, oldest first)}."""
    found: dict[str, tuple[str, list[Pause]]] = {}
    for request in store.requests_of(0):
        if request.kind is RequestKind.PAUSE:
            name, body = str(request.body.get("phase", "")), request.body
            pause = Pause(request.at, request.actor.name, body.get("is_paused") is True, str(body.get("reason", "")))
            found.setdefault(name.lower(), (name, []))[1].append(pause)
    return found


def _count(
    snapshot: ClusterSnapshot, names: dict[str, str], counts: dict[str, Counter[str]], dues: dict[str, int]
) -> None:
    present = snapshot.living
    for stay, inside in snapshot.by_stay(present):
        here = inside[snapshot.newest[inside] == stay.execution]
        for phase in stay.phases:
            key = phase.lower()
            names.setdefault(key, phase)
            tally = counts.setdefault(key, Counter())
            statuses = stay.status[stay.positions(phase, here)]
            for status, count in zip(*np.unique(statuses, return_counts=True), strict=True):
                word = WORDS.get(EntryStatus(int(status)))
                if word in COUNTED and word is not None:
                    tally[word] += int(count)
            _note_due(stay, phase, here, statuses, dues)
    for stay in snapshot.stays:
        _count_left(snapshot, stay, names, counts)


def _note_due(stay: Stay, phase: str, numbers: np.ndarray, statuses: np.ndarray, dues: dict[str, int]) -> None:
    """Store in ``dues`` the earliest time at which a sleeping entry of the phase is called, if it is earlier than known.

    ``numbers``: resources of the stay; ``statuses``: the statuses of their entries.
    """
    for position in stay.positions(phase, numbers[statuses == EntryStatus.SLEEPING]).tolist():
        note = stay.notes.get(position)
        due = due_of(phase, note.due, note.result) if note is not None else 0
        if due:
            key = phase.lower()
            dues[key] = min(dues.get(key, due), due)


def _count_left(snapshot: ClusterSnapshot, stay: Stay, names: dict[str, str], counts: dict[str, Counter[str]]) -> None:
    """Count running calls as Canceling if their resources have been given another target since the call began."""
    for phase in stay.phases:
        names.setdefault(phase.lower(), phase)
    if snapshot.by_number[stay.execution].status.is_ended:
        return
    for phase, step in stay.phases.items():
        part = slice(step.first, step.first + step.count)
        called = np.isin(stay.status[part], CALLED)
        if called.any():
            past = snapshot.newest[stay.columns.subject[part][called]] != stay.execution
            counts.setdefault(phase.lower(), Counter())["Canceling"] += int(past.sum())


def _now(
    found: LaneStatistics,
    name: str,
    counts: Counter[str],
    due: int,
    pause: PausedRow | None,
    measured: Mapping[str, Any],
) -> PhaseNow:
    called, waited_ms = measured.get("called", 0), measured.get("waited_ms", 0)
    runs = found.last
    is_called = any(not run.closed_at for run in runs)
    done = [run for run in runs if run.closed_at]
    sizes = [_size(run) for run in runs]
    took = [run.closed_at - run.started_at for run in done]
    kinds = _kinds(done)
    return PhaseNow(
        name,
        activity=activity_of(counts, is_called=is_called),
        counts={word: counts[word] for word in COUNTED if counts[word]},
        is_queued=bool(counts["Waiting"]) and not is_called and pause is None,
        next_run_at=due,
        running_since_at=min((run.started_at for run in runs if not run.closed_at), default=0),
        last_run_at=runs[-1].started_at if runs else 0,
        last_run_ms=took[-1] if took else 0,
        last_run_size=sizes[-1] if sizes else 0,
        runs=found.count,
        run_ms=found.took_ms,
        mean_run_ms=round(sum(took) / len(took)) if took else 0,
        mean_run_size=round(sum(sizes) / len(sizes), 1) if sizes else 0.0,
        failures=kinds[OutcomeKind.FAILED],
        retries=kinds[OutcomeKind.RETRY],
        called=called,
        waited_ms=waited_ms,
        mean_wait_ms=round(waited_ms / called) if called else 0,
        latest=[_run(run) for run in runs[-RUNS_TOLD:]],
        paused=f"{pause.actor}: {pause.reason}" if pause is not None else "",
        paused_at=pause.at if pause is not None else 0,
    )


def _run(run: BatchRow) -> RunNow:
    kinds = _kinds([run])
    took_ms = run.closed_at - run.started_at if run.closed_at else None
    again = kinds[OutcomeKind.AGAIN] + kinds[OutcomeKind.RETRY]
    return RunNow(
        run.id, run.started_at, took_ms, _size(run), kinds[OutcomeKind.COMPLETED], again, kinds[OutcomeKind.FAILED]
    )


def _size(run: BatchRow) -> int:
    return len(run.places.positions)


def _kinds(runs: Sequence[BatchRow]) -> Counter[int]:
    found: Counter[int] = Counter()
    for run in runs:
        if run.kinds is not None:
            kinds, times = np.unique(run.kinds, return_counts=True)
            found.update(dict(zip(kinds.tolist(), times.tolist(), strict=True)))
    return found
