"""Handlers of requests from users, planners and the store: begin, continue, cancel, retry, complete, wake."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from phaseline.engine.arena import ONCE_BEGUN
from phaseline.engine.arena_layout import NewGraph
from phaseline.engine.dependency_counts import recount
from phaseline.engine.event_handlers import complete
from phaseline.engine.open_batches import OpenBatch
from phaseline.engine.open_executions import OpenExecution
from phaseline.engine.reopen import leave_lanes, rerun
from phaseline.engine.status_transitions import (
    ABSENT,
    BLOCKED,
    CANCELED,
    CANCELING,
    FAILED,
    IS_STORED,
    KIND_PENDING,
    KIND_UNSURE,
    RUNNING,
    SKIPPED,
    SLEEPING,
    TOLERANT,
    UNSURE,
    WAITING,
    WOKEN,
    one_of,
)
from phaseline.lang.arrays import unique
from phaseline.model.execution.events import (
    CancelRequested,
    CompleteRequested,
    GraphAdded,
    GraphReopened,
    Left,
    Planned,
    Reattached,
    RerunRequested,
    Restored,
    RetryRequested,
    Stop,
    Submitted,
    WakeRequested,
)
from phaseline.model.execution.execution import GoOn, Verdict
from phaseline.model.graph.graph import Graph, SubjectKind
from phaseline.model.graph.status import EntryStatus, ExecutionStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.engine.arena_layout import GraphSlot
    from phaseline.engine.scheduler import Scheduler
    from phaseline.engine.turn_draft import TurnDraft
    from phaseline.model.execution.events import Event

AS_RESTORED = bytes(status if IS_STORED[status] else BLOCKED for status in EntryStatus).ljust(256, b"\0")
"""Translation table [stored status] -> status of a restored entry; waiting and running follow from needs and open batches."""
RETRIED = one_of(FAILED, CANCELED)
RETRIED_UNSURE = one_of(FAILED, CANCELED, UNSURE)
GRACE_MS = 240_000
"""Time in ms for which running calls are awaited after the time-out of their execution."""
UNBEGUN = one_of(BLOCKED, WAITING, SLEEPING)
CALLED = one_of(RUNNING, CANCELING)
COMPLETED_BY_HAND = one_of(FAILED, UNSURE, SLEEPING, WAITING, CANCELED)
BEHIND = one_of(BLOCKED, SKIPPED)
"""[status] -> True for entries that wait for needs or have lost them. A user may complete these, too, except milestones."""


def apply(scheduler: Scheduler, draft: TurnDraft, event: Event) -> None:
    """Apply one request. A request about an unknown execution or graph has no effect."""
    request = REQUESTS.get(type(event))
    if request is None:
        raise TypeError(event)
    request(scheduler, draft, event)


def _submitted(scheduler: Scheduler, draft: TurnDraft, event: Submitted) -> None:
    """Begin a new execution by asking its planner."""
    run = _begin(
        scheduler, OpenExecution(event.execution, event.deployment, event.stop_after, timeout_ms=event.timeout_ms)
    )
    run.begin_time(draft.now)
    scheduler.set_status(draft, run, ExecutionStatus.RUNNING)
    scheduler.ask(draft, run, 0)


def _begin(scheduler: Scheduler, run: OpenExecution) -> OpenExecution:
    scheduler.runs[run.execution] = run
    if run.is_limited:
        scheduler.limited[run.execution] = run
    return run


def _planned(scheduler: Scheduler, draft: TurnDraft, event: Planned) -> None:
    """Apply the planner's answer: add a graph, continue a graph, or end the execution. Drop an answer that is outdated.

    If no question is open, accept only a graph, which is the planner's answer to an exit.
    """
    run = scheduler.runs.get(event.execution)
    if run is None:
        _leave_out(scheduler, event)
        return
    was_asking, is_overtaken = run.is_asking, run.is_overtaken
    run.is_asking = run.is_overtaken = False
    if is_overtaken:
        _leave_out(scheduler, event)
        last = run.graphs[-1] if run.graphs else 0
        if run.asked or not last:
            scheduler.ask(draft, run, last)
        else:
            scheduler.arena.touched.add(scheduler.arena.slots[last].number)
        return
    if not was_asking and (run.is_canceled or not isinstance(event.answer, Graph)):
        _leave_out(scheduler, event)
        return
    if isinstance(event.answer, Verdict):
        assert not scheduler.moves(run), f"the planner ends execution {run.execution} while entries of it still move"
        scheduler.set_status(draft, run, event.answer.status, event.answer.reason)
        scheduler.forget(run)
        return
    if isinstance(event.answer, GoOn):
        slot = scheduler.arena.slots[event.graph_id]
        slot.attempt = run.attempt
        draft.reopened.append(GraphReopened(slot.graph_id, run.attempt))
        run.asked.discard(slot.graph_id)  # it may settle at once: canceled entries need not be calls
        run.forgive()  # its failures were counted when it was restored
        graph, positions = run.retried
        chosen = positions if graph == slot.graph_id and positions is not None else np.arange(slot.end - slot.base)
        _again(scheduler, draft, slot, chosen.astype(np.int64) + slot.base, RETRIED_UNSURE)
        return
    draft.graphs.append(GraphAdded(event.graph_id, event.execution, event.answer))
    scheduler.planned.append(NewGraph(event.answer, event.graph_id, run.execution, run.deployment, event.functions))


def _leave_out(scheduler: Scheduler, event: Planned) -> None:
    """Report the graph of a dropped answer as dropped; it was never added to the arena."""
    if isinstance(event.answer, Graph):
        scheduler.arena.dropped.append(event.graph_id)


def _restored(scheduler: Scheduler, draft: TurnDraft, event: Restored) -> None:
    """Restore an execution and one of its graphs from the store.

    Which entries wait or run follows from needs and open batches.
    """
    run = scheduler.runs.get(event.execution)
    if run is None:
        run = _begin(
            scheduler,
            OpenExecution(
                event.execution, event.deployment, event.stop_after, event.status, attempt=event.attempt,
                timeout_ms=event.timeout_ms, ends_at=event.ends_at, is_timed_out=event.is_timed_out,
            ),
        )  # fmt: skip
        run.is_canceled = event.status is ExecutionStatus.CANCELING
        scheduler.pondered.add(run.execution)
    if event.graph is None:
        scheduler.set_status(draft, run, ExecutionStatus.CANCELING if run.is_canceled else ExecutionStatus.RUNNING)
        scheduler.ask(draft, run, 0)
        return
    if event.graph_id in run.graphs:
        return
    run.asked.update(run.graphs)
    scheduler.pondered.add(run.execution)
    (slot,) = scheduler.add([NewGraph(event.graph, event.graph_id, run.execution, run.deployment, event.functions)])
    slot.attempt = event.graph_attempt
    arena = scheduler.arena
    if event.statuses is not None:
        arena.status[slot.base : slot.end] = np.frombuffer(event.statuses.tobytes().translate(AS_RESTORED), np.uint8)
    if event.positions is not None and len(event.positions):
        positions = event.positions.astype(np.int64) + slot.base
        arena.attempts[positions] = event.attempts
        arena.generations[positions] = event.generations
        arena.due[positions] = event.due
    if event.begun is not None:
        arena.marks[event.begun.astype(np.int64) + slot.base] &= ONCE_BEGUN
    recount(arena, slot, event.graph)
    status = arena.status[slot.base : slot.end]
    held = status.tobytes()  # most have no sleeping and no failed entries
    if SLEEPING in held:
        asleep = (status == SLEEPING).nonzero()[0] + slot.base
        scheduler.sleepers.add(asleep, arena.due[asleep])
    if FAILED in held and run.execution in scheduler.limited:
        failed = (status == FAILED) & ((arena.marks[slot.base : slot.end] & TOLERANT) == 0)
        run.count_failures(arena, slot, failed.nonzero()[0] + slot.base, draft.now)
    scheduler.restored.append(slot)


def _reattached(scheduler: Scheduler, _draft: TurnDraft, event: Reattached) -> None:
    """Restore an open batch; members without an outcome count as running.

    If the batch was restored before, add the members whose executions have been restored since then.
    """
    arena = scheduler.arena
    slots = [arena.slots.get(graph) for graph in event.places.graphs]
    bases = np.array([-1 if slot is None else slot.base for slot in slots], np.int64)
    bases = bases.repeat([high - low for low, high in pairwise((0, *event.places.ends))])
    positions = np.where(bases < 0, -1, bases + event.places.positions)
    kinds = np.zeros(len(positions), np.uint8) if event.kinds is None or not len(event.kinds) else event.kinds.copy()
    batch = scheduler.batches.get(event.batch)
    if batch is None:
        nowhere, unanswered = np.full(len(positions), -1, np.int64), int((kinds == KIND_PENDING).sum())
        batch = OpenBatch(event.batch, None, nowhere, kinds, 0, 0, elsewhere=unanswered)
        scheduler.batches[event.batch] = batch
    found = (batch.positions < 0) & (positions >= 0) & (batch.kinds == KIND_PENDING)
    batch.positions = np.where(batch.positions < 0, positions, batch.positions)
    running = positions[found]
    batch.pending += len(running)
    batch.elsewhere -= len(running)
    arena.status[running[arena.status[running] != CANCELING]] = RUNNING
    arena.owner[running] = event.batch
    if event.is_running and len(running):
        _occupy(scheduler, batch, running)


def _occupy(scheduler: Scheduler, batch: OpenBatch, running: np.ndarray) -> None:
    """Count calls that still run in another process in their lane and its pool.

    Those of a lane with a key are not counted: each engine gives keys other numbers, and computes only those of entries
    that wait.
    """
    number = scheduler.table.lane.item(scheduler.arena.policy[running[0]])
    spec = scheduler.table.specs[number]
    if spec.key is not None:
        return
    is_new = batch.lane is None
    lane = scheduler.lanes.lane(number, spec, 0)
    if is_new:
        batch.lane = lane
        lane.rejoin(batch)
    more = len(running) if spec.form == "each" else int(is_new)
    batch.held += more
    scheduler.lanes.used[lane.pool] = scheduler.lanes.used.get(lane.pool, 0) + more


def _matching(
    scheduler: Scheduler, run: OpenExecution, subjects: np.ndarray | None, statuses: np.ndarray
) -> np.ndarray:
    """Return the positions of an execution's entries whose status is marked in ``statuses`` (bool by status).

    With ``subjects`` return only entries of these instances.
    """
    arena = scheduler.arena
    found = []
    for graph in run.graphs:
        slot = arena.slots[graph]
        chosen = statuses[arena.status[slot.base : slot.end]]
        if subjects is not None:
            of_instance = arena.kind[slot.base : slot.end] == SubjectKind.INSTANCE
            chosen &= of_instance & np.isin(arena.subject[slot.base : slot.end], subjects)
        found.append(np.flatnonzero(chosen) + slot.base)
    return np.concatenate(found) if found else np.empty(0, np.int64)


def cancel_unbegun(
    scheduler: Scheduler, run: OpenExecution, subjects: np.ndarray | None, *, spares_awaiting: bool = True
) -> None:
    """Cancel entries that are blocked, waiting or sleeping, of some instances (``subjects``) or all.

    An entry that sleeps until another execution ends counts as running: with ``spares_awaiting`` it is left asleep.
    """
    positions = _matching(scheduler, run, subjects, UNBEGUN)
    if scheduler.awaiting and spares_awaiting:
        positions = positions[~_awaits(scheduler, run, positions)]
    scheduler.arena.change(positions, CANCELED)
    leave_lanes(scheduler, run, positions)


def _awaits(scheduler: Scheduler, run: OpenExecution, positions: np.ndarray) -> np.ndarray:
    """Return for each position whether its entry sleeps until another execution ends (bool array)."""
    arena = scheduler.arena
    slots = [arena.slots[graph] for graph in run.graphs if graph in scheduler.awaiting]
    places = [place + slot.base for slot in slots for place in scheduler.awaiting[slot.graph_id]]
    found: np.ndarray = np.isin(positions, places) & (arena.status[positions] == SLEEPING)
    return found


def _cancel(scheduler: Scheduler, draft: TurnDraft, event: CancelRequested) -> None:
    """Cancel an execution or some of its instances: nothing new starts, and running calls are asked to stop.

    If ``how`` is ``force`` or ``kill``, calls are given up at once, unless their plugin reports when it has stopped.
    """
    run = scheduler.runs.get(event.execution)
    if run is None:
        return
    if event.subjects is None:
        run.is_canceled = True
        scheduler.set_status(draft, run, ExecutionStatus.CANCELING)
    cancel_unbegun(scheduler, run, event.subjects, spares_awaiting=event.how == "wait")
    arena, waits = scheduler.arena, event.how == "wait"
    running = _matching(scheduler, run, event.subjects, CALLED)
    for batch in sorted(set(arena.owner[running].tolist())):
        open_batch = scheduler.batches[batch]
        members = np.flatnonzero(np.isin(open_batch.positions, running) & (open_batch.kinds == KIND_PENDING))
        is_awaited = scheduler.table.answers_stop[arena.policy[open_batch.positions[members]]] | waits
        awaited, left = members[is_awaited], members[~is_awaited]
        if len(awaited):
            draft.commands.append(Stop(batch, awaited.astype(np.int32), kill=not waits))
            arena.change(open_batch.positions[awaited], CANCELING)
        if len(left):
            draft.commands.append(Stop(batch, left.astype(np.int32), kill=event.how == "kill"))
            _give_up(scheduler, draft, open_batch, left)
    if event.subjects is None:
        run.overtake()
        for graph in run.graphs[-1:]:
            scheduler.arena.touched.add(arena.slots[graph].number)


def time_out(scheduler: Scheduler, draft: TurnDraft, run: OpenExecution) -> None:
    """Time out an execution: nothing new starts. After the grace time its running calls are killed and given up."""
    if run.is_canceled and not run.is_timed_out:  # it was canceled before
        run.ends_at = None
        return
    how: Literal["wait", "kill"] = "kill" if run.is_timed_out else "wait"
    run.ends_at = None if run.is_timed_out else draft.now + GRACE_MS
    run.is_timed_out = True
    _cancel(scheduler, draft, CancelRequested(run.execution, how=how))


def _give_up(scheduler: Scheduler, draft: TurnDraft, batch: OpenBatch, members: np.ndarray) -> None:
    """Stop waiting for these members: entries that may be called again become canceled, the others unsure."""
    positions = batch.positions[members]
    repeatable = scheduler.table.repeatable[scheduler.arena.policy[positions]]
    scheduler.answer(draft, batch, members, positions, KIND_UNSURE)
    scheduler.arena.change(positions, np.where(repeatable, CANCELED, UNSURE))


def _retry(scheduler: Scheduler, draft: TurnDraft, event: RetryRequested) -> None:
    """Continue failed and canceled entries, and entries skipped because of them; or ask the planner (``replan``).

    Unless the request keeps all graphs, drop each graph in which nothing can change any more, except the retried one.
    """
    run, arena = scheduler.runs.get(event.execution), scheduler.arena
    if run is None or (event.graph is not None and event.graph not in run.graphs and not event.replan):
        return
    run.retried = (event.graph or 0, event.positions)
    graph = event.graph if event.graph is not None else (run.graphs[-1] if run.graphs else None)
    run.forgive()
    run.overtake()
    if not event.keeps:
        kept = [held for held in run.graphs if (held == graph and not event.replan) or arena.moves(arena.slots[held])]
        for held in run.graphs:
            if held not in kept:
                arena.drop(arena.slots[held])
        run.graphs = kept
    if not event.keeps or run.status.is_ended or run.is_canceled:
        run.is_canceled = False
        run.status = ExecutionStatus.QUEUED
        _reopen(scheduler, draft, run)
    if graph is None or event.replan:
        scheduler.ask(draft, run, graph or 0)
        return
    slot = arena.slots[graph]
    positions = (
        np.arange(slot.base, slot.end) if event.positions is None else event.positions.astype(np.int64) + slot.base
    )
    wanted = RETRIED_UNSURE if event.include_unsure or event.positions is not None else RETRIED
    _again(scheduler, draft, slot, positions, wanted)


def _again(scheduler: Scheduler, draft: TurnDraft, slot: GraphSlot, positions: np.ndarray, wanted: np.ndarray) -> None:
    """Continue the entries at these positions whose status is in ``wanted`` (bool by status), and their skipped dependents.

    Block milestones that passed because such an entry had ended, if dependents of the milestone have not begun or are
    retried.
    """
    arena = scheduler.arena
    chosen = wanted[arena.status[positions]]
    chosen &= ((arena.marks[positions] & TOLERANT) == 0) | (arena.status[positions] != FAILED)
    positions = positions[chosen]
    arena.generations[positions] += 1
    arena.attempts[positions] = 0
    arena.due[positions] = 0
    draft.noted.append(positions)
    taken = arena.take_back(arena.ends_to_await(positions))
    leave_lanes(scheduler, scheduler.runs[slot.execution], taken)
    arena.change(np.concatenate([positions, taken]) if len(taken) else positions, BLOCKED)
    arena.touched.add(slot.number)


def _reopen(scheduler: Scheduler, draft: TurnDraft, run: OpenExecution) -> None:
    """Begin the next attempt of an execution and of its graphs."""
    run.attempt += 1
    run.begin_time(draft.now)
    for held in run.graphs:
        scheduler.arena.slots[held].attempt = run.attempt
        draft.reopened.append(GraphReopened(held, run.attempt))
    scheduler.set_status(draft, run, ExecutionStatus.RUNNING)


def _complete(scheduler: Scheduler, draft: TurnDraft, event: CompleteRequested) -> None:
    """Mark entries as completed on the request of a user; if the execution had ended, it continues."""
    run, arena = scheduler.runs.get(event.execution), scheduler.arena
    if run is None or event.graph not in run.graphs:
        return
    slot = arena.slots[event.graph]
    positions = unique(event.positions.astype(np.int64)) + slot.base
    is_behind = BEHIND[arena.status[positions]] & ((arena.marks[positions] & ABSENT) == 0)
    positions = positions[is_behind | COMPLETED_BY_HAND[arena.status[positions]]]
    if run.status.is_ended:
        _reopen(scheduler, draft, run)
    run.overtake()
    complete(scheduler, draft, positions)
    leave_lanes(scheduler, run, positions)
    arena.touched.add(slot.number)


def _rerun(scheduler: Scheduler, draft: TurnDraft, event: RerunRequested) -> None:
    """Call completed entries again, because a user has requested it."""
    run, arena = scheduler.runs.get(event.execution), scheduler.arena
    if run is None or run.is_canceled or event.graph not in run.graphs:
        return
    slot = arena.slots[event.graph]
    if run.status.is_ended:
        _reopen(scheduler, draft, run)
        arena.touched.add(slot.number)
    rerun(scheduler, draft, slot, unique(event.positions.astype(np.int64)) + slot.base)


def _left(scheduler: Scheduler, _draft: TurnDraft, event: Left) -> None:
    """Drop a graph that the shell reports as finished.

    If the graph has changed meanwhile, keep it until its execution ends.
    """
    run, arena = scheduler.runs.get(event.execution), scheduler.arena
    if run is None or event.graph not in run.graphs or any(graph == event.graph for graph, _ in run.failures):
        return
    slot = arena.slots[event.graph]
    if arena.is_done(slot):
        run.graphs.remove(event.graph)
        run.asked.discard(event.graph)
        arena.drop(slot)


def _wake(scheduler: Scheduler, draft: TurnDraft, event: WakeRequested) -> None:
    """Wake sleeping entries. A running entry that is named is called again at once if its call ends with "again"."""
    run, arena = scheduler.runs.get(event.execution), scheduler.arena
    if run is None or event.graph not in run.graphs:
        return
    slot = arena.slots[event.graph]
    positions = (
        np.arange(slot.base, slot.end) if event.positions is None else event.positions.astype(np.int64) + slot.base
    )
    if event.positions is not None and not event.only_failing:
        arena.due[positions[arena.status[positions] == RUNNING]] = WOKEN
    positions = positions[arena.status[positions] == SLEEPING]
    if event.only_failing:
        positions = positions[arena.attempts[positions] > 0]
    if run.is_canceled:  # the cancel has left it asleep, because it awaits an execution; now that has ended
        arena.change(positions, CANCELED)
        arena.touched.add(slot.number)
        return
    arena.due[positions] = 0
    draft.noted.append(positions)
    scheduler.wake(draft, positions)


REQUESTS: dict[type[Event], Callable[[Scheduler, TurnDraft, Any], None]] = {
    Submitted: _submitted,
    Planned: _planned,
    Restored: _restored,
    Reattached: _reattached,
    CancelRequested: _cancel,
    RetryRequested: _retry,
    CompleteRequested: _complete,
    RerunRequested: _rerun,
    Left: _left,
    WakeRequested: _wake,
}
"""{type of request: handler}."""
