"""Watch an execution that another process runs.

Its progress is read from the store. If no process owns the store any more, this process tries to own it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from phaseline.app.watcher import LOOK_S, Progress, Throttle
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.use_cases.lookup.blocking_executions import blocking_execution

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.watcher import Watcher
    from phaseline.calls.deployments.progress import Failing
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import ExecutionRow, GraphRow, NoteRow
    from phaseline.ports.lease import Lease
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.use_cases.commands.submission import SubmissionAnswer

QUICK_LOOK_S = 0.02
"""Longest interval, in seconds, between two readings of the store while the submission has no answer."""
LISTEN_MS = 1_000
"""Interval (ms) between checks whether the owner still answers requests."""


class Ending(Enum):
    """Reasons for which a follower stops waiting."""

    SETTLED = "its execution has ended or needs a person"
    LEFT = "its user leaves"
    STOPPED = "a user requested that the engine stop"


def wait(
    ctx: RequestContext,
    answer: SubmissionAnswer,
    watcher: Watcher,
    *,
    leaves: Callable[[], bool],
    own: Callable[[], Lease | None],
) -> Ending | Lease:
    """Wait until following the execution is over (``is_settled``), this process owns the store, or the user wants to leave.

    Return the lease if this process owns the store, otherwise why it waits no more. ``leaves``: returns whether the user
    wants to leave. ``own``: tries to become the owner; returns the lease, or None.
    """
    look = 0
    view = View(ctx, answer.submission.row)
    is_told = False  # the execution that blocks it was shown
    listener = _Listener(ctx)
    if answer.is_new and not leaves() and (lease := own()):
        return lease
    from phaseline.embedded.pauses import Pauses  # most commands run their executions themselves

    with Pauses(ctx.store, QUICK_LOOK_S) as pauses:
        while True:
            if leaves():
                return Ending.LEFT
            now = ctx.store.changed(look)
            if now:
                look = now
                if is_settled(ctx.store, answer):
                    return Ending.SETTLED
                if not is_told and (blocker := blocker_of(ctx.store, answer.submission.row)):
                    watcher.noticed(waits_for(ctx.store, answer.submission.row, blocker))
                    is_told = True
            if lease := own():
                return lease
            if words := listener.news():
                watcher.noticed(words)
            if watcher.wants_progress:
                view.show(watcher, is_new=bool(now))
            if answer.is_there:
                time.sleep(LOOK_S)
            else:
                pauses.wait()


class _Listener:
    """Checks now and then whether the owner of the store still answers, and reports once if it does not for long."""

    def __init__(self, ctx: RequestContext) -> None:
        """Create the object; the first check is due after ``LISTEN_MS``."""
        self._ctx, self._next, self._told = ctx, ctx.clock.now() + LISTEN_MS, 0

    def news(self) -> str:
        """Return a report if the owner has just been found not to answer, or "" (nearly always)."""
        now = self._ctx.clock.now()
        if now < self._next:
            return ""
        from phaseline.use_cases.queries.unresponsive_owner import silence  # few commands wait this long

        self._next = now + LISTEN_MS
        found = silence(self._ctx.store, now)
        if found is None or found.since_at <= self._told:
            return ""
        self._told = found.since_at
        return str(found)


def is_settled(store: TenantStore, answer: SubmissionAnswer) -> bool:
    """Return whether following the execution is over.

    True if the request was refused, or if it was accepted and the execution has ended or waits for an operator.
    """
    if not answer.has_come(store):
        return False
    if answer.refusal is not None:
        return True
    row = store.execution(answer.submission.row.id)
    return row is None or row.status.is_ended or row.status is ExecutionStatus.ATTENTION or _is_stuck(store, row)


def blocker_of(store: TenantStore, row: ExecutionRow) -> str:
    """Return the id of the execution that keeps this one from beginning, or "" if there is none."""
    now = store.execution(row.id)
    queued = None if now is None else blocking_execution(store, now)
    return "" if queued is None else queued.blocker.id


def waits_for(store: TenantStore, row: ExecutionRow, blocker: str) -> str:
    """Return a sentence: an execution waits for ``blocker``, and which decision ``blocker`` itself waits for."""
    from phaseline.use_cases.queries.stuck import awaited_in

    other = store.execution(blocker)
    awaited = [] if other is None else awaited_in(store, other)
    words = "".join(f"; {one.text}: {one.mend}" for one in awaited)
    return f"{row.id} waits for {blocker}{words}. To run beside it: --if-busy force"


def _is_stuck(store: TenantStore, row: ExecutionRow) -> bool:
    """Return whether the execution waits for another execution that waits for an operator."""
    queued = blocking_execution(store, row)
    return queued is not None and queued.needs_person


class View:
    """Reads the progress of an execution from the store, so rarely that this takes only a small share of the time."""

    def __init__(self, ctx: RequestContext, row: ExecutionRow) -> None:
        """Create the object without reading the store."""
        self._ctx, self._row = ctx, row
        self._throttle = Throttle()
        self._graph: tuple[GraphRow, Graph, np.ndarray] | None = None
        self._has_news = False

    def show(self, watcher: Watcher, *, is_new: bool) -> None:
        """Pass the progress to the watcher if there may be news and the last reading is long enough ago.

        ``is_new``: the store has changed since the last call.
        """
        self._has_news |= is_new
        now = self._ctx.clock.now()
        if not self._has_news or not self._throttle.lets_through(now):
            return
        progress = self._look()
        if progress is not None:
            watcher.progressed(progress, now)
        self._has_news = False
        self._throttle.looked(now, self._ctx.clock.now())

    def _look(self) -> Progress | None:
        from phaseline.calls.deployments.progress import count_rows

        store = self._ctx.store
        graphs = store.graphs(self._row.number)
        if not graphs:
            return None
        row = graphs[-1]
        if self._graph is None or self._graph[0].id != row.id:
            graph = store.graph(row.id)
            self._graph = (row, graph, np.repeat([step.kind for step in graph.steps], [s.count for s in graph.steps]))
        _, graph, kinds = self._graph
        topology = store.topology(self._row.deployment)
        statuses = store.entry_statuses(row.id).now
        notes = store.notes(row.id)
        shown, count = _failing(graph, statuses, topology, notes)
        sleeping = [note for note in notes if note.due and statuses[note.position] == EntryStatus.SLEEPING]
        due = _dues(graph, sleeping) if sleeping else []
        rows = count_rows(graph.steps, graph.subject, kinds, statuses, topology)
        return Progress(row.name, rows, shown, count, min(due, default=None), 0)


def _dues(graph: Graph, notes: Sequence[NoteRow]) -> list[int]:
    """Return the times of the next calls of these entries.

    Entries stopped at a breakpoint without a time-out are left out, because only a person wakes them.
    """
    from phaseline.model.execution.breakpoints import due_of
    from phaseline.use_cases.lookup.entries import GraphEntries

    entries = GraphEntries(graph)
    return [due for note in notes if (due := due_of(entries.phase(note.position), note.due, note.result))]


def _failing(
    graph: Graph, statuses: np.ndarray, topology: Topology, notes: Sequence[NoteRow]
) -> tuple[tuple[Failing, ...], int]:
    """Return (the first entries that failed or are being tried again, the number of all such entries)."""
    from phaseline.calls.deployments.progress import MAX_FAILING, Failing
    from phaseline.use_cases.lookup.entries import GraphEntries

    entries = GraphEntries(graph)
    shown: list[Failing] = []
    count = 0
    for note in notes:
        status = EntryStatus(int(statuses[note.position]))
        is_bad = status in {EntryStatus.FAILED, EntryStatus.UNSURE}
        if not is_bad and (not note.retries or status >= EntryStatus.COMPLETED):
            continue
        count += 1
        if len(shown) < MAX_FAILING:
            phase = entries.phase(note.position)
            policy = graph.policies[int(graph.policy[note.position])]
            due = note.due if status is EntryStatus.SLEEPING else 0
            instance = entries.subject(topology, note.position)[0]
            limit, interval = policy.max_retries, policy.wait_ms(note.attempts)
            shown.append(Failing(instance, phase, status, note.attempts, limit, due, note.message, interval))
    return tuple(shown), count
