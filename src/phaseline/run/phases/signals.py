"""Signals to sleeping operations and phases: each is stored for the next call, and that call is made at once.

An operation finds a signal in the data of its entry, a phase in the data that it keeps with its resource. As a
sleeping entry has no running call, no answer can overwrite the signal. Entries that do not sleep any more get no
signal. A signal is stored in the turn that wakes the entry.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.protocol.call import truncate
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.breakpoints import PREFIX as BREAKPOINT
from phaseline.model.execution.breakpoints import clearing
from phaseline.model.graph.graph import called_side, phase_of
from phaseline.model.graph.status import EntryStatus
from phaseline.model.phases.phase_data import PHASE_DATA, data_in
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.rows import EntryRemark, EventRow

if TYPE_CHECKING:
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import ProblemsError
    from phaseline.model.rows.rows import DocumentChange, ExecutionRow, RequestRow
    from phaseline.ports.store import Store

    Chosen = Sequence[tuple[int, np.ndarray]]

SIGNALS = "signals"
"""The key under which a call finds its list of signals, oldest first. Phases may write the key in any case."""
SIGNALED = "signaled"
"""The type of the event that records a signal."""
NOTHING_SAID: tuple[str, Mapping[str, str]] = ("", {})
"""The message and error of an entry without a message."""
TOLD_CHARS = 500
"""The most characters of a signal that its event contains."""
MOST_SIGNALS = 1_000
"""The most unread signals of one operation or phase, which has to remove those that it has read."""
Given = tuple["EntryRemark | DocumentChange", EventRow]
"""A signal to one entry: the changed data of the entry or its resource, and the event that records it."""


@frozen
class Sleeper:
    """A sleeping entry. ``name`` names its phase or operation; ``phase`` is the phase, or None for an operation."""

    graph: int
    position: int
    subject: int
    name: str
    phase: str | None


def given(
    store: Store,
    scheduler: Scheduler,
    deployments: DeploymentCache,
    row: ExecutionRow,
    chosen: Chosen,
    request: RequestRow,
) -> tuple[Chosen, list[Given]]:
    """Give the request's ``data`` as a signal to the sleeping entries of ``chosen``.

    Return (those entries, the changes to store).

    Raises: PL-C093 if no entry sleeps, if one keeps other data under the key for signals, or if it has too many;
    PL-R011, PL-R012 for values that a phase cannot read. Then no entry gets the signal.
    """
    loaded, value = deployments.loaded(row.deployment), request.body.get("data")
    asleep = [
        (graph, positions[statuses_of(store, scheduler, graph)[positions] == EntryStatus.SLEEPING])
        for graph, positions in chosen
    ]
    sleepers = [one for graph, positions in asleep for one in _sleepers(store, deployments, row, graph, positions)]
    if not sleepers:
        raise _nobody(store, deployments, row, asleep)
    if any(one.phase is not None for one in sleepers):
        from phaseline.records.formats.json_codec import from_json  # only where phases are

        from_json({SIGNALS: [value]})
    kept = [
        data_in(loaded.document_of(one.subject), one.phase)
        if one.phase is not None
        else deployments.data(one.graph).get(one.position)
        for one in sleepers
    ]
    added = [_with_signal(row, one, data, value) for one, data in zip(sleepers, kept, strict=True)]
    text = f"Signal: {truncate(json.dumps(value, ensure_ascii=False), TOLD_CHARS)}"
    said = _messages(store, sleepers)
    found: list[Given] = []
    for one, data, (name, signals) in zip(sleepers, kept, added, strict=True):
        event = EventRow(row.number, request.at, SIGNALED, text, one.subject, one.name, request.actor.name)
        if one.phase is not None:
            found.append((loaded.apply(one.subject, {(PHASE_DATA, one.phase, name): signals}, ()), event))
            continue
        whole = {**(data if isinstance(data, dict) else {}), name: signals}
        deployments.data(one.graph)[one.position] = whole
        words = said.get((one.graph, one.position), NOTHING_SAID)
        found.append((EntryRemark(one.graph, one.position, *words, result=whole), event))
    return _places(sleepers), found


def statuses_of(store: Store, scheduler: Scheduler, graph: int) -> np.ndarray:
    """Return the statuses of a graph's entries; the stored ones if the graph is not loaded."""
    slot = scheduler.arena.slots.get(graph)
    if slot is None:
        return store.statuses(graph)
    held: np.ndarray = scheduler.arena.status[slot.base : slot.end]
    return held


