"""Writing of one turn of the engine's loop in statements for sets and ranges, not for single entries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.lang.arrays import as_slice
from phaseline.model.execution.events import Batch, BatchClosed, Changes, GraphAdded, NotesWritten, StatesEntered
from phaseline.model.graph.batch_members import MemberPositions
from phaseline.model.graph.status import PAGE_ENTRIES, ExecutionStatus
from phaseline.model.resources.resources import REMOVED
from phaseline.model.rows.rows import DocumentChange, EntryRemark, EventRow, LogLine, PlannerWrites, Turn, TurnPayload
from phaseline.store.codec import graphs, requests
from phaseline.store.codec import json_documents as documents
from phaseline.store.codec import limits as bounds
from phaseline.store.codec.columns import encode
from phaseline.store.database.schema import IS_STALE
from phaseline.store.sql import health_checks
from phaseline.store.sql import queries as reads
from phaseline.store.sql import requests as asking
from phaseline.store.sql import resource_clusters as growing
from phaseline.store.sql.read_model import summaries
from phaseline.store.sql.read_model.one_statement import CHOSEN, OUT_OF_DATE

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

STATES_CACHED = 10_000_000
"""Number of instances whose states the owner keeps in memory, one byte each; if exceeded, states are read again."""
STATES_ALWAYS = 256
"""Fixed part of the memory of a deployment's states, in bytes, beside the byte for each instance."""
SEQUENCES_CACHED = 100_000
"""Largest number of executions' last sequence numbers kept in memory; if exceeded, they are read again when needed."""
NUMBERED = ("log", "event")
"""Tables whose rows are numbered within their execution."""
LONG_RUN = 4
"""Average length of runs of neighbouring notes from which on one statement per run is faster.

A note in a run then costs 0.4 µs, against 2.2 µs with a statement for each note.
"""

_ADD_GRAPH = (
    f"insert into graph (id, execution, name, attempt, entry_count, created_at, after_batch, {', '.join(graphs.COLUMNS)}) "
    f"select ?, number, ?, attempt, ?, ?, ?, {', '.join('?' * len(graphs.COLUMNS))} from execution where number = ?"
)
# "insert or replace" would delete the row first, and so write the page of the index, too.
_WRITE_PAGES = (
    "insert into page values (?, ?, ?) on conflict (graph, number) do update set statuses = excluded.statuses"
)
_WRITE_STATES = (
    "insert into state_page values (?, ?, ?) on conflict (deployment, number) do update set states = excluded.states"
)
_WRITE_NOTES = """insert into note (graph, position, attempts, generation, due, message, error, result)
    values (?, ?, ?, ?, ?, '', '{}', 'null')
    on conflict (graph, position) do update set attempts = excluded.attempts, generation = excluded.generation, due = excluded.due"""
_CHANGE_EXECUTION = """update execution set status = ?, reason = ?,
    attempt = case when attempt < ? then ? else attempt end, ended_at = ?, last_batch = ?,
    started_at = case when started_at = 0 then ? else started_at end where number = ?"""
_CHANGE_NOTES = """update note set attempts = ?, generation = ?, due = ?
    where graph = ? and position between ? and ?"""
_WRITE_REMARKS = """insert into note (graph, position, attempts, generation, due, message, error, result)
    values (?, ?, 0, 0, 0, ?, ?, ?)
    on conflict (graph, position) do update set message = excluded.message, error = excluded.error, result = excluded.result"""
_WRITE_DOCUMENTS = """insert into document values (?, ?, ?, ?)
    on conflict (deployment, instance) do update set version = excluded.version, body = excluded.body"""
_DROP_DOCUMENTS = "delete from document where deployment = ? and instance in (select value from json_each(?))"
_READ_DOCUMENTS = """select instance, version, body from document
    where deployment = ? and instance in (select value from json_each(?))"""
_MARK_SUMMARIES = f"""update deployment_summary set status = '{OUT_OF_DATE}', is_calm = 0 where deployment in (
    select deployment from execution where number {CHOSEN} union all select number from deployment where number {CHOSEN})"""
_COUNT_STALE = f"select count(*) from (select 1 from deployment_summary where {IS_STALE} limit ?) as found"
FEW_STALE = 64
"""So many summaries that are out of date cost lists a few ms, and a process that runs one execution more to write."""


