"""Handlers of facts, which are events that cannot be refused: results of calls, lost batches, times, and free slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.engine.reopen import judge
from phaseline.engine.status_transitions import (
    ASKED,
    CANCELED,
    CANCELING,
    COMPLETED,
    FAILED,
    KIND_AGAIN,
    KIND_COMPLETED,
    KIND_LOST,
    KIND_PENDING,
    KIND_RETRY,
    KIND_UNSURE,
    SLEEPING,
    TOLERANT,
    UNSURE,
    WAITING,
    WOKEN,
)
from phaseline.lang.arrays import as_slice, every, present, some, unique
from phaseline.model.execution.events import (
    Accepted,
    Evaluated,
    Finished,
    LaneChanged,
    Lost,
    Noted,
    RateAdapted,
    SlotsChanged,
    Tick,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.engine.open_batches import OpenBatch
    from phaseline.engine.scheduler import Scheduler
    from phaseline.engine.turn_draft import TurnDraft
    from phaseline.model.execution.events import Event

NOBODY = np.empty(0, np.int32)
"""An empty array of member numbers."""
MAX_DELAY_MS = 366 * 24 * 3600 * 1000
"""Longest sleep of an entry, in ms; longer sleeps are shortened."""


def expected(batch: OpenBatch | None, members: np.ndarray) -> np.ndarray:
    """Return for each of ``members`` whether it belongs to the batch and has no outcome yet (bool array).

    If a member occurs twice, only the first occurrence is True.
    """
    if batch is None:
        return np.zeros(len(members), bool)
    if len(members) == 1:
        return np.array([_expects(batch, members.item())])
    known = (members >= 0) & (members < len(batch.positions))
    if len(members) > 1 and not every(members[1:] > members[:-1]):
        first = np.zeros(len(members), bool)
        first[np.unique(members, return_index=True)[1]] = True
        known &= first
    if every(known):
        known &= (batch.kinds[members] == KIND_PENDING) & (batch.positions[members] >= 0)
        return known
    known[known] = expected(batch, members[known])
    return known


def _expects(batch: OpenBatch, member: int) -> bool:
    """Return True if this member belongs to the batch and has no outcome yet."""
    is_member = 0 <= member < len(batch.positions)
    return is_member and batch.kinds.item(member) == KIND_PENDING and batch.positions.item(member) >= 0


def _noted(scheduler: Scheduler, draft: TurnDraft, index: int, event: Noted) -> None:
    known = expected(scheduler.batches.get(event.batch), event.members)
    draft.accepted.append(Accepted(index, event.batch, event.members[known], event.members[~known]))


def _finished(scheduler: Scheduler, draft: TurnDraft, index: int, event: Finished) -> None:
    """Apply the outcome of each member to its entry.

    Late or repeated outcomes, or those of unknown members, change nothing.
    """
    batch = scheduler.batches.get(event.batch)
    members, kinds, delays = event.members, event.kinds, event.delays
    if batch is not None and len(members) == 1 and _expects(batch, members.item()):
        draft.accepted.append(Accepted(index, event.batch, members, NOBODY))
        _finish_one(scheduler, draft, batch, members.item(), kinds.item(), delays.item())
        return
    known = expected(batch, members)
    rejected = members[~known]
    if len(rejected):
        members, kinds, delays = members[known], kinds[known], delays[known]
    draft.accepted.append(Accepted(index, event.batch, members, rejected))
    if batch is None or not len(members):
        return
    positions = batch.positions[members]
    scheduler.answer(draft, batch, members, positions, kinds)
    _judge_outcomes(scheduler, draft, positions, kinds, delays)


def _finish_one(scheduler: Scheduler, draft: TurnDraft, batch: OpenBatch, member: int, kind: int, delay: int) -> None:
    """Apply the outcome ``kind`` to one member that has no outcome yet."""
    cells, position = scheduler.arena.cells, batch.positions.item(member)
    positions = batch.positions if len(batch.positions) == 1 else batch.positions[member : member + 1]
    cells.owner[position] = 0
    batch.answer_one(member, kind)
    draft.answered[batch.id] = batch
    scheduler.give_back(batch)
    is_canceling = cells.status[position] == CANCELING
    if is_canceling and scheduler.table.cancel_wins.item(cells.policy[position]):
        scheduler.arena.change(positions, CANCELED)
    elif kind == KIND_COMPLETED:
        complete(scheduler, draft, positions)
    else:
        _one_not_completed(scheduler, draft, positions, kind, delay)


def _judge_outcomes(
    scheduler: Scheduler, draft: TurnDraft, positions: np.ndarray, kinds: np.ndarray, delays: np.ndarray
) -> None:
    """Apply outcomes: first to entries whose cancel overrules them, then to completed entries, then to the others."""
    overruled = _overruled(scheduler, positions)
    if overruled is not None:
        scheduler.arena.change(positions[overruled], CANCELED)
        positions, kinds, delays = positions[~overruled], kinds[~overruled], delays[~overruled]
    completed = kinds == KIND_COMPLETED
    others = ~completed
    if some(others):
        if some(completed):
            complete(scheduler, draft, positions[completed])
        _not_completed(scheduler, draft, positions[others], kinds[others], delays[others])
    elif len(positions):
        complete(scheduler, draft, positions)


def _overruled(scheduler: Scheduler, positions: np.ndarray) -> np.ndarray | None:
    """Return the entries (bool array) that become canceled whatever outcome their call has returned (T12).

    They are canceling, and their policy has ``cancel_wins``. Return None if there are none, which is the usual case.
    """
    arena = scheduler.arena
    canceling = arena.status[as_slice(positions)] == CANCELING
    if not some(canceling):
        return None
    canceling &= scheduler.table.cancel_wins[arena.policy[positions]]
    return canceling if some(canceling) else None


def complete(scheduler: Scheduler, draft: TurnDraft, positions: np.ndarray) -> None:
    """Mark entries as completed: their instances enter the states ``leave`` of the policy, and dependents may start."""
    draft.enter(scheduler.arena, scheduler.table, positions, scheduler.table.leave)
    scheduler.arena.change(positions, COMPLETED)
    scheduler.announce(draft, positions)


def _not_completed(
    scheduler: Scheduler, draft: TurnDraft, positions: np.ndarray, kinds: np.ndarray, delays: np.ndarray
) -> None:
    """Apply the outcomes "again", retry, failed and unsure to entries that are running or canceling."""
    if len(positions) == 1:
        _one_not_completed(scheduler, draft, positions, kinds.item(), delays.item())
        return
    arena, table = scheduler.arena, scheduler.table
    canceling = arena.status[positions] == CANCELING
    policy = arena.policy[positions]
    again, retry = kinds == KIND_AGAIN, kinds == KIND_RETRY
    limit = table.max_retries[policy]
    may_retry = retry & ((limit < 0) | (arena.attempts[positions] < limit))
    canceled = canceling & (again | retry)
    sleeps = (again | may_retry) & ~canceling
    unsure = kinds == KIND_UNSURE
    failed = ~(canceled | sleeps | unsure)

    arena.attempts[positions[may_retry & ~canceling]] += 1
    delays = np.where(
        delays < 0, table.waits(policy, arena.attempts[positions] * retry), np.minimum(delays, MAX_DELAY_MS)
    )
    due = draft.now + delays
    due[again & (arena.due[positions] == WOKEN)] = draft.now
    arena.due[positions[sleeps]] = due[sleeps]
    draft.noted.append(positions)
    status = np.full(len(positions), SLEEPING, np.uint8)
    status[canceled] = CANCELED
    status[unsure] = UNSURE
    status[failed] = FAILED
    scheduler.sleepers.add(positions[sleeps], arena.due[positions[sleeps]])
    tolerated = positions[failed & ((arena.marks[positions] & TOLERANT) != 0)]
    draft.enter(arena, table, tolerated, table.leave)
    arena.change(positions, status)
    _count_failures(scheduler, draft, positions[failed & ((arena.marks[positions] & TOLERANT) == 0)])


def _count_failures(scheduler: Scheduler, draft: TurnDraft, positions: np.ndarray) -> None:
    """Add failures that are not tolerated to the counts of their executions."""
    for slot, mine in scheduler.arena.by_slot(positions):
        scheduler.runs[slot.execution].count_failures(scheduler.arena, slot, mine, draft.now)


def _one_not_completed(scheduler: Scheduler, draft: TurnDraft, positions: np.ndarray, kind: int, delay: int) -> None:
    """Apply an outcome other than completed to one entry."""
    arena, table, position = scheduler.arena, scheduler.table, positions.item()
    is_canceling = arena.cells.status[position] == CANCELING
    policy = arena.cells.policy[position]
    limit = table.max_retries.item(policy)
    may_retry = kind == KIND_RETRY and (limit < 0 or arena.attempts.item(position) < limit)
    draft.noted.append(positions)
    if is_canceling and kind in {KIND_AGAIN, KIND_RETRY}:
        arena.change(positions, CANCELED)
    elif kind == KIND_AGAIN or may_retry:
        arena.attempts[position] += may_retry
        if delay < 0:
            delay = table.waits(arena.policy[positions], arena.attempts[positions] * may_retry).item()
        if kind == KIND_AGAIN and arena.due.item(position) == WOKEN:
            delay = 0
        arena.due[position] = draft.now + min(delay, MAX_DELAY_MS)
        scheduler.sleepers.add(positions, arena.due[positions])
        arena.change(positions, SLEEPING)
    elif kind == KIND_UNSURE:
        arena.change(positions, UNSURE)
    elif arena.cells.marks[position] & TOLERANT:
        draft.enter(arena, table, positions, table.leave)
        arena.change(positions, FAILED)
    else:
        arena.change(positions, FAILED)
        _count_failures(scheduler, draft, positions)


def _lost(scheduler: Scheduler, draft: TurnDraft, _index: int, event: Lost) -> None:
    """Handle a batch that will report no more outcomes: repeatable entries wait for another call, others become unsure."""
    batch = scheduler.batches.get(event.batch)
    if batch is None:
        return
    members = batch.pending_members()
    positions = batch.positions[members]
    arena = scheduler.arena
    repeatable = scheduler.table.repeatable[arena.policy[positions]] & event.may_repeat
    canceling = arena.status[positions] == CANCELING
    scheduler.answer(draft, batch, members, positions, np.where(repeatable, KIND_LOST, KIND_UNSURE))
    status = np.full(len(positions), UNSURE, np.uint8)
    status[repeatable & canceling] = CANCELED
    status[repeatable & ~canceling] = WAITING
    arena.change(positions, status)
    scheduler.admit_applicable(draft, positions[repeatable & ~canceling])


def _evaluated(scheduler: Scheduler, draft: TurnDraft, _index: int, event: Evaluated) -> None:
    """Apply values that the shell has evaluated for entries; ignore values for entries that no longer wait for them."""
    arena = scheduler.arena
    slot = arena.slots.get(event.graph)
    if slot is None:
        return
    positions = event.positions.astype(np.int64) + slot.base
    if event.what == "applies":
        judge(scheduler, draft, slot, positions, event.values)
        return
    waited = (arena.status[positions] == WAITING) & ((arena.marks[positions] & ASKED) != 0)
    positions, values = positions[waited], event.values[waited]
    arena.marks[positions] &= np.uint8(255 - ASKED)
    numbers = scheduler.table.lane[arena.policy[positions]]
    for number in present(numbers):
        spec = scheduler.table.specs[number]
        mine = numbers == number
        for key in unique(values[mine]).tolist():
            scheduler.enqueue(scheduler.lanes.lane(number, spec, key), positions[mine & (values == key)])


def _slots_changed(scheduler: Scheduler, _draft: TurnDraft, _index: int, event: SlotsChanged) -> None:
    scheduler.lanes.slots[event.pool] = event.slots


def _lane_changed(scheduler: Scheduler, _draft: TurnDraft, _index: int, event: LaneChanged) -> None:
    scheduler.lanes.pause(event.phase, is_paused=event.is_paused, is_probe=event.is_probe)


def _rate_adapted(scheduler: Scheduler, _draft: TurnDraft, _index: int, event: RateAdapted) -> None:
    scheduler.lanes.rates.adapt(event.lane, event.key, is_throttled=event.is_throttled)


def _ticked(_scheduler: Scheduler, _draft: TurnDraft, _index: int, _event: Tick) -> None:
    """Do nothing: the scheduler checks in every turn what is due."""


FACTS: dict[type[Event], Callable[[Scheduler, TurnDraft, int, Any], None]] = {
    Finished: _finished,
    Tick: _ticked,
    Lost: _lost,
    Noted: _noted,
    Evaluated: _evaluated,
    SlotsChanged: _slots_changed,
    LaneChanged: _lane_changed,
    RateAdapted: _rate_adapted,
}
"""{type of fact: handler}. Arguments of a handler: scheduler, draft of the turn, index of the event, and the fact."""
