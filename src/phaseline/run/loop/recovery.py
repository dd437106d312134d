"""Loading stored executions into the scheduler: after a crash, after Ctrl-C, or for a retry."""

from __future__ import annotations

from collections import Counter
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from phaseline.engine.request_handlers import GRACE_MS
from phaseline.lang.arrays import some
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.events import Lost, Reattached, Restored
from phaseline.model.execution.pre_post import HOOKS
from phaseline.model.graph.graph import has_phases, phase_of
from phaseline.model.graph.status import FIRST_ENDED, EntryStatus, ExecutionStatus, Mark, OutcomeKind
from phaseline.model.resources.resources import is_reach
from phaseline.model.rows.rows import RequestKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.deployments.planner_driver import Planning
    from phaseline.model.execution.events import Event
    from phaseline.model.rows.rows import BatchRow, ExecutionRow, GraphRow
    from phaseline.ports.store import Store

    TakeUp = Callable[[ExecutionRow, Sequence[Event]], Sequence[Event]]

COMPLETED, ENDED_FROM = int(EntryStatus.COMPLETED), int(FIRST_ENDED)
CONDITIONAL = int(Mark.CONDITIONAL)
PENDING, LOST = int(OutcomeKind.PENDING), int(OutcomeKind.LOST)
NEVER, RUNS = -1, -2
LAST_STATUS = int(max(EntryStatus))


class Time(TypedDict):
    """The fields of ``Restored`` about the time limit."""

    timeout_ms: int
    ends_at: int | None
    is_timed_out: bool


def released(store: Store, rows: Sequence[ExecutionRow]) -> Sequence[ExecutionRow]:
    """Return the executions that may continue. After a restore, older open ones wait for an operator (BK5)."""
    last = store.incarnations.held()
    return [row for row in rows if row.number > last or row.status.is_ended] if last else rows


def restore(
    store: Store,
    planning: Planning,
    deployments: DeploymentCache,
    rows: Sequence[ExecutionRow],
    orphans: Sequence[BatchRow],
    elsewhere: Collection[int],
    messages: dict[tuple[int, int], str],
    take_up: TakeUp = lambda _row, _events: [],
) -> list[Event]:
    """Return the events that load these executions, and open batches ("orphans") of their entries, into the scheduler.

    ``messages`` receives the last message of each entry that has not completed, by (graph, position). ``take_up``
    returns the events for resources on their path. If an execution's data is unreadable, only that execution ends.

    ``elsewhere`` has the ids of orphans whose calls still run (``Executor.recover``). The others are reported as lost.
    """
    first: list[Event] = []  # before those that belong together
    events: list[Event] = []
    held: set[int] = set()
    for row in rows:
        found: list[Event] = []
        with planning.alone(row):
            planning.begin(row)
            if not planning.is_set_aside(row.number):
                found = _of_one(store, planning, deployments, row, messages, elsewhere)
            if is_reach(row.request) or goes_through_phases(row, found):
                first.extend(take_up(row, found))
        if planning.is_set_aside(row.number):
            found = [Restored(row.number, row.deployment, row.status, row.attempt, None)]
        held.update(event.graph_id for event in found if isinstance(event, Restored) and event.graph is not None)
        events.extend(found)
    lost: list[Event] = []
    for batch in orphans:
        if not held.isdisjoint(batch.places.graphs):
            is_running = batch.id in elsewhere
            events.append(Reattached(batch.id, batch.places, batch.kinds, is_running))
            if not is_running:
                lost.append(Lost(batch.id, batch.id >= deployments.names.first_batch))
    return first + events + lost


def _of_one(
    store: Store,
    planning: Planning,
    deployments: DeploymentCache,
    row: ExecutionRow,
    messages: dict[tuple[int, int], str],
    elsewhere: Collection[int],
) -> list[Event]:
    """Return the events of one execution. Read all that its calls need now, so that damaged data is found here."""
    graphs = _graphs_to_hold(store, planning, row)
    calls = _LastCalls(store, row, elsewhere)
    if graphs:
        deployments.loaded(row.deployment)
        return [_restored(store, deployments, row, graph, statuses, messages, calls) for graph, statuses in graphs]
    bare = Restored(row.number, row.deployment, row.status, row.attempt, row.request.stop_after)
    return [altered(bare, **time_left(store, row))]


def held_again(
    store: Store, deployments: DeploymentCache, row: ExecutionRow, graph: int, messages: dict[tuple[int, int], str]
) -> Event:
    """Return the event that loads a graph of the execution again after the scheduler had dropped it.

    ``messages`` receives the last messages of its entries, by (graph, position).
    """
    found = next(one for one in store.graphs(row.number) if one.id == graph)
    return _restored(store, deployments, row, found, store.statuses(graph), messages, _LastCalls(store, row))


def goes_through_phases(row: ExecutionRow, events: Iterable[Event]) -> bool:
    """Return True if these events restore a graph of this execution in which phases are called."""
    found = (event for event in events if isinstance(event, Restored) and event.execution == row.number)
    return any(event.graph is not None and has_phases(event.graph.steps) for event in found)


def _graphs_to_hold(store: Store, planning: Planning, row: ExecutionRow) -> list[tuple[GraphRow, np.ndarray]]:
    """Return the graphs to load: of the present attempt, the last one and all with entries that have not ended.

    Executions to a target load all graphs. The planner gets graphs that are not loaded as settled rounds. It also gets
    loaded graphs as settled rounds if they have settled, because a user may let it plan again, or if they have unsure
    entries and a later graph follows them.
    """
    graphs = store.graphs(row.number)
    found = []
    for place, graph in enumerate(graphs):
        statuses = store.statuses(graph.id)
        may_move = some(statuses < ENDED_FROM)
        is_held = is_reach(row.request) or (graph.attempt == row.attempt and (graph is graphs[-1] or may_move))
        if is_held:
            found.append((graph, statuses))
        is_passed_by = not some(statuses < EntryStatus.UNSURE) and any(map(partial(_follows, row), graphs[place + 1 :]))
        if not is_held or not may_move or is_passed_by:
            from phaseline.calls.deployments.removed_instances import report_settled

            report_settled(store, planning, row, graph, statuses)
    return found