class TurnWriter:
    """Writes turns within transactions that its caller begins and ends.

    It caches what only the owner changes: instance states and last sequence numbers. Call ``forget`` when a transaction
    was not committed and when this process stops being the owner.
    """

    def __init__(self) -> None:
        self._states: dict[int, np.ndarray] = {}
        self._state_count = 0
        self._sequences: dict[tuple[str, int], int] = {}
        self._rows = graphs.GraphRows()
        self.has_summaries_to_write = True
        """False if no rows that lists read are out of date. Another process may have left some."""

    @cached_property
    def _checks(self) -> health_checks.ChecksWriter:
        return health_checks.ChecksWriter()

    def forget(self) -> None:
        """Empty the caches of states, sequence numbers and check results; they are read again when needed."""
        self._states.clear()
        self._state_count = 0
        self._sequences.clear()
        vars(self).pop("_checks", None)
        self.has_summaries_to_write = True

    def has_many_summaries_to_write(self, db: Connection) -> bool:
        """Return True if so many of these rows are out of date that writing them saves lists much work."""
        if not self.has_summaries_to_write:
            return False
        return int(db.execute(_COUNT_STALE, (FEW_STALE,)).fetchone()[0]) >= FEW_STALE

    def write_summaries(self, db: Connection) -> None:
        """Write some of the rows that lists read and that are out of date."""
        self.has_summaries_to_write = summaries.refresh_some(db, self._states)

    def _mark_summaries(self, db: Connection, turn: Turn) -> None:
        """Mark what lists read of deployments of which an execution has ended, or which have other instances."""
        ended = [change.execution for change in turn.changes.executions if change.status.is_ended]
        places = [row.deployment for row in turn.payload.reshaped]
        if ended or places:
            db.execute(_MARK_SUMMARIES, (documents.to_text(ended), documents.to_text(places)))
            self.has_summaries_to_write = True

    def expect(self, deployment: int, instance_count: int) -> None:
        """Cache the states of a new deployment without reading them: all its instances are uninitialized."""
        self._states[deployment] = np.zeros(instance_count, np.uint8)
        self._state_count += instance_count + STATES_ALWAYS

    def drop(self, deployments: Collection[int]) -> None:
        """Remove deleted deployments from the caches."""
        for deployment in deployments:
            states = self._states.pop(deployment, None)
            if states is not None:
                self._state_count -= len(states) + STATES_ALWAYS
            if "_checks" in vars(self):
                self._checks.drop(deployment)

    def write(self, db: Connection, turn: Turn) -> None:
        """Write the changes that the scheduler decided in a turn, and its payload: documents, lines, answers."""
        if self._state_count > STATES_CACHED or len(self._sequences) > SEQUENCES_CACHED:
            self.forget()
        for row in turn.payload.reshaped:
            growing.reshape(db, row)
        changes = turn.changes
        _change_executions(db, changes, turn.at)
        if changes.graphs:
            self._add_graphs(db, changes.graphs, turn.at)
        if changes.pages:
            db.executemany(
                _WRITE_PAGES,
                [(page.graph, page.number, page.statuses) for page in changes.pages],
            )
        if changes.notes:
            _write_notes(db, changes.notes)
        _open_batches(db, changes.opened)
        _close_batches(db, changes.closed)
        if changes.reopened:
            db.executemany(
                "update graph set attempt = ? where id = ?", [(one.attempt, one.graph) for one in changes.reopened]
            )
        if changes.states:
            self._enter_states(db, changes.states)
        if changes.states or turn.payload.checks:
            self._checks.write(db, changes.states, turn.payload.checks)
        if turn.payload:
            self._write_payload(db, turn.payload)
            asking.write_answers(db, turn.payload.answers, turn.at)
            if turn.payload.written:
                _write_documents(db, turn.payload.written, turn.at)
            if turn.payload.awaits:
                from phaseline.store.sql.estate.causes import write_awaits

                write_awaits(db, turn.payload.awaits)
            db.executemany(
                "update execution set request = ? where number = ?",
                [(requests.to_json(request), execution) for execution, request in turn.payload.requests.items()],
            )
        self._mark_summaries(db, turn)
        for change in changes.executions:
            if change.status.is_ended:
                for table in NUMBERED:
                    self._sequences.pop((table, change.execution), None)

    def _add_graphs(self, db: Connection, added: Sequence[GraphAdded], at: int) -> None:
        latest = reads.last_batch(db, added[0].graph_id) if added else 0
        for new in added:
            values = (
                new.graph_id,
                new.graph.name,
                len(new.graph),
                at,
                latest,
                *self._rows.of(new.graph),
                new.execution,
            )
            if db.execute(_ADD_GRAPH, values).rowcount != 1:
                raise LookupError(f"no execution {new.execution}")

    def _enter_states(self, db: Connection, entered: Sequence[StatesEntered]) -> None:
        """Store the last state of each instance. Write only the pages in which a state has changed."""
        touched: dict[int, set[int]] = {}
        for change in entered:
            deployment, last, subjects = change.deployment, change.states[-1], change.subjects
            if not len(subjects):
                continue
            states = self._states.get(deployment)
            if states is None:
                states = self._read_states(db, deployment)
            pages = touched.get(deployment)
            if pages is None:
                pages = touched[deployment] = set()
            where, highest, found = _places_of(subjects)
            if highest >= len(states):
                states = self._longer(db, deployment, states)
            states[where] = last
            pages.update(found)
            if last == REMOVED:
                db.execute(_DROP_DOCUMENTS, (deployment, documents.to_text(subjects.tolist())))
        rows: list[tuple[int, int, bytes]] = []
        for deployment, pages in touched.items():
            states = self._states[deployment]
            for page in sorted(pages):
                first = page * PAGE_ENTRIES
                rows.append((deployment, page, states[first : first + PAGE_ENTRIES].tobytes()))
        db.executemany(_WRITE_STATES, rows)

    def _read_states(self, db: Connection, deployment: int) -> np.ndarray:
        states = self._states[deployment] = reads.states(db, deployment)
        self._state_count += len(states) + STATES_ALWAYS
        return states

    def _longer(self, db: Connection, deployment: int, states: np.ndarray) -> np.ndarray:
        """Extend the cached states of a deployment to which another process has added instances."""
        grown = _padded(states, growing.count(db, deployment))
        self._states[deployment] = grown
        self._state_count += len(grown) - len(states)
        return grown

    def _write_payload(self, db: Connection, payload: TurnPayload) -> None:
        if payload.documents:
            _merge_documents(db, payload.documents)
        if payload.remarks:
            db.executemany(_WRITE_REMARKS, map(_remark_values, payload.remarks))
        if payload.logs:
            self._append(db, "log", bounds.LOG_LINES_KEPT, _log_values, payload.logs)
        if payload.events:
            self._append(db, "event", bounds.EVENTS_KEPT, _event_values, payload.events)
        if payload.measures:
            growing.measure(db, payload.measures)

    def _append(
        self,
        db: Connection,
        table: str,
        kept: int,
        values_of: Callable[[Any], tuple[str | int, ...]],
        lines: Sequence[LogLine] | Sequence[EventRow],
    ) -> None:
        """Number new lines within their execution, write them, and delete the oldest lines above the limit ``kept``.

        ``values_of`` returns the values of a line for the columns after execution, number and time.
        """
        last: dict[int, int] = {}
        rows = []
        for line in lines:
            execution = line.execution
            before = last.get(execution)
            if before is None:
                before = self._last_sequence(db, table, execution)
            last[execution] = before + 1
            rows.append((execution, before + 1, line.at, *values_of(line)))
        db.executemany(f"insert into {table} values ({', '.join('?' * len(rows[0]))})", rows)
        for execution, sequence in last.items():
            first = bounds.first_kept(sequence, kept)
            if first > bounds.first_kept(self._sequences.get((table, execution), 0), kept):
                db.execute(f"delete from {table} where execution = ? and sequence < ?", (execution, first))
            self._sequences[table, execution] = sequence

    def _last_sequence(self, db: Connection, table: str, execution: int) -> int:
        known = self._sequences.get((table, execution))
        if known is None:
            (known,) = db.execute(
                f"select coalesce(max(sequence), 0) from {table} where execution = ?", (execution,)
            ).fetchone()
        return int(known)


