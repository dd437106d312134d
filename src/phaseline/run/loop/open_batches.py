"""Batches that the executor is carrying out, and what follows from the reports about them."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.deployments.check_results import Vouch, checks_made, leaves_results, vouched_for
from phaseline.calls.protocol.reports import CallReport, Dispatched
from phaseline.engine.open_batches import members_of
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.events import Batch, Finished, Noted, Reattached
from phaseline.model.execution.pre_post import HOOKS
from phaseline.model.graph.graph import called_side
from phaseline.model.graph.status import OutcomeKind
from phaseline.run.loop.turn_rows import GIVEN_UP, BatchOrigin, Sorter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.events import Accepted, Event
    from phaseline.model.graph.batch_members import GraphSegment
    from phaseline.model.rows.rows import BatchRow
    from phaseline.ports.executor import Executor
    from phaseline.ports.store import Store
    from phaseline.run.phases.signals import Given

NOT_REPORTED = np.zeros(1, bool)
"""Read-only flags shared by all batches with one member. They never change, because one report ends such a batch."""
NOT_REPORTED.flags.writeable = False
TURN_ENTRIES = 10_000
"""Number of entries after which a turn takes no more outcomes; the rest waits for the next turn."""
ORIGINS_KEPT = 1_000
"""Number of answered batches whose executions are remembered, to assign late answers to an execution."""


def event_of(report: CallReport) -> Finished | Noted:
    """Return the scheduler's event for a report that has members."""
    if report.is_noted:
        return Noted(report.batch, report.members)
    return Finished(report.batch, report.members, report.kinds, report.delays)


