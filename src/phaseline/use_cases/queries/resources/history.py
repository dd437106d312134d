"""The history of a resource: the states it entered, the calls of its phases, and the decisions of users.

It is not stored but computed when it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.graph.graph import phase_of
from phaseline.model.graph.status import EntryStatus, OutcomeKind
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.queries.resources.phase_entries import NOT_DONE, message_of
from phaseline.use_cases.queries.resources.selection import choose_one
from phaseline.use_cases.queries.resources.state_stays import WORDS

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import EventRow
    from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot
    from phaseline.use_cases.queries.resources.state_stays import Stay

READ_AT_ONCE = 10_000
CANCELED = EntryStatus.CANCELED
OPEN = (*NOT_DONE, EntryStatus.FAILED)
"""Statuses of entries that become Canceled when the resource gets another target."""
OUTCOMES = {
    OutcomeKind.COMPLETED: "Completed",
    OutcomeKind.AGAIN: "Sleeping",
    OutcomeKind.RETRY: "Failed, to be tried again",
    OutcomeKind.FAILED: "Failed",
    OutcomeKind.LOST: "interrupted, to be called again",
}
"""{outcome of a call: words for the status of the phase after the call}."""
ENDINGS = frozenset({"task_failed", "task_rescheduled"})
"""Types of the stored events that contain the message of a call that did not succeed."""


@frozen
class ResourceEvent:
    """One event in the history of a resource.

    ``run``: number of the call of a phase, 0 if the event is not the start of a call; ``batch_size``: number of
    resources in the call.
    """

    at: int
    state: str
    phase: str
    what: str
    message: str = ""
    actor: str = ""
    run: int = 0
    batch_size: int = 0


@frozen
class ResourceHistory:
    """The last events of a resource, oldest first. ``total``: number of all events, shown or not."""

    name: str
    cluster: str
    events: Sequence[ResourceEvent]
    total: int


def history(
    ctx: RequestContext,
    name: str,
    *,
    cluster: str | None = None,
    phases: Sequence[str] = (),
    limit: int | None = None,
) -> ResourceHistory:
    """Return the events of one resource, or only its last ``limit`` events. Raises: PL-C031, PL-C032.

    ``phases``: return only events of these phases; empty: all events.
    """
    snapshot, number = choose_one(ctx.store, name, cluster)
    wanted = {phase.lower() for phase in phases}
    found = [
        event
        for event in (*_targets(snapshot, number), *_edits(snapshot, number), *_stays(snapshot, number))
        if not wanted or event.phase.lower() in wanted
    ]
    found.sort(key=lambda event: event.at)
    shown = found if limit is None else found[max(0, len(found) - limit) :]
    return ResourceHistory(snapshot.name(number), snapshot.row.name, shown, len(found))


def _targets(snapshot: ClusterSnapshot, number: int) -> Iterator[ResourceEvent]:
    """Yield an event for each time when the resource got a target."""
    for row in snapshot.executions_of(number):
        target = str(row.request.parameters.get("target", ""))
        what = f"target {target}" if target else "to be removed"
        yield ResourceEvent(row.created_at, "", "", what, f"{row.id}", row.created_by)


def _edits(snapshot: ClusterSnapshot, number: int) -> Iterator[ResourceEvent]:
    """Yield an event for each stored change of the resource's attributes by a user."""
    for request in snapshot.store.requests_of(0):
        if request.kind is not RequestKind.EDIT or request.body.get("deployment") != snapshot.row.number:
            continue
        edits = request.body.get("edits")
        for edit in edits if isinstance(edits, list) else ():
            if isinstance(edit, dict) and edit.get("instance") == number:
                names = ", ".join(_named(edit.get("written")))
                yield ResourceEvent(request.at, "", "", "changed", names, request.actor.name)


def _named(written: Value) -> Iterator[str]:
    """Yield the names of the attributes that an edit has written."""
    for pair in written if isinstance(written, list) else ():
        path = pair[0] if isinstance(pair, list) and pair else []
        yield ".".join(map(str, path)) if isinstance(path, list) else str(path)