def _places_of(subjects: np.ndarray) -> tuple[int | slice | np.ndarray, int, Sequence[int]]:
    """Return (index that selects the subjects in a column, largest subject, numbers of the subjects' pages)."""
    if len(subjects) == 1:  # of an index that is an array numpy asks at length what it is
        only = subjects.item()
        return only, only, (only // PAGE_ENTRIES,)
    pages: list[int] = np.flatnonzero(np.bincount(subjects // PAGE_ENTRIES)).tolist()
    return as_slice(subjects), int(subjects.max()), pages


def _padded(column: np.ndarray, count: int) -> np.ndarray:
    """Return the column, padded with zeros to ``count`` values."""
    return np.concatenate((column, np.zeros(count - len(column), column.dtype)))


def _write_documents(db: Connection, written: PlannerWrites, at: int) -> None:
    """Write stack documents. Few turns have any, so their module is imported only here."""
    from phaseline.store.sql import stack_documents

    stack_documents.write(db, written, at)


def _change_executions(db: Connection, changes: Changes, at: int) -> None:
    last = None  # batch that executions which end now may have
    for change in changes.executions:
        if change.status.is_ended and last is None:
            last = max((batch.id for batch in changes.opened), default=0) or _last_batch(db)
        db.execute(
            _CHANGE_EXECUTION,
            (
                change.status.value,
                bounds.shortened(change.reason, bounds.MESSAGE_LENGTH),
                change.attempt,
                change.attempt,
                at if change.status.is_ended else 0,
                last if change.status.is_ended else 0,
                at if change.status is ExecutionStatus.RUNNING else 0,
                change.execution,
            ),
        )


def _last_batch(db: Connection) -> int:
    """Return the largest id of a batch so far, of any shard."""
    return int(db.execute("select coalesce(max(id), 0) from batch").fetchone()[0])


def _write_notes(db: Connection, written: Sequence[NotesWritten]) -> None:
    """Write notes. Neighbouring entries that get equal values, such as sleepers called together, share one statement."""
    for notes in written:
        columns = (notes.attempts, notes.generations, notes.due)
        breaks = np.diff(notes.positions) != 1
        for column in columns:
            breaks |= np.diff(column) != 0
        starts = np.concatenate(([0], np.flatnonzero(breaks) + 1))
        if len(starts) * LONG_RUN > len(notes.positions):
            _write_each(db, notes, slice(None))
            continue
        ends = np.append(starts[1:], len(notes.positions))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            said = [int(column[start]) for column in columns]
            places = (notes.graph, int(notes.positions[start]), int(notes.positions[end - 1]))
            if db.execute(_CHANGE_NOTES, (*said, *places)).rowcount < end - start:
                _write_each(db, notes, slice(start, end))


def _write_each(db: Connection, notes: NotesWritten, part: slice) -> None:
    columns = (notes.positions, notes.attempts, notes.generations, notes.due)
    rows = zip(*(column[part].tolist() for column in columns), strict=True)
    db.executemany(_WRITE_NOTES, ((notes.graph, *values) for values in rows))


def _open_batches(db: Connection, opened: Sequence[Batch]) -> None:
    if not opened:
        return
    db.executemany(
        "insert into batch values (?, ?, ?, ?, 0, 0, null, ?, ?, ?, ?, ?)",
        [
            (batch.id, batch.lane.phase, batch.started_at, batch.deadline_at, *places_row(batch.members.places))
            for batch in opened
        ],
    )


def places_row(places: MemberPositions) -> tuple[int, int, bytes, bytes | None, bytes | None]:
    """Encode the positions of a batch's members as (first graph, last graph, positions, graphs, ends).

    ``graphs`` has the id of each graph and ``ends`` the index after its last member; None if there is only one graph.
    """
    graphs, ends, positions = places
    if len(graphs) == 1:
        return graphs[0], graphs[0], encode(positions), None, None
    return min(graphs), max(graphs), encode(positions), encode(np.array(graphs)), encode(np.array(ends, np.int32))


def _close_batches(db: Connection, closed: Sequence[BatchClosed]) -> None:
    if closed:
        db.executemany(
            "update batch set closed_at = ?, kinds = ? where id = ?",
            [(batch.closed_at, encode(batch.kinds), batch.batch) for batch in closed],
        )


def _merge_documents(db: Connection, changes: Sequence[DocumentChange]) -> None:
    """Merge changes into documents: read those of a deployment with one statement, write those that differ."""
    grouped = documents.by_instance(changes)
    wanted: dict[int, list[int]] = {}
    for deployment, instance in grouped:
        wanted.setdefault(deployment, []).append(instance)
    stored = {
        (deployment, instance): (version, body)
        for deployment, instances in wanted.items()
        for instance, version, body in db.execute(_READ_DOCUMENTS, (deployment, documents.to_text(instances)))
    }
    rows = []
    for key, ones in grouped.items():
        version, before = stored.get(key, (0, documents.EMPTY))
        after = documents.merged(before, ones)
        if after != before:
            rows.append((*key, version + 1, after))
    db.executemany(_WRITE_DOCUMENTS, rows)


def _remark_values(remark: EntryRemark) -> tuple[int, int, str, str, str]:
    message, error = bounds.shortened_remark(remark)
    told = documents.to_text(error) if error else documents.EMPTY
    result = "null" if remark.result is None else documents.to_text(remark.result)
    return remark.graph, remark.position, message, told, result


def _log_values(line: LogLine) -> tuple[str | int, ...]:
    return line.level, line.instance, line.operation, bounds.shortened(line.text, bounds.LOG_TEXT_LENGTH)


def _event_values(event: EventRow) -> tuple[str | int, ...]:
    text = bounds.shortened(event.message, bounds.MESSAGE_LENGTH)
    return event.type, event.instance, event.operation, event.actor, text
