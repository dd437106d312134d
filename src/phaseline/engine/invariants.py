"""Invariants of a scheduler, such as agreement between its collections, which hold after every turn.

``validate`` raises ``AssertionError`` with the violated invariant. It checks all entries, partly one by one, and is
therefore too slow for production: use it in tests and simulations.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.lanes.function_shelves import functions_of
from phaseline.engine.lanes.lanes import pool_of
from phaseline.engine.status_transitions import (
    ASKED,
    BLOCKED,
    CANCELING,
    LOST,
    MAY_MOVE,
    RUNNING,
    SKIPPED,
    SLEEPING,
    TOLERANT,
    UNMET,
    UNSURE,
    WAITING,
    ruled_status,
)
from phaseline.lang.arrays import every, some
from phaseline.model.graph.status import EntryStatus, ExecutionStatus

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Iterator

    from phaseline.engine.arena import Arena
    from phaseline.engine.arena_layout import GraphSlot
    from phaseline.engine.lanes.lanes import Lane
    from phaseline.engine.scheduler import Scheduler

IS_CALLED = np.array([status in {RUNNING, CANCELING} for status in EntryStatus], bool)
"""[status] -> True if an entry with this status belongs to an open batch."""


def validate(scheduler: Scheduler) -> None:
    """Raise ``AssertionError`` if two collections of the scheduler contradict each other."""
    arena = scheduler.arena
    _turn_is_over(scheduler)
    for slot in arena.slots.values():
        _needs_are_counted(arena, slot)
        _graph_is_counted(arena, slot)
    _graphs_lie_in_order(scheduler)
    held = _held(scheduler)
    _waiting_entries_are_in_one_queue(scheduler, held)
    _called_entries_are_in_one_batch(scheduler, held)
    _slots_are_counted(scheduler)
    _functions_wait_for_their_own_calls(scheduler)
    _sleepers_will_wake(scheduler, held)
    _executions_go_on(scheduler)


def _held(scheduler: Scheduler) -> np.ndarray:
    """Return the positions of all entries that do not belong to a dropped graph."""
    slots = sorted(scheduler.arena.slots.values(), key=lambda slot: slot.base)
    parts = [np.arange(slot.base, slot.end) for slot in slots]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def _turn_is_over(scheduler: Scheduler) -> None:
    arena = scheduler.arena
    assert not arena.released, "entries were released and not handled"
    assert not arena.passed, "entries passed and were not handled"
    assert not arena.touched, "graphs changed and were not checked for settling"
    assert not some(arena.dirty), "a page changed and was not written"
    assert not arena.few_dirty, "a page changed a little and was not written"
    assert not scheduler.restored, "a graph was restored and not started"


def _needs_are_counted(arena: Arena, slot: GraphSlot) -> None:
    """Check that the counters of needs are right, and that blocked and skipped entries have the status which their needs determine."""
    low, high = slot.base, slot.end
    unmet, lost = [0] * (high - low), [0] * (high - low)
    starts, lengths = arena.edges_of(np.arange(low, high))
    status = arena.status[low:high]
    tolerant = (arena.marks[low:high] & TOLERANT) // TOLERANT
    told = zip(UNMET[status, tolerant].tolist(), LOST[status, tolerant].tolist(), strict=True)
    dependents = arena.idx.data
    for start, length, (is_unmet, is_lost) in zip(starts.tolist(), lengths.tolist(), told, strict=True):
        if is_unmet or is_lost:
            for edge in range(start, start + length):
                unmet[dependents[edge] - low] += is_unmet
                lost[dependents[edge] - low] += is_lost
    name = f"graph {slot.graph_id}"
    assert unmet == arena.unmet[low:high].tolist(), f"{name}: unmet needs are miscounted"
    assert lost == arena.lost[low:high].tolist(), f"{name}: lost needs are miscounted"
    reacts = (status == BLOCKED) | (status == SKIPPED)
    ruled = ruled_status(arena.unmet[low:high], arena.lost[low:high], arena.needs[low:high], arena.marks[low:high])
    wrong = (reacts & (ruled != status)).nonzero()[0].tolist()
    assert not wrong, f"{name}: the status of entries {wrong} does not follow from their needs"


def _graph_is_counted(arena: Arena, slot: GraphSlot) -> None:
    status = arena.status[slot.base : slot.end]
    number = slot.number
    assert arena.slot_open[number] == MAY_MOVE[status].sum(), f"graph {slot.graph_id}: open entries are miscounted"
    unsure = (status == UNSURE).sum()
    assert arena.slot_unsure[number] == unsure, f"graph {slot.graph_id}: unsure entries are miscounted"


def _graphs_lie_in_order(scheduler: Scheduler) -> None:
    arena = scheduler.arena
    base = page = 0
    for number, slot in enumerate(arena.order):
        placed = (slot.number, slot.base, slot.first_page, int(arena.slot_base[number]))
        assert placed == (number, base, page, base), f"graph {slot.graph_id} is not where it should be"
        base, page = slot.end, page + slot.page_count
        policies = arena.policy[slot.base : slot.end] - slot.policy_base
        assert every((policies >= 0) & (policies < len(slot.policies))), f"graph {slot.graph_id} has others' policies"
    assert (base, page) == (len(arena), len(arena.dirty)), "the arena is longer than its graphs"
    assert len(scheduler.table.lane) == len(arena.policies), "policies are missing from the table"
    held = sum(slot.end - slot.base for slot in arena.slots.values())
    assert arena.hole_count() == len(arena) - held, "holes are miscounted"


def _waiting_entries_are_in_one_queue(scheduler: Scheduler, held: np.ndarray) -> None:
    """Check that each waiting entry is being evaluated, or is in the lane of its policy once, under its execution."""
    arena, table = scheduler.arena, scheduler.table
    queued: list[int] = []
    for lane in scheduler.lanes.by_key.values():
        chunks_of = list(_queued(lane))
        assert lane.waiting == sum(len(c) for _, chunks in chunks_of for c in chunks), "a lane is miscounted"
        for execution, chunks in chunks_of:
            assert chunks, f"execution {execution} has an empty queue in a lane"
            for positions in chunks:
                assert len(positions), f"execution {execution} has an empty chunk in a lane"
                queued.extend(positions.tolist())
                owners = arena.slot_execution[np.atleast_1d(arena.number_of(positions))]
                assert every(owners == execution), "an entry waits in the queue of another execution"
                specs = {table.specs[number] for number in table.lane[arena.policy[positions]].tolist()}
                assert specs == {lane.spec}, "an entry waits in a lane that is not its policy's"
    assert len(queued) == len(set(queued)), "an entry waits in two places"
    waiting = set(held[arena.status[held] == WAITING].tolist())
    asked = set(held[(arena.marks[held] & ASKED) != 0].tolist())
    assert asked <= waiting, "the shell evaluates an entry that does not wait"
    assert not asked & set(queued), "an entry waits in a lane and for an answer"
    assert asked | set(queued) == waiting, "a waiting entry is in no queue, or one in a queue does not wait"


def _queued(lane: Lane) -> Iterator[tuple[int, deque[np.ndarray]]]:
    """Yield (execution, arrays of its entries) for all queues of a lane."""
    yield from lane.fresh.queues.items()
    for shelf in lane.shelves.queues.values() if lane.shelves is not None else ():
        assert shelf.count, "an empty shelf was kept"
        yield from shelf.queues.items()


def _functions_wait_for_their_own_calls(scheduler: Scheduler) -> None:
    """Check that in bulk lanes of operations no function has too many open calls.

    Also check that no function waits for calls of another function (ADR 0033).
    """
    arena, lanes = scheduler.arena, scheduler.lanes
    for lane in lanes.by_key.values():
        if not lane.is_mixed:
            assert lane.shelves is None, "a lane has shelves for functions but calls of only one"
            continue
        called: Counter[int] = Counter()
        for batch in scheduler.batches.values():
            if batch.lane is lane:
                positions = batch.positions[batch.pending_members()]
                called.update(set(functions_of(arena, lane.spec.phase, positions).tolist()))
        calls = lane.spec.concurrency or 1
        assert max(called.values(), default=0) <= calls, "a function has more calls in a lane than it may"
        shelved = lane.shelves.queues if lane.shelves is not None else {}
        for function, shelf in shelved.items():
            found = {
                one
                for chunks in shelf.queues.values()
                for c in chunks
                for one in functions_of(arena, lane.spec.phase, c).tolist()
            }
            assert found == {function}, "an entry is on the shelf of another function"
        if lane.shelves is not None and not lane.untold:
            assert lane.shelves.open == dict(called), "calls of functions are miscounted"
        is_open = (
            not (lane.is_paused or lane.is_probe or lane.spec.interval_ms or lane.spec.rate)
            and lanes.free(lane.pool) > 0
        )
        if is_open:
            waits = {
                one
                for _, chunks in _queued(lane)
                for c in chunks
                for one in functions_of(arena, lane.spec.phase, c).tolist()
            }
            assert all(called[function] >= calls for function in waits), "a function waits for calls of another one"


def _called_entries_are_in_one_batch(scheduler: Scheduler, held: np.ndarray) -> None:
    """Check that each running or canceling entry is a pending member of its open batch, and that no other entry has a batch."""
    arena = scheduler.arena
    owner: dict[int, int] = {}
    for number, batch in scheduler.batches.items():
        pending = batch.pending_members()
        assert batch.id == number, "a batch has the number of another one"
        assert batch.pending == len(pending), f"batch {number}: pending members are miscounted"
        assert batch.pending or batch.lane is None, f"batch {number} has nothing left and is open"
        for position in batch.positions[pending].tolist():
            assert position not in owner, f"entry {position} is pending in two batches"
            owner[position] = number
    is_called = IS_CALLED[arena.status[held]]
    called = held[is_called]
    assert set(called.tolist()) == set(owner), "running entries and pending members are not the same"
    assert {entry: int(arena.owner[entry]) for entry in owner} == owner, "an entry names a batch that it is not in"
    assert every(arena.owner[held[~is_called]] == 0), "an entry that is not called has an owner"


def _slots_are_counted(scheduler: Scheduler) -> None:
    used: dict[str, int] = {}
    running: dict[int, int] = {}
    known = {id(lane) for lane in scheduler.lanes.by_key.values()}
    for batch in scheduler.batches.values():
        if batch.lane is None:
            assert not batch.held, f"batch {batch.id} has no lane and holds slots"
            continue
        assert id(batch.lane) in known, f"batch {batch.id} runs in a lane that was forgotten"
        assert 0 < batch.held <= batch.pending, f"batch {batch.id} holds more slots than it has members"
        used[pool_of(batch.lane.spec)] = used.get(pool_of(batch.lane.spec), 0) + batch.held
        running[id(batch.lane)] = running.get(id(batch.lane), 0) + 1
    assert {pool: count for pool, count in scheduler.lanes.used.items() if count} == used, "slots are miscounted"
    for lane in scheduler.lanes.by_key.values():
        assert lane.running == running.get(id(lane), 0), "calls of a lane are miscounted"
        assert lane.is_paused == (lane.spec.phase in scheduler.lanes.paused), (
            "a lane does not know whether it is paused"
        )


def _sleepers_will_wake(scheduler: Scheduler, held: np.ndarray) -> None:
    arena = scheduler.arena
    asleep = held[arena.status[held] == SLEEPING]
    first = int(arena.due[asleep].min()) if len(asleep) else None
    assert scheduler.sleepers.next(arena) == first, "the alarm is not set for the first sleeper"
    known = scheduler.sleepers.known()
    for entry in asleep.tolist():
        assert known.get(entry, arena.due[entry] + 1) <= arena.due[entry], f"entry {entry} sleeps and has no timer"


def _executions_go_on(scheduler: Scheduler) -> None:
    """Check that each graph has its execution, and that each execution moves, waits for its planner's answer, or for a user."""
    arena = scheduler.arena
    graphs = [graph for run in scheduler.runs.values() for graph in run.graphs]
    assert sorted(graphs) == sorted(arena.slots), "graphs and executions do not belong together"
    for run in scheduler.runs.values():
        is_attention = run.status is ExecutionStatus.ATTENTION
        assert not run.status.is_ended, f"execution {run.execution} has ended and is held"
        assert run.is_asking or not run.is_overtaken, f"execution {run.execution}: no question, but overtaken"
        alive = (scheduler.moves(run), run.is_asking, is_attention)
        assert any(alive), f"execution {run.execution} is stuck"
        assert not (is_attention and alive[0]), f"execution {run.execution} asks for attention while entries move"
        is_pondered = is_attention or any(run.asked)
        assert not is_pondered or run.execution in scheduler.pondered, f"execution {run.execution} is not looked at"
        for graph in run.graphs:
            slot = arena.slots[graph]
            assert (slot.execution, slot.deployment) == (run.execution, run.deployment), f"graph {graph} is another's"
            assert arena.slot_execution[slot.number] == run.execution, f"graph {graph} is another's"
    runs = scheduler.runs.values()
    unended = {run.execution for run in runs if run.is_limited}
    unended |= {run.execution for run in runs if any(arena.slots[graph].bounds for graph in run.graphs)}
    assert unended <= set(scheduler.limited) <= set(scheduler.runs), "executions with a limit are not known as such"
