"""Reopen entries that were done: phases that turn out to apply, and completed entries that are to run again.

The event ``Evaluated(..., "applies", values)`` brings the present values of conditions, whether the scheduler has asked
for them or not (ADR 0011). Example: phase A sets an attribute. The shell evaluates the constraint of phase B again,
whose entry had passed, and finds it true. Then ``judge`` blocks B's entry and the exit milestone after it, in the same
turn in which A completed; so the planner never learns of the exit. After that the needs of B's entry decide its status,
and its condition is evaluated before its call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.engine.status_transitions import (
    ASKED,
    BLOCKED,
    COMPLETED,
    CONDITIONAL,
    EXIT,
    FAILED,
    PASSED,
    TOLERANT,
    WAITING,
)

if TYPE_CHECKING:
    from phaseline.engine.arena_layout import GraphSlot
    from phaseline.engine.open_executions import OpenExecution
    from phaseline.engine.scheduler import Scheduler
    from phaseline.engine.turn_draft import TurnDraft

DOES_NOT_APPLY, APPLIES, CANNOT_BE_ASKED = 0, 1, 2
"""Values that the shell gives in ``Evaluated`` for the question "applies"."""


def judge(scheduler: Scheduler, draft: TurnDraft, slot: GraphSlot, positions: np.ndarray, values: np.ndarray) -> None:
    """Apply the values of conditions to entries of a graph that have not been called; called entries stay unchanged (PD28)."""
    arena = scheduler.arena
    known = (arena.marks[positions] & CONDITIONAL) != 0
    positions, values = positions[known], values[known]
    status = arena.status[positions]
    waits = status == WAITING
    asked = waits & ((arena.marks[positions] & ASKED) != 0)
    absent = positions[waits & (values == DOES_NOT_APPLY)]
    broken = positions[waits & (values == CANNOT_BE_ASKED)]
    arena.marks[positions[asked]] &= np.uint8(255 - ASKED)
    if len(absent) or len(broken):
        arena.change(absent, PASSED)
        arena.passed.append(absent)
        arena.change(broken, FAILED)
        draft.noted.append(broken)
        run = scheduler.runs[slot.execution]
        leave_lanes(scheduler, run, np.concatenate([absent, broken]))
        intolerable = broken[(arena.marks[broken] & TOLERANT) == 0]
        run.count_failures(arena, slot, intolerable, draft.now)
    scheduler.admit_applicable(draft, positions[asked & (values == APPLIES)])
    reopen(scheduler, slot, positions[(status == PASSED) & (values != DOES_NOT_APPLY)])


def rerun(scheduler: Scheduler, draft: TurnDraft, slot: GraphSlot, positions: np.ndarray) -> None:
    """Call completed entries again, with a new token as in a retry.

    Leave out entries whose subject has passed its exit, because entries after the exit may have begun (T19).
    """
    arena = scheduler.arena
    everything = np.arange(slot.base, slot.end)
    exits = everything[(arena.marks[slot.base : slot.end] & EXIT) != 0]
    gone = arena.subject[exits[arena.status[exits] == PASSED]]
    positions = positions[arena.status[positions] == COMPLETED]
    positions = positions[~np.isin(arena.subject[positions], gone)]
    arena.generations[positions] += 1
    arena.attempts[positions] = 0
    arena.due[positions] = 0
    draft.noted.append(positions)
    reopen(scheduler, slot, positions)


def reopen(scheduler: Scheduler, slot: GraphSlot, positions: np.ndarray) -> None:
    """Block completed or passed entries and those that could start because of them; then let needs set the status."""
    if not len(positions):
        return
    arena, run = scheduler.arena, scheduler.runs[slot.execution]
    run.overtake()
    taken = arena.take_back(positions)
    leave_lanes(scheduler, run, taken)
    arena.change(taken, BLOCKED)
    arena.touched.add(slot.number)


def leave_lanes(scheduler: Scheduler, run: OpenExecution, positions: np.ndarray) -> None:
    """Remove entries that no longer wait from their lanes, and ignore values that the shell still evaluates for them."""
    arena = scheduler.arena
    arena.marks[positions] &= np.uint8(255 - ASKED)
    for lane in scheduler.lanes.by_key.values():
        lane.purge(run.execution, lambda chunk: arena.status[chunk] == WAITING)
    scheduler.lanes.index.stir_all()
