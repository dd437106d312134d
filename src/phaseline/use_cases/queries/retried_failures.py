"""Failed calls that are retried automatically: their attempts, the next try, and whether they fail the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.graph import phase_of
from phaseline.model.graph.status import EntryStatus
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.use_cases.lookup.entries import GraphEntries, in_force
from phaseline.views.views import FailingCall

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import EventRow, ExecutionRow, NoteRow
    from phaseline.ports.execution_reads import ExecutionReads

READ_AT_ONCE = 10_000
"""Number of stored events that one query fetches."""
FAILURES = ("task_failed",)
"""Types of stored events that record a failed call."""
MAY_BE_RETRIED = (EntryStatus.SLEEPING, EntryStatus.RUNNING, EntryStatus.WAITING)
"""Statuses that an entry has between a failure and the end of its next try."""


def failing_now(store: ExecutionReads, row: ExecutionRow) -> list[FailingCall]:
    """Return the failed calls of one execution that are being tried again.

    Graphs that a retry by a user has replaced are left out.
    """
    if row.status.is_ended:
        return []
    graphs = store.graphs(row.number)
    running = store.batches(execution=row.number, only_open=True)
    shown = graphs if row.request.workflow == REACH_WORKFLOW else in_force(graphs)
    return failing_calls(store, row, {one.id: store.entry_statuses(one.id, running).now for one in shown})


def failing_calls(
    store: ExecutionReads, row: ExecutionRow, statuses_of: Mapping[int, np.ndarray], *, but: Iterable[int] = ()
) -> list[FailingCall]:
    """Return the failed calls of an open execution that are being tried again, by graph and position.

    Return nothing for an ended execution. ``statuses_of``: {graph: status by position}, where running entries are
    marked as such. ``but``: positions to leave out.
    """
    found: list[tuple[int, FailingCall]] = []
    if row.status.is_ended:
        return []
    for graph_id, statuses in statuses_of.items():
        among = np.setdiff1d(np.flatnonzero(np.isin(statuses, MAY_BE_RETRIED)), list(but)).tolist()
        notes = [note for note in store.notes(graph_id, among=among) if note.retries] if among else []
        if notes:
            graph, topology = store.graph(graph_id), store.topology(row.deployment)
            found += _of_graph(row, graph_id, graph, topology, statuses, notes)
    if not any(call.attempts > 1 for _, call in found):
        return [call for _, call in found]
    repeated = _repeated(store, row)
    return [
        altered(call, is_repeated=call.attempts > 1 and (number, call.operation) in repeated) for number, call in found
    ]


def _of_graph(
    row: ExecutionRow, graph_id: int, graph: Graph, topology: Topology, statuses: np.ndarray, notes: Sequence[NoteRow]
) -> Iterable[tuple[int, FailingCall]]:
    """Yield (instance number, failed call) for each entry that has one of these notes."""
    entries = GraphEntries(graph)
    for note in notes:
        policy = graph.policies[int(graph.policy[note.position])]
        if policy.until_true:
            continue  # a check that is not true yet has not failed
        phase = entries.phase(note.position)
        instance, target = entries.subject(topology, note.position)
        status = EntryStatus(int(statuses[note.position]))
        yield (
            topology.number_of.get(instance, -1),
            FailingCall(
                instance=instance,
                target=target,
                operation=phase_of(phase) or phase,
                status=status.word,
                attempts=note.retries,
                max_retries=policy.max_retries,
                due_at=note.due if status is EntryStatus.SLEEPING else 0,
                message=note.message,
                graph=graph_id,
                position=note.position,
                execution=row.id,
                deployment=row.deployment_name,
            ),
        )


def _repeated(store: ExecutionReads, row: ExecutionRow) -> set[tuple[int, str]]:
    """Return the pairs (instance number, operation) whose last two stored failures ended with the same line."""
    last: dict[tuple[int, str], str] = {}
    found: set[tuple[int, str]] = set()
    for event in _failures(store, row):
        key = (event.instance, phase_of(event.operation) or event.operation)
        said = last_line(event.message)
        if said and last.get(key) == said:
            found.add(key)
        else:
            found.discard(key)
        last[key] = said
    return found


def _failures(store: ExecutionReads, row: ExecutionRow) -> Iterable[EventRow]:
    after = 0
    while rows := store.events(row.number, after=after, limit=READ_AT_ONCE):
        after = rows[-1].sequence
        yield from (event for event in rows if event.type in FAILURES)
        if len(rows) < READ_AT_ONCE:
            return


def last_line(message: str) -> str:
    r"""Return the last line of a call's message, or "" if the message is empty.

    >>> last_line("Traceback\nno route\n"), last_line("")
    ('no route', '')
    """
    return next(iter(message.strip().splitlines()[-1:]), "")


def ending(execution: str) -> str:
    """Return the command that ends the automatic retries of an execution.

    >>> ending("install-1")
    'phaseline executions cancel install-1'
    """
    return f"phaseline executions cancel {execution}"
