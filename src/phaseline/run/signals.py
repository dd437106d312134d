"""What somebody says to an operation that sleeps: kept with its entry, which is called at once and finds it.

An entry that sleeps has no call under way, so no answer can overwrite what is put into its data; whoever does not sleep any
more when the signal arrives is left alone. A signal is stored in the turn that wakes the entry.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.breakpoints import PREFIX as BREAKPOINT
from phaseline.model.graph import called_side
from phaseline.model.problem import fail
from phaseline.model.rows import EventRow, Remark
from phaseline.model.state_steps import phase_of
from phaseline.model.status import EntryStatus
from phaseline.run.calling import clip

if TYPE_CHECKING:
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.blueprint import Value
    from phaseline.model.problem import ProblemsError
    from phaseline.model.rows import ExecutionRow, RequestRow
    from phaseline.ports import Store
    from phaseline.run.outstanding import Given
    from phaseline.run.requests import Orders

SIGNALS = "signals"
"""The key of an entry's data under which its signals are found, a list in the order in which they came."""
SIGNALED = "signaled"
"""The type of the event that tells of one."""
NOTHING_SAID: tuple[str, Mapping[str, str]] = ("", {})
"""The message and error of an entry that sleeps without a word."""
TOLD_CHARS = 500
"""So much of a signal is told in its event."""


def given(
    store: Store, orders: Orders, row: ExecutionRow, graph: int, positions: np.ndarray, request: RequestRow
) -> tuple[np.ndarray, list[Given]]:
    """(those of these entries that sleep, what is to be stored): the ``data`` of a request is in their data from now on.

    Raises: PL-C093 if none sleeps, or one keeps something else where signals are told; then none has got it.
    """
    made, topology = store.graph(graph), orders.deployments.loaded(row.deployment).topology
    sleeping: np.ndarray = positions[_statuses(store, orders.scheduler, graph)[positions] == EntryStatus.SLEEPING]
    for step in made.steps:
        if step.phase.startswith(BREAKPOINT):  # who stands there waits for a person
            sleeping = sleeping[(sleeping < step.first) | (sleeping >= step.first + step.count)]
    if not len(sleeping):
        raise _untaken(row, "no operation that was meant sleeps any more")
    value, known = request.body.get("data"), orders.deployments.data(graph)
    added = {position: _with_signal(row, known.get(position), value) for position in sleeping.tolist()}
    said = {note.position: (note.message, note.error) for note in store.notes(graph) if note.position in added}
    known.update(added)
    text = f"Signal: {clip(json.dumps(value, ensure_ascii=False), TOLD_CHARS)}"
    found: list[Given] = []
    for step in made.steps:
        for position in sleeping[(sleeping >= step.first) & (sleeping < step.first + step.count)].tolist():
            subject = called_side(topology, step.kind, int(made.subject[position]))
            name = phase_of(step.phase) or step.phase
            event = EventRow(row.number, request.at, SIGNALED, text, subject, name, request.actor.name)
            found.append((Remark(graph, position, *said.get(position, NOTHING_SAID), result=added[position]), event))
    return sleeping, found


def _statuses(store: Store, scheduler: Scheduler, graph: int) -> np.ndarray:
    """How the entries of a graph stand, one that was not taken up yet as it is stored."""
    slot = scheduler.arena.slots.get(graph)
    if slot is None:
        return np.frombuffer(bytes(store.statuses(graph)), np.uint8)
    held: np.ndarray = scheduler.arena.status[slot.base : slot.end]
    return held


def _with_signal(row: ExecutionRow, data: Value, signal: Value) -> Value:
    """The data of an entry with one signal more."""
    kept = data if isinstance(data, dict) else {}
    earlier = kept.get(SIGNALS, [])
    if not isinstance(earlier, list):
        raise _untaken(row, f"the operation keeps something else in item.data['{SIGNALS}']")
    return {**kept, SIGNALS: [*earlier, signal]}


def _untaken(row: ExecutionRow, why: str) -> ProblemsError:
    mend = f"See what stands where: phaseline executions show {row.id}"
    return fail("PL-C093", f"the signal was not given: {why}", mend, subject=row.id)
