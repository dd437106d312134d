"""Writing of one turn of the engine's loop into the tables of the store in memory."""

from __future__ import annotations

import json

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.events import (
    Batch,
    BatchClosed,
    ExecutionChanged,
    GraphAdded,
    NotesWritten,
    StatesEntered,
)
from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.resources.resources import REMOVED
from phaseline.model.rows.rows import BatchRow, EventRow, GraphRow, LogLine, NoteRow, Turn, TurnPayload
from phaseline.store.codec import json_documents as texts
from phaseline.store.codec import limits as bounds
from phaseline.store.codec import requests
from phaseline.store.memory import requests as asking
from phaseline.store.memory.estate.causes import write_awaits
from phaseline.store.memory.tables import HeldGraph, MemoryTables


def write(shelves: MemoryTables, turn: Turn) -> None:
    """Write the changes that the scheduler decided in a turn, then the turn's payload: documents, lines, answers.

    Reshaped deployments of the payload come first, because the changes may be about instances that they add.
    """
    for row in turn.payload.reshaped:
        shelves.deployments[row.deployment].reshape(row)
    changes = turn.changes
    for changed in changes.executions:
        _change_execution(shelves, changed, turn.at)
    for added in changes.graphs:
        _add_graph(shelves, added, turn.at)
    for page in changes.pages:
        shelves.graphs[page.graph].pages[page.number] = page.statuses
    for notes in changes.notes:
        _write_notes(shelves, notes)
    for batch in changes.opened:
        _open_batch(shelves, batch)
    for closed in changes.closed:
        _close_batch(shelves, closed)
    for again in changes.reopened:
        held = shelves.graphs[again.graph]
        held.row = altered(held.row, attempt=again.attempt)
    for entered in changes.states:
        _enter_states(shelves, entered)
    for made in turn.payload.checks:
        shelves.deployments[made.deployment].checks.record(made)
    if turn.payload:
        _write_payload(shelves, turn.payload, turn.at)


def _change_execution(shelves: MemoryTables, changed: ExecutionChanged, at: int) -> None:
    execution = shelves.executions[changed.execution]
    row = execution.row
    begins = changed.status is ExecutionStatus.RUNNING and not row.started_at
    execution.row = altered(
        row,
        status=changed.status,
        reason=bounds.shortened(changed.reason, bounds.MESSAGE_LENGTH),
        attempt=max(row.attempt, changed.attempt),
        started_at=at if begins else row.started_at,
        ended_at=at if changed.status.is_ended else 0,
    )


def _add_graph(shelves: MemoryTables, added: GraphAdded, at: int) -> None:
    execution = shelves.executions[added.execution]
    row = GraphRow(added.graph_id, added.execution, added.graph.name, execution.row.attempt, len(added.graph), at)
    shelves.graphs[added.graph_id] = HeldGraph(row, added.graph)
    execution.graphs.append(added.graph_id)
    shelves.note_id("graph", added.graph_id)


def _write_notes(shelves: MemoryTables, written: NotesWritten) -> None:
    held = shelves.graphs[written.graph].notes
    columns = (
        written.positions.tolist(),
        written.attempts.tolist(),
        written.generations.tolist(),
        written.due.tolist(),
    )
    for position, attempts, generation, due in zip(*columns, strict=True):
        before = held.get(position) or NoteRow(position)
        held[position] = altered(before, attempts=attempts, generation=generation, due=due)


def _open_batch(shelves: MemoryTables, batch: Batch) -> None:
    members = batch.members
    places = MemberPositions(members.graphs, members.ends, members.positions.copy())
    row = BatchRow(batch.id, batch.lane.phase, places, batch.started_at, batch.deadline_at, closed_at=0, kinds=None)
    shelves.batches[batch.id] = row
    shelves.open_batches[batch.id] = None
    shelves.note_id("batch", batch.id)
    for execution in members.executions:
        shelves.executions[execution].batches[batch.id] = None


def _close_batch(shelves: MemoryTables, closed: BatchClosed) -> None:
    row = shelves.batches[closed.batch]
    shelves.batches[closed.batch] = BatchRow(
        row.id, row.phase, row.places, row.started_at, row.deadline_at, closed.closed_at, closed.kinds.copy(),
        row.process_group,
    )  # fmt: skip
    if closed.closed_at:
        shelves.open_batches.pop(closed.batch, None)


def _enter_states(shelves: MemoryTables, entered: StatesEntered) -> None:
    known = shelves.deployments[entered.deployment]
    known.states[entered.subjects] = entered.states[-1]
    known.checks.enter(entered.states, entered.subjects)
    if entered.states[-1] == REMOVED:
        for number in np.asarray(entered.subjects).tolist():
            known.documents.pop(number, None)


def _write_payload(shelves: MemoryTables, payload: TurnPayload, at: int) -> None:
    for (deployment, instance), changes in texts.by_instance(payload.documents).items():
        held = shelves.deployments[deployment].documents
        held[instance] = texts.merged(held.get(instance, texts.EMPTY), changes)
    for remark in payload.remarks:
        notes = shelves.graphs[remark.graph].notes
        before = notes.get(remark.position) or NoteRow(remark.position)
        message, error = bounds.shortened_remark(remark)
        result = json.loads(texts.to_text(remark.result))
        notes[remark.position] = altered(before, message=message, error=error, result=result)
    for line in payload.logs:
        execution = shelves.executions[line.execution]
        execution.last_log += 1
        text = bounds.shortened(line.text, bounds.LOG_TEXT_LENGTH)
        execution.logs.append(altered(line, text=text, sequence=execution.last_log))
    for event in payload.events:
        execution = shelves.executions[event.execution]
        execution.last_event += 1
        text = bounds.shortened(event.message, bounds.MESSAGE_LENGTH)
        execution.events.append(altered(event, message=text, sequence=execution.last_event))
    shelves.measures.update((measure.name, measure) for measure in payload.measures)
    _keep_within_bounds(shelves, payload)
    asking.write_answers(shelves, payload.answers, at)
    if payload.awaits:
        write_awaits(shelves, payload.awaits)
    for number, request in payload.requests.items():
        known = shelves.executions[number]
        known.row = altered(known.row, request=requests.from_json(requests.to_json(request)))


def _keep_within_bounds(shelves: MemoryTables, payload: TurnPayload) -> None:
    for number in {line.execution for line in payload.logs}:
        execution = shelves.executions[number]
        _drop(execution.logs, bounds.first_kept(execution.last_log, bounds.LOG_LINES_KEPT))
    for number in {event.execution for event in payload.events}:
        execution = shelves.executions[number]
        _drop(execution.events, bounds.first_kept(execution.last_event, bounds.EVENTS_KEPT))


def _drop(lines: list[LogLine] | list[EventRow], first: int) -> None:
    """Delete the lines with numbers below ``first``. Lines are numbered without gaps, so these are a slice."""
    if lines and lines[0].sequence < first:
        del lines[: first - lines[0].sequence]