def _follows(row: ExecutionRow, graph: GraphRow) -> bool:
    """Return True if this later graph continues older graphs of the attempt. The pre hooks of a retry do not."""
    if graph.attempt != row.attempt:
        return False
    if not row.request.is_surrounded:
        return True
    from phaseline.model.execution.pre_post import OPENING

    return graph.name != OPENING


def _restored(
    store: Store,
    deployments: DeploymentCache,
    row: ExecutionRow,
    graph: GraphRow,
    statuses: np.ndarray,
    messages: dict[tuple[int, int], str],
    calls: _LastCalls,
) -> Event:
    columns = store.graph(graph.id)
    if len(statuses) != len(columns.subject) or (len(statuses) and statuses.max() > LAST_STATUS):
        raise ValueError(f"the statuses of its graph '{graph.name}' are not those of its entries")
    deployments.add_graph(graph.id, columns)
    if has_phases(columns.steps):
        last = calls.by_graph[graph.id]
        in_doubt = ((last == PENDING) | (last == LOST)) & (statuses < ENDED_FROM)
        for step in columns.steps:
            if phase_of(step.phase) is None:
                in_doubt[step.first : step.first + step.count] = False
        deployments.doubted(graph.id).update(dict.fromkeys(in_doubt.nonzero()[0].tolist(), 1))
    elif any(step.phase.startswith(HOOKS) for step in columns.steps):
        deployments.doubted(graph.id).update(calls.unseen[graph.id])
    notes = store.notes(graph.id)
    for note in notes:
        if note.message and statuses[note.position] != COMPLETED:
            messages[graph.id, note.position] = note.message
    deployments.keep_data(graph.id, notes)
    return Restored(
        row.number,
        row.deployment,
        row.status,
        row.attempt,
        row.request.stop_after,
        graph_id=graph.id,
        graph=columns,
        graph_attempt=graph.attempt,
        statuses=statuses,
        positions=np.array([note.position for note in notes], np.int32),
        attempts=np.array([note.attempts for note in notes], np.int32),
        generations=np.array([note.generation for note in notes], np.int32),
        due=np.array([note.due for note in notes], np.int64),
        begun=_begun(calls.by_graph[graph.id]) if some((columns.marks & CONDITIONAL) != 0) else None,
        functions=deployments.loaded(row.deployment).functions,
        **time_left(store, row),
    )


def time_left(store: Store, row: ExecutionRow) -> Time:
    """Return the time limit of the present attempt, which began with the attempt, as fields of ``Restored``.

    An execution that is canceling without a request to cancel has exceeded its limit, and its grace time runs.
    """
    if not row.request.timeout_ms:
        return {"timeout_ms": 0, "ends_at": None, "is_timed_out": False}
    asked = store.requests_of(row.number)
    began = max([row.started_at, *(one.at for one in asked if one.kind is RequestKind.RETRY)])
    is_canceled = row.status is ExecutionStatus.CANCELING
    is_timed_out = is_canceled and not any(one.kind is RequestKind.CANCEL and one.at >= began for one in asked)
    ends_at = began + row.request.timeout_ms + (GRACE_MS if is_timed_out else 0)
    return {"timeout_ms": row.request.timeout_ms, "ends_at": ends_at, "is_timed_out": is_timed_out}


def _begun(last: np.ndarray) -> np.ndarray:
    """Return the positions (int32) of entries that have been called at least once."""
    found: np.ndarray = (last != NEVER).nonzero()[0].astype(np.int32)
    return found


class _LastCalls:
    """The outcomes of the last calls of an execution's entries, read from the stored batches at the first use."""

    def __init__(self, store: Store, row: ExecutionRow, elsewhere: Collection[int] = ()) -> None:
        """Read nothing yet. ``elsewhere`` has the ids of batches whose calls still run."""
        self._store, self._row, self._elsewhere = store, row, elsewhere

    @cached_property
    def by_graph(self) -> dict[int, np.ndarray]:
        """{graph: outcome (int16) of each entry's last call; ``NEVER`` if it was not called, ``RUNS`` if the call runs}."""
        store, execution = self._store, self._row.number
        found = {graph.id: np.full(graph.entry_count, NEVER, np.int16) for graph in store.graphs(execution)}
        for batch in store.batches(execution=execution):
            kinds = batch.kinds
            silent = RUNS if batch.id in self._elsewhere else PENDING
            first = 0
            for number, positions in batch.segments:
                last = first + len(positions)
                if number in found:
                    found[number][positions] = silent if kinds is None or not len(kinds) else kinds[first:last]
                first = last
        return found

    @cached_property
    def unseen(self) -> dict[int, Counter[int]]:
        """{graph: {position: number of the entry's calls whose end is unknown}}, without calls of this engine."""
        found: dict[int, Counter[int]] = {graph.id: Counter() for graph in self._store.graphs(self._row.number)}
        for batch in self._store.batches(execution=self._row.number):
            if batch.id in self._elsewhere:
                continue
            kinds = batch.kinds
            first = 0
            for number, positions in batch.segments:
                last = first + len(positions)
                if number in found:
                    if kinds is not None and len(kinds):
                        positions = positions[np.isin(kinds[first:last], (PENDING, LOST))]
                    found[number].update(positions.tolist())
                first = last
        return found
