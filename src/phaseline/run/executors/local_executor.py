"""The executor of one machine: threads of this process for functions, worker processes for what must be killable."""

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
from phaseline.run.executors.thread_executor import ThreadExecutor, same_for_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.calls.batches.caller_registry import CallerRegistry
    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.calls.protocol.reports import CallReport
    from phaseline.calls.threads.inbox import Inbox
    from phaseline.model.execution.events import Batch
    from phaseline.model.rows.incarnations import Names
    from phaseline.model.rows.rows import BatchRow
    from phaseline.ports.catalog import Catalog
    from phaseline.ports.clock import Clock
    from phaseline.run.executors.process_executor import WorkerExecutor


@frozen
class Slots:
    """The number of calls that run at the same time: ``bulk`` and ``threads`` in this process, ``workers`` in other processes."""

    bulk: int = 16
    threads: int = 16
    workers: int = 8


SWITCH_S = 0.0005
"""How often Python changes between threads that compute while an engine lives. With its own 5 ms an outcome waits for its
commit as long as half a second beside eight calls that compute: a turn gives the interpreter away at each statement."""


class LocalExecutor:
    """Implements ``ports.executor.Executor``. ``submit``, ``cancel``, ``recover`` and ``stop`` are called in turns, never two at once."""

    def __init__(
        self,
        inbox: Inbox[CallReport],
        deployments: DeploymentCache,
        catalog: Catalog,
        clock: Clock,
        callers: CallerRegistry,
        slots: Slots | None = None,
    ) -> None:
        self._deployments = deployments
        self._slots = slots or Slots()
        self._poster = ReportBuffer(inbox)
        self._threads = ThreadExecutor(
            self._poster,
            catalog,
            callers,
            clock,
            bulk_slots=self._slots.bulk,
            each_slots=self._slots.threads,
        )
        self._catalog, self._clock = catalog, clock
        self._workers: WorkerExecutor | None = None
        self._is_held = False
        self._open: dict[int, BatchHandover] = {}
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(min(SWITCH_S, self._switch_s))
        install()

    def slots(self) -> Mapping[str, int]:
        """{pool name: how many calls it can hold at once}."""
        return {"bulk": self._slots.bulk, "threads": self._slots.threads, "workers": self._slots.workers}

    def submit(self, batch: Batch) -> None:
        """Begin the calls of a batch; returns at once."""
        handover = BatchHandover(batch, self._deployments)
        self._forget_answered()
        self._open[batch.id] = handover
        if batch.lane.pool == "workers" and batch.lane.form == "each":
            self._processes().submit(handover)
        else:
            self._threads.submit(handover)

    def cancel(self, batch: int, members: np.ndarray, *, kill: bool) -> None:
        """Report the cancel to running members; end their processes if ``kill``.

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
        """Stop beginning further calls; the batches of members that have not begun remain open."""
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
        """True while a call is running."""
        return self._threads.is_busy() or (self._workers is not None and self._workers.is_busy())

    def recover(self, open_batches: Sequence[BatchRow]) -> None:
        """End the processes that a dead engine's calls left running; what answered members left on purpose stays."""
        if open_batches:
            end(unanswered(self._deployments.names, open_batches), grace_s=0)

    def stop(self, drain_s: float) -> None:
        """Wait for running calls up to the drain time, then end them. Reports received until then are in the inbox.

        Members that have not begun are reported as ``again`` without a call. Ended calls are not reported.
        """
        until = time.monotonic() + drain_s
        self.hold()
        if self._workers is not None:
            self._workers.stop(drain_s)
        self._threads.stop(max(0.0, until - time.monotonic()))
        self._give_back()
        self._poster.stop()
        sys.setswitchinterval(self._switch_s)
        uninstall()

    def _processes(self) -> WorkerExecutor:
        """The executor of worker processes, which most commands do not need."""
        if self._workers is None:
            from phaseline.run.executors.process_executor import WorkerExecutor

            self._workers = WorkerExecutor(self._poster, self._catalog, self._clock, slots=self._slots.workers)
            if self._is_held:
                self._workers.hold()
        return self._workers

    def _give_back(self) -> None:
        """Report members that have not begun as not called, so that they are not unsure when an engine continues."""
        for handover in self._open.values():
            members = handover.close()
            if len(members):
                self._poster.outcomes(handover, same_for_all(handover, members, NOT_CALLED))

    def _forget_answered(self) -> None:
        """Drop batches whose members all have outcomes."""
        for batch in [batch for batch, handover in self._open.items() if handover.left == 0]:
            del self._open[batch]


def unanswered(names: Names, open_batches: Sequence[BatchRow]) -> Callable[[str], bool]:
    """Whether a mark (``BatchHandover.mark_of``) is that of a member of these batches that has no outcome.

    Calls from before a restore are not looked for: the store that was copied may be at work, and they may be its own. It looks at
    the marks of living processes, which are few, and not at members, which may be a million.
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
