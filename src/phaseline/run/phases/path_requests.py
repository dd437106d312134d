"""Requests of users about resources on their path: retry, complete, rerun, wake, signal, edit (section 11).

Each request is recorded in the execution's history. It names entries as ``chosen``: ((graph, positions), ...). Changes
that a request makes in memory are stored by the next turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.model.deployment.index_ranges import numbers_of
from phaseline.model.execution.breakpoints import step_label
from phaseline.model.execution.events import (
    CancelRequested,
    CompleteRequested,
    RerunRequested,
    RetryRequested,
    WakeRequested,
)
from phaseline.model.graph.status import EntryStatus, Mark
from phaseline.model.phases.phase_data import PHASE_DATA
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.rows import DocumentChange, EntryRemark, EventRow, RequestKind
from phaseline.plan.states.state_entries import stays_of
from phaseline.run.phases.signals import given, statuses_of

if TYPE_CHECKING:
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.execution.events import Event
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import ExecutionRow, RequestRow
    from phaseline.ports.store import Store
    from phaseline.run.phases.phase_engine import PhaseEngine

RETRIED = (int(EntryStatus.FAILED), int(EntryStatus.CANCELED), int(EntryStatus.UNSURE))
CANCELED, PASSED = int(EntryStatus.CANCELED), int(EntryStatus.PASSED)
ABSENT = int(Mark.ABSENT)
Chosen = Sequence[tuple[int, np.ndarray]]
"""Entries of an execution: ((graph, positions int32), ...)."""
TOLD: Mapping[RequestKind, str] = {
    RequestKind.RETRY: "phase_retried",
    RequestKind.COMPLETE: "phase_completed_by_hand",
    RequestKind.RERUN: "phase_rerun",
    RequestKind.WAKE: "phase_woken",
}
"""{kind of request: type of the event in the history}"""


class PathOrders:
    """Carries out requests about resources of ``reach`` executions, and about phases of nodes."""

    def __init__(self, store: Store, scheduler: Scheduler, deployments: DeploymentCache, phases: PhaseEngine) -> None:
        self._store = store
        self._scheduler = scheduler
        self._deployments = deployments
        self._phases = phases

    def carry_out(self, row: ExecutionRow, request: RequestRow, now: int) -> tuple[list[Event], list[EventRow]]:
        """Return (events for the scheduler, rows for the history) of a request; the execution must be loaded.

        Raises: PL-C014 for a retry of entries that have not failed, and for a rerun of entries whose resource has left
        the state. Then nothing is changed (6.6).
        """
        body: Mapping[str, Any] = request.body
        number, chosen = row.number, chosen_in(body)
        if chosen is not None:
            chosen = self._still_here(row, chosen)
        if request.kind is RequestKind.RETRY and chosen is not None:
            self._refuse_good(row, chosen)
        if request.kind is RequestKind.RERUN and chosen is not None:
            self._refuse_left(row, chosen)
        self.edit(row.deployment, body.get("edits"))
        if request.kind is RequestKind.CANCEL:
            how = body.get("how")
            subjects = numbers_of(body.get("subjects"))
            return [CancelRequested(number, how if how in {"force", "kill"} else "wait", subjects)], []
        if request.kind is RequestKind.SIGNAL:
            return self._signal(row, chosen or (), request)
        if request.kind is RequestKind.RETRY:
            chosen = self._failed(row) if chosen is None else self._with_exits(chosen)
            self._clear(row, chosen)
            events: list[Event] = [RetryRequested(number, graph, places, keeps=True) for graph, places in chosen]
            events += self._nothing_to_retry(row) if not events else []
        elif request.kind is RequestKind.COMPLETE:
            events = [CompleteRequested(number, graph, places) for graph, places in chosen or ()]
        elif request.kind is RequestKind.RERUN:
            self._clear(row, chosen or ())
            events = [RerunRequested(number, graph, places) for graph, places in chosen or ()]
        else:
            events = [WakeRequested(number, graph, places) for graph, places in chosen or ()]
        reason = str(body.get("reason", ""))
        return events, list(self._told(row, chosen or (), request, reason, now))

    def _signal(self, row: ExecutionRow, chosen: Chosen, request: RequestRow) -> tuple[list[Event], list[EventRow]]:
        """Give a signal to the sleeping entries of ``chosen``; return (events that wake them, events to store).

        Raises: PL-C093, PL-R011, PL-R012, as ``signals.given`` describes.
        """
        sleeping, made = given(self._store, self._scheduler, self._deployments, row, chosen, request)
        self._phases.documents += [kept for kept, _ in made if isinstance(kept, DocumentChange)]
        return [WakeRequested(row.number, graph, places) for graph, places in sleeping], [told for _, told in made]

    def _refuse_good(self, row: ExecutionRow, chosen: Chosen) -> None:
        """Raise PL-C014 if an entry in ``chosen`` that belongs to a phase is not failed, canceled or unsure."""
        for number, positions in chosen:
            graph, statuses = self._store.graph(number), self._statuses(number)
            for name, position in _phases_at(graph, positions):
                if statuses[position] not in RETRIED:
                    resource = self._deployments.loaded(row.deployment).topology.ids[int(graph.subject[position])]
                    word = EntryStatus(int(statuses[position])).word
                    message = f"the phase '{name}' of {resource} has not failed: it is {word}"
                    mend = "leave it out; to call a completed phase again: phaseline resources rerun"
                    raise problem_error("PL-C014", message, mend, subject=row.id)

    def _refuse_left(self, row: ExecutionRow, chosen: Chosen) -> None:
        """Raise PL-C014 if the resource of one of these entries has left its state: later phases may have begun."""
        for number, positions in chosen:
            graph, statuses = self._store.graph(number), self._statuses(number)
            for stay in stays_of(graph.steps):
                exits = slice(stay.exit.first, stay.exit.first + stay.exit.count)
                gone = graph.subject[exits][statuses[exits] == PASSED]
                for step in stay.phases:
                    mine = positions[(positions >= step.first) & (positions < step.first + step.count)]
                    left = mine[np.isin(graph.subject[mine], gone)].tolist()
                    if left:
                        resource = self._deployments.loaded(row.deployment).topology.ids[int(graph.subject[left[0]])]
                        message = f"{resource} has left the state {stay.state}, in which '{step_label(step.phase)}' was called"
                        raise problem_error(
                            "PL-C014", message, "a phase is called again only in its state", subject=row.id
                        )

    def _nothing_to_retry(self, row: ExecutionRow) -> list[Event]:
        """Continue an execution without failed entries, because some subjects may never have been planned."""
        graphs = self._store.graphs(row.number)
        return [RetryRequested(row.number, graphs[-1].id, np.empty(0, np.int32), keeps=True)] if graphs else []

    def edit(self, deployment: int, edits: Any) -> None:
        """Change documents; the next turn stores the changes.

        ``edits`` is a list of {instance, written: ((path, value), ...), removed: (path, ...)}.
        """
        if not isinstance(edits, list) or not edits:
            return
        loaded = self._deployments.grow(deployment, 1 + max(int(edit["instance"]) for edit in edits))
        for edit in edits:
            written = {tuple(path): value for path, value in edit.get("written", ())}
            removed = [tuple(path) for path in edit.get("removed", ())]
            change = loaded.apply(int(edit["instance"]), written, removed)
            self._phases.documents.append(change)
            self._phases.has_changed(change)

    # -- entries ------------------------------------------------------------------------------------------------

    def _statuses(self, graph: int) -> np.ndarray:
        return statuses_of(self._store, self._scheduler, graph)

    def _failed(self, row: ExecutionRow) -> Chosen:
        """Return the failed and canceled entries of an execution, without subjects that follow a newer execution."""
        found: list[tuple[int, np.ndarray]] = []
        for held in self._store.graphs(row.number):
            graph, statuses = self._store.graph(held.id), self._statuses(held.id)
            positions = np.flatnonzero(np.isin(statuses, RETRIED))
            positions = positions[self._phases.paths.follow(row, graph.subject[positions])]
            if len(positions):
                found.append((held.id, positions.astype(np.int32)))
        return found

    def clear_retried(self, row: ExecutionRow, graph: int | None, positions: np.ndarray | None) -> None:
        """Remove the data that phases kept for failed entries, because these entries are about to be retried (T10)."""
        failed = [one for one in self._failed(row) if graph is None or one[0] == graph]
        if positions is not None:
            failed = [(number, np.intersect1d(found, positions)) for number, found in failed]
        self._clear(row, failed)

    def _still_here(self, row: ExecutionRow, chosen: Chosen) -> Chosen:
        """Return the entries without those whose subject follows a newer execution, so that the request is too late."""
        return [
            (number, positions[self._phases.paths.follow(row, self._store.graph(number).subject[positions])])
            for number, positions in chosen
        ]

    def _with_exits(self, chosen: Chosen) -> Chosen:
        """Return these entries, and the canceled exits of the states in which their subjects are.

        An exit is an entry that calls nothing. It must be retried too, so that the subject can leave the state.
        """
        found: list[tuple[int, np.ndarray]] = []
        for number, positions in chosen:
            graph, statuses = self._store.graph(number), self._statuses(number)
            joins = np.flatnonzero((statuses == CANCELED) & ((graph.marks & ABSENT) != 0))
            joins = joins[np.isin(graph.subject[joins], graph.subject[positions])]
            found.append((number, np.union1d(positions, joins).astype(np.int32)))
        return found

    def _clear(self, row: ExecutionRow, chosen: Chosen) -> None:
        """Remove the data that phases kept for these entries, and the messages of the entries (T10)."""
        loaded = self._deployments.loaded(row.deployment)
        for number, positions in chosen:
            graph = self._store.graph(number)
            known = self._deployments.data(number)
            for name, position in _phases_at(graph, positions):
                known.pop(position, None)
                self._phases.conditions.remarks.append(EntryRemark(number, position))
                subject = int(graph.subject[position])
                kept = loaded.document_of(subject).get(PHASE_DATA)
                if isinstance(kept, dict) and name in kept:
                    self._phases.documents.append(loaded.apply(subject, {}, [(PHASE_DATA, name)]))

    def _told(
        self, row: ExecutionRow, chosen: Chosen, request: RequestRow, reason: str, now: int
    ) -> Iterator[EventRow]:
        """Yield an event for each phase of each chosen resource: what the user requested, and for what reason."""
        kind = TOLD[request.kind]
        for number, positions in chosen:
            graph = self._store.graph(number)
            for name, position in _phases_at(graph, positions):
                subject = int(graph.subject[position])
                yield EventRow(row.number, now, kind, reason, subject, name, request.actor.name)


def chosen_in(body: Mapping[str, Any]) -> Chosen | None:
    """Return [(graph, positions)] of the entries that a request selects, or None if it contains no selection."""
    given = body.get("chosen")
    if given is None and body.get("graph") is not None and body.get("positions") is not None:
        given = [[body["graph"], body["positions"]]]
    if given is None:
        return None
    return [(int(graph), np.unique(np.array(positions, np.int32))) for graph, positions in given]


def _phases_at(graph: Graph, positions: np.ndarray) -> Iterator[tuple[str, int]]:
    """Yield (phase, position) for the positions that belong to phases, or to breakpoints at phases."""
    for step in graph.steps:
        name = step_label(step.phase)
        if name is not None:
            inside = positions[(positions >= step.first) & (positions < step.first + step.count)]
            for position in inside.tolist():
                yield name, position