def _stays(snapshot: ClusterSnapshot, number: int) -> Iterator[ResourceEvent]:
    stays = snapshot.stays_of(number)
    for execution in dict.fromkeys(stay.execution for stay in stays):
        inside = [stay for stay in stays if stay.execution == execution]
        events = _events_of(snapshot, execution, number)
        for stay in inside:
            yield from (ResourceEvent(stay.at, state, "", f"entered {state}") for state in stay.entered if state)
            left_at = _left_at(snapshot, stay, number)
            calls = [call for phase in stay.phases for call in _calls(stay, phase, number, events, left_at)]
            yield from (event for _, event in sorted(calls, key=lambda call: (call[1].at, call[0])))
        for event in events:
            if event.type not in ENDINGS:
                phase = phase_of(event.operation) or event.operation
                yield ResourceEvent(event.at, "", phase, event.type.replace("_", " "), event.message, event.actor)


def _left_at(snapshot: ClusterSnapshot, stay: Stay, number: int) -> int:
    """Return the time (ms) at which the resource left the stay early, or 0 if it did not.

    A resource leaves early if it gets another target or its execution is canceled.
    """
    later = [row.created_at for row in snapshot.executions_of(number) if row.number > stay.execution]
    if later:
        return min(later)
    row = snapshot.by_number[stay.execution]
    return row.ended_at or stay.at if stay.is_canceled(number) else 0


def _events_of(snapshot: ClusterSnapshot, execution: int, number: int) -> list[EventRow]:
    found: list[EventRow] = []
    after = 0
    while rows := snapshot.store.events(execution, after=after, limit=READ_AT_ONCE):
        after = rows[-1].sequence
        found += [row for row in rows if row.instance == number]
        if len(rows) < READ_AT_ONCE:
            break
    return found


def _calls(
    stay: Stay, phase: str, number: int, events: Sequence[EventRow], left_at: int
) -> Iterator[tuple[int, ResourceEvent]]:
    """Yield (number of the call, event) for the start and the outcome of each call of one phase.

    The caller sorts by time, and events with equal time by the number of the call. If the resource left the stay early,
    at ``left_at``, the phase becomes Canceled: immediately, or when the running call has ended, whatever its outcome
    (T11 to T13).
    """
    position = stay.phases[phase].first + stay.place(number)
    failures = [event for event in events if event.type in ENDINGS and (phase_of(event.operation) or "") == phase]
    calls = [
        (batch, int(kinds[place]))
        for batch, positions, kinds in stay.called(phase)
        for place in np.flatnonzero(positions == position).tolist()
    ]
    status = EntryStatus(int(stay.status[position]))
    is_canceled = status is CANCELED or (left_at > 0 and status in OPEN)
    is_told = False
    if not calls and status is EntryStatus.FAILED:
        yield 0, ResourceEvent(stay.at, stay.state, phase, "Failed", message_of(stay.notes.get(position)))
    for at, (batch, kind) in enumerate(calls):
        size = len(batch.places.positions)
        began = ResourceEvent(batch.started_at, stay.state, phase, "Running", run=batch.id, batch_size=size)
        yield batch.id, began
        if kind == OutcomeKind.PENDING:
            continue
        message = ""
        if kind in {OutcomeKind.FAILED, OutcomeKind.RETRY} and failures:
            message = failures.pop(0).message
        elif at == len(calls) - 1:
            message = message_of(stay.notes.get(position))
        word = OUTCOMES.get(OutcomeKind(kind), "ended")
        ended = altered(began, at=batch.closed_at or batch.started_at, what=word, run=0, batch_size=0)
        if is_canceled and at == len(calls) - 1 and batch.started_at <= left_at <= ended.at:
            is_told = True
            yield batch.id, altered(ended, at=left_at, what="Canceling")
            yield batch.id, altered(ended, what="Canceled", message=f"the run ended as {word}, which does not count")
        else:
            yield batch.id, altered(ended, message=message)
    if is_canceled and left_at and not is_told:
        last = calls[-1][0].id if calls else 0
        yield (
            last,
            ResourceEvent(
                left_at, stay.state, phase, "Canceled", f"it was {WORDS[status]}" if status is not CANCELED else ""
            ),
        )