class OpenBatches:
    """The batches handed to the executor whose members do not all have an outcome yet (``batches``).

    ``killed`` has the ids of batches that are being killed. ``elsewhere`` has the stored rows of batches that a former
    engine began and whose calls still run in another process. Two lists wait for the next turn: ``vouched`` has entries
    that users declare completed, ``signals`` has signals to sleeping entries.
    """

    def __init__(
        self, store: Store, deployments: DeploymentCache, scheduler: Scheduler, on_reports: Callable[[], None]
    ) -> None:
        """Start without open batches. ``on_reports`` is called when calls have returned."""
        self._on_reports = on_reports
        self._store = store
        self._deployments = deployments
        self.scheduler = scheduler
        self._origins: dict[int, BatchOrigin] = {}
        self.batches: dict[int, Dispatched] = {}
        self.killed: set[int] = set()
        self.elsewhere: dict[int, BatchRow] = {}
        self.vouched: list[Vouch] = []
        self.signals: list[Given] = []

    def add(self, batch: Batch) -> None:
        """Add a batch that is about to be handed to the executor."""
        count = len(batch)
        self.batches[batch.id] = Dispatched(batch, NOT_REPORTED if count == 1 else np.zeros(count, bool))

    def orphans(self, events: Sequence[Event]) -> list[BatchRow]:
        """Return the open batches that a dead engine left, which are not called by this engine.

        Batches that the ``events`` are about to attach to this engine are left out, except those that run elsewhere: they
        may have members of executions that are loaded later. So are batches from before a restore, until an operator
        continues their executions.
        """
        held = self.batches.keys() | self.scheduler.batches.keys()
        held |= {event.batch for event in events if isinstance(event, Reattached)}
        held -= self.elsewhere.keys()
        found = [batch for batch in self._store.batches(only_open=True) if batch.id not in held]
        first = self._deployments.names.first_batch if found and self._store.incarnations.held() else 0
        return [batch for batch in found if batch.id >= first]

    def run_elsewhere(self, orphans: Sequence[BatchRow], running: Collection[int]) -> None:
        """Record which of these batches, read from the store, still run in another process; their reports will come."""
        self.elsewhere = {row.id: row for row in orphans if row.id in running}

    def _attach(self) -> None:
        """Make the batches that run elsewhere known like those of this engine, once all their graphs are loaded."""
        arena, table = self.scheduler.arena, self.scheduler.table
        for number, row in self.elsewhere.items():
            slots = [arena.slots.get(graph) for graph in row.places.graphs]
            bases = [slot.base for slot in slots if slot is not None]
            if number in self.batches or len(bases) < len(slots):
                continue
            parts = [positions + base for (_, positions), base in zip(row.segments, bases, strict=True)]
            positions = np.concatenate(parts).astype(np.int64)
            spec = table.specs[table.lane.item(arena.policy[positions[0]])]
            batch = Batch(number, spec, 0, members_of(arena, positions), row.started_at, row.deadline_at)
            count = len(positions)
            reported = np.zeros(count, bool) if row.kinds is None else row.kinds != OutcomeKind.PENDING
            self.batches[number] = Dispatched(batch, reported if len(reported) == count else np.zeros(count, bool))

    def cancel(self, executor: Executor, batch: int, members: np.ndarray, *, kill: bool) -> None:
        """Cancel running members of a batch; with ``kill``, also record that the batch is being killed."""
        if kill:
            self.killed.add(batch)
        executor.cancel(batch, members, kill=kill)

    def only_members(self, report: CallReport) -> CallReport:
        """Return the report without members that do not belong to its batch."""
        dispatched = self.batches.get(report.batch)
        return report if dispatched is None else dispatched.only_members(report)

    def sort(self, reports: Sequence[CallReport], accepted: Sequence[Accepted], first: int, now: int) -> Sorter:
        """Return the rows that a turn stores for these reports, and give check results to the deployments in memory.

        ``first`` is the index among the turn's events of the first report that has members.
        """
        if self.elsewhere:
            self._attach()
        sorter = Sorter(now, self._deployments.secrets)
        answers = {answer.index: answer for answer in accepted}
        index = first
        for report in reports:
            answer = None
            if len(report.members):
                answer = answers.get(index)
                index += 1
            dispatched = self.batches.get(report.batch)
            if dispatched is None:
                sorter.take(report, answer, self._origins.get(report.batch), set())
                continue
            batch = dispatched.batch
            if report.documents or report.remarks:
                sorter.take(report, answer, BatchOrigin.of(batch), self._given_up(batch, answer))
            else:
                sorter.logs.extend(report.logs)
            if not report.is_noted:
                sorter.failures(batch, report, answer, self._instance_of)
                if batch.lane.phase.startswith(HOOKS):
                    from phaseline.calls.deployments.hook_decisions import warned

                    self._deployments.decide(batch, report)
                    sorter.events.extend(warned(batch, report, now))
                if leaves_results(batch):
                    made = checks_made(batch, report, answer, self.scheduler.arena, now, self._topology)
                    sorter.checks.extend(made)
                if dispatched.report(report.members):
                    self._forget_answered(batch)
        for vouch in self.vouched:
            sorter.checks.extend(vouched_for(vouch, self.scheduler.arena, now))
        self.vouched.clear()
        for kept, event in self.signals:
            sorter.keep(kept, altered(event, at=now))
        self.signals.clear()
        if sorter.checks:
            self._deployments.checked(sorter.checks)
        if reports:
            self._on_reports()
        return sorter

    def _forget_answered(self, batch: Batch) -> None:
        """Remove a batch with reports for all members; remember only the executions of its members."""
        del self.batches[batch.id]
        self.killed.discard(batch.id)
        self.elsewhere.pop(batch.id, None)
        self._origins[batch.id] = BatchOrigin.of(batch)
        while len(self._origins) > ORIGINS_KEPT:
            del self._origins[next(iter(self._origins))]

    def instance_name(self, segment: GraphSegment, place: int) -> str:
        """Return the id of the member's instance, or the deployment's name if the member has no instance."""
        instance = self._instance_of(segment, place)
        loaded = self._deployments.loaded(segment.deployment)
        return loaded.topology.ids[instance] if instance >= 0 else loaded.view.id

    def _topology(self, deployment: int) -> Topology:
        return self._deployments.loaded(deployment).topology

    def _instance_of(self, segment: GraphSegment, place: int) -> int:
        """Return the index of the member's instance; of a relationship, that of the instance on the called side."""
        return called_side(self._topology(segment.deployment), segment.kind, int(segment.subjects[place]))

    def _given_up(self, batch: Batch, answer: Accepted | None) -> set[int]:
        """Return the members that were rejected because their calls had been given up."""
        found: set[int] = set()
        if answer is None or not len(answer.rejected):
            return found
        arena = self.scheduler.arena
        stored: dict[int, np.ndarray] = {}
        for member in answer.rejected.tolist():
            segment, place = batch.members.place_of(member)
            graph, position = segment.graph, int(segment.positions[place])
            slot = arena.slots.get(graph)
            if slot is not None:
                status = arena.status[slot.base + position]
            else:
                if graph not in stored:
                    stored[graph] = self._store.statuses(graph)
                status = stored[graph][position]
            if status in GIVEN_UP:
                found.add(member)
        return found


class Backlog:
    """Reports that have come and are not yet handled, because one turn takes only a limited number of outcomes."""

    def __init__(self, outstanding: OpenBatches) -> None:
        """Start empty. ``outstanding`` knows which members a report may have."""
        self._outstanding = outstanding
        self._reports: deque[CallReport] = deque()

    def __bool__(self) -> bool:
        """Return True if reports wait for the next turn."""
        return bool(self._reports)

    def take(self, new: Iterable[CallReport]) -> list[CallReport]:
        """Add new reports; remove and return the oldest ones, as many as one turn handles."""
        self._reports.extend(new)
        taken: list[CallReport] = []
        room = TURN_ENTRIES
        while self._reports and room > 0:
            report = self._reports.popleft()
            taken.append(self._outstanding.only_members(report))
            room -= len(report.members)
        return taken