def _sleepers(
    store: Store, deployments: DeploymentCache, row: ExecutionRow, graph: int, positions: np.ndarray
) -> Iterator[Sleeper]:
    """Yield the entries that may get a signal: not those stopped at a breakpoint, which wait for an operator."""
    made, topology = store.graph(graph), deployments.loaded(row.deployment).topology
    for step in made.steps if len(positions) else ():
        if step.phase.startswith(BREAKPOINT):
            continue
        phase = phase_of(step.phase)
        for position in positions[(positions >= step.first) & (positions < step.first + step.count)].tolist():
            subject = called_side(topology, step.kind, int(made.subject[position]))
            yield Sleeper(graph, position, subject, phase or step.phase, phase)


def _places(sleepers: Sequence[Sleeper]) -> Chosen:
    found: dict[int, list[int]] = {}
    for one in sleepers:
        found.setdefault(one.graph, []).append(one.position)
    return [(graph, np.unique(np.array(positions, np.int32))) for graph, positions in found.items()]


def _messages(store: Store, sleepers: Sequence[Sleeper]) -> Mapping[tuple[int, int], tuple[str, Mapping[str, str]]]:
    """Return {(graph, position): message and error} of sleeping operations, because they share a row with the data."""
    graphs = dict.fromkeys(one.graph for one in sleepers if one.phase is None)
    return {(graph, note.position): (note.message, note.error) for graph in graphs for note in store.notes(graph)}


def _with_signal(
    row: ExecutionRow, sleeper: Sleeper, data: Value | Mapping[str, Value], signal: Value
) -> tuple[str, list[Value]]:
    """Return (key of the signals in the data, all signals including the new one). Keys of records ignore case."""
    kept = data if isinstance(data, Mapping) else {}
    alike = (name for name in kept if name.lower() == SIGNALS) if sleeper.phase is not None else ()
    name = next(iter(alike), SIGNALS)
    earlier = kept.get(name, [])
    if not isinstance(earlier, list):
        raise _untaken(row, f"its data have another value under the name '{name}'")
    if len(earlier) >= MOST_SIGNALS:
        raise _untaken(row, f"{MOST_SIGNALS:,} signals are unread there")
    return name, [*earlier, signal]


def _nobody(store: Store, deployments: DeploymentCache, row: ExecutionRow, asleep: Chosen) -> ProblemsError:
    """Return PL-C093: no entry takes the signal. If one is stopped at a breakpoint, name the command that clears it."""
    for graph, positions in asleep:
        if len(positions):
            made, position = store.graph(graph), int(positions[0])
            step = next(one for one in made.steps if one.first <= position < one.first + one.count)
            topology = deployments.loaded(row.deployment).topology
            who = topology.ids[called_side(topology, step.kind, int(made.subject[position]))]
            point = step.phase.removeprefix(BREAKPOINT)
            mend = f"clear it first: {clearing(point, row.deployment_name, who)}"
            return problem_error(
                "PL-C093", f"the signal was not given: '{who}' is stopped at {point}", mend, subject=row.id
            )
    return _untaken(row, "none of the selected operations sleeps any more")


def _untaken(row: ExecutionRow, why: str) -> ProblemsError:
    mend = f"look at the status of each operation: phaseline executions show {row.id}"
    return problem_error("PL-C093", f"the signal was not given: {why}", mend, subject=row.id)
