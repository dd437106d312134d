"""The executor of one machine: functions run in threads of this process, killable calls in worker processes."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from phaseline.calls.batches.batch_handover import BatchHandover
from phaseline.calls.batches.member_call import NOT_CALLED
from phaseline.calls.batches.report_buffer import ReportBuffer
from phaseline.calls.threads.process_groups import end
from phaseline.calls.threads.stdout_capture import install, uninstall
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import OutcomeKind
from phaseline.run.executors.thread_executor import CallGate, ThreadExecutor, same_for_all

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from phaseline.calls.batches.caller_registry import CallerRegistry
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.model.execution.events import Batch
    from phaseline.model.rows.incarnations import Names
    from phaseline.model.rows.rows import BatchRow
    from phaseline.ports.catalog import Catalog
    from phaseline.ports.clock import Clock
    from phaseline.ports.lease import Lease
    from phaseline.run.executors.process_executor import WorkerExecutor


@frozen
class Slots:
    """The most calls at the same time: ``bulk`` and ``threads`` in this process, ``workers`` in worker processes."""

    bulk: int = 16
    threads: int = 16
    workers: int = 8


SWITCH_S = 0.0005
"""Seconds after which Python switches between busy threads while an engine runs.

With Python's default of 5 ms, eight computing calls delay the commit of an outcome by up to half a second: the thread
of the turn loses its place at each SQL statement.
"""


class LocalExecutor:
    """The ``ports.executor.Executor`` of one machine: calls run in threads of this process or in worker processes.

    ``submit``, ``cancel``, ``recover`` and ``stop`` are called in turns of the loop, never two at once.
    """

    def __init__(
        self,
        inbox: Inbox[CallReport],
        deployments: DeploymentCache,
        catalog: Catalog,
        clock: Clock,
        callers: CallerRegistry,
        slots: Slots | None = None,
        lease: Lease | None = None,
    ) -> None:
        """Start no thread yet. ``lease``: that of the engine; without it calls may always begin."""
        self._deployments = deployments
        self._slots = slots or Slots()
        self._poster = ReportBuffer(inbox)
        self._gate = CallGate(lease)
        self._threads = ThreadExecutor(
            self._poster,
            catalog,
            callers,
            clock,
            bulk_slots=self._slots.bulk,
            each_slots=self._slots.threads,
            gate=self._gate,
        )
        self._catalog, self._clock = catalog, clock
        self._workers: WorkerExecutor | None = None
        self._is_held = False
        self._open: dict[int, BatchHandover] = {}
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(min(SWITCH_S, self._switch_s))
        install()

    def slots(self) -> Mapping[str, int]:
        """Return {pool name: the most calls at the same time}."""
        return {"bulk": self._slots.bulk, "threads": self._slots.threads, "workers": self._slots.workers}

    def submit(self, batch: Batch) -> None:
        """Begin the calls of a batch, and return at once."""
        handover = BatchHandover(batch, self._deployments)
        self._forget_answered()
        self._open[batch.id] = handover
        if batch.lane.pool == "workers" and batch.lane.form == "each":
            self._processes().submit(handover)
        else:
            self._threads.submit(handover)

    def cancel(self, batch: int, members: np.ndarray, *, kill: bool) -> None:
        """Inform running calls of these members about the cancel; with ``kill``, end their processes.

        Members whose call has not begun are reported as ``again`` without a call.
        """
        handover = self._open.get(batch)
        if handover is None:
            return
        handover.canceled.update(members.tolist())
        if handover.batch.lane.pool == "workers" and self._workers is not None:
            self._workers.cancel(handover, members, kill=kill)
        elif kill and handover.batch.lane.form == "each":
            self._threads.kill(handover, members)

    def hold(self) -> None:
        """Begin no further calls. Members that have not begun stay in their open batches."""
        self._is_held = True
        self._threads.hold()
        if self._workers is not None:
            self._workers.hold()

    def release(self) -> None:
        """Begin the calls that were held back; later calls begin when they are submitted."""
        self._is_held = False
        self._threads.release()
        if self._workers is not None:
            self._workers.release()

    def is_busy(self) -> bool:
        """Return True while a call is running."""
        return self._threads.is_busy() or (self._workers is not None and self._workers.is_busy())

    def recover(self, open_batches: Sequence[BatchRow]) -> Collection[int]:
        """End processes that calls of a dead engine left running, except those of members that have answered.

        Return no batch, because calls end with the process that made them.
        """
        if open_batches:
            end(unanswered(self._deployments.names, open_batches), grace_s=0)
        return ()

    def stop(self, drain_s: float) -> None:
        """Wait up to ``drain_s`` seconds for running calls, then end them. Reports until then are in the inbox.

        Members that have not begun are reported as ``again`` without a call. Ended calls are not reported.
        """
        until = time.monotonic() + drain_s
        self.hold()
        self._gate.close()
        if self._workers is not None:
            self._workers.stop(drain_s)
        self._threads.stop(max(0.0, until - time.monotonic()))
        self._give_back()
        self._poster.stop()
        sys.setswitchinterval(self._switch_s)
        uninstall()

    def _processes(self) -> WorkerExecutor:
        """Return the executor of worker processes, created at the first use: most commands do not need it."""
        if self._workers is None:
            from phaseline.run.executors.process_executor import WorkerExecutor

            given = self._poster, self._catalog, self._clock
            self._workers = WorkerExecutor(*given, slots=self._slots.workers, gate=self._gate)
            if self._is_held:
                self._workers.hold()
        return self._workers

    def _give_back(self) -> None:
        """Report members that have not begun as not called, so that the next engine does not take them for unsure."""
        for handover in self._open.values():
            members = handover.close()
            if len(members):
                self._poster.outcomes(handover, same_for_all(handover, members, NOT_CALLED))

    def _forget_answered(self) -> None:
        """Drop batches whose members all have outcomes."""
        for batch in [batch for batch, handover in self._open.items() if handover.left == 0]:
            del self._open[batch]


def unanswered(names: Names, open_batches: Sequence[BatchRow]) -> Callable[[str], bool]:
    """Return a function that is True for the mark of a call of these batches that has no outcome.

    Marks are made by ``BatchHandover.mark_of``. Batches from before a restore are left out: their calls may belong to
    another copy of the store. The function is called for the few living processes, not for all members.
    """
    rows = {str(row.id): row for row in open_batches if row.id >= names.first_batch}

    def is_unanswered(mark: str) -> bool:
        owner, batch, text = mark.rsplit(":", 2) if mark.count(":") >= 2 else ("", "", "")
        row = rows.get(batch)
        if owner != names.present or row is None or not text.isdecimal():
            return False
        member = int(text)
        if row.kinds is not None:
            return member < len(row.kinds) and bool(row.kinds[member] == OutcomeKind.PENDING)
        return member < len(row.places.positions)

    return is_unanswered
