"""Calls in worker processes, for calls that must be killable. Workers are reused, and replaced after a crash or kill.

Several short calls of one batch are sent in one letter: one call at first, twice as many each time that a letter took
less than ``LETTER_S``, at most ``MOST_CALLS``, and only so many that other workers get calls too (``call_chunks``).
Each call has its own time limit, result and mark (``worker_messages``). Calls that have not begun are taken back
(``permits``) when the call before them is slow, canceled or killed, when their worker dies, and when the engine
leaves. Another worker makes them then. Workers without a call for ``IDLE_S`` seconds end.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from phaseline.calls.batches.local_channel import LocalChannel
from phaseline.calls.threads.elastic_pool import Crew, Draw
from phaseline.calls.threads.process_groups import GRACE_S
from phaseline.run.executors.call_chunks import Calls, Chunk, ChunkPace
from phaseline.run.executors.framing import Closed
from phaseline.run.executors.worker_process import Worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from phaseline.calls.batches.batch_handover import BatchHandover
    from phaseline.calls.batches.report_buffer import ReportBuffer
    from phaseline.ports.catalog import Catalog
    from phaseline.ports.clock import Clock
    from phaseline.run.executors.thread_executor import CallGate


GROW_AFTER_S = 0.1
"""Seconds that calls wait while all workers are busy before another worker is started, which takes about as long."""
SHORT_S = 0.02
"""Average seconds below which calls are short. With short calls, more workers than cores slow each other down."""
CORES = os.cpu_count() or 1
LOOK_S = 0.02
IDLE_S = 60.0
"""Seconds without a call after which a worker ends."""


class Staff:
    """The number of worker processes to use: one at first, doubled each time calls have waited for ``GROW_AFTER_S``."""

    def __init__(self, size: int, is_starting: Callable[[], bool]) -> None:
        """Begin with one worker. ``is_starting`` returns True if a worker is not ready yet."""
        self.wanted = 1
        self.waiting = 0
        """Number of calls that have not begun."""
        self._is_starting = is_starting
        self._counting = threading.Lock()
        self._size = size
        self._since = 0.0
        self._begun = 0

    def wait(self, more: int) -> None:
        """Add ``more`` to the number of waiting calls."""
        with self._counting:
            self.waiting += more

    def shrink(self, left: int) -> None:
        """Set the number of workers after idle ones have ended; it grows again when calls wait."""
        self.wanted = max(1, min(self.wanted, left))

    def judge(self, now: float, *, late_s: float, share: float, begun: int) -> None:  # noqa: ARG002 - others compute
        """Double the number of workers if calls have waited for ``GROW_AFTER_S`` and no worker is starting.

        If calls are short (``SHORT_S``), do so only while there are fewer workers than cores. ``begun``: number of
        calls that have begun in all. ``late_s`` and ``share`` are not used.
        """
        if self.waiting <= 0 or self._is_starting() or not self._since:
            self._since, self._begun = now, begun
        elif now - self._since >= GROW_AFTER_S:
            are_short = (now - self._since) * self.wanted < SHORT_S * (begun - self._begun)
            if not (are_short and self.wanted >= CORES):
                self.wanted = min(2 * self.wanted, self._size)
            self._since, self._begun = now, begun

    def is_settled(self, now: float) -> bool:  # noqa: ARG002 - as others
        """Return True if the number of workers has reached its maximum."""
        return self.wanted == self._size


class WorkerExecutor:
    """Calls the batches of lanes whose pool is ``workers``."""

    def __init__(
        self,
        poster: ReportBuffer,
        catalog: Catalog,
        clock: Clock,
        *,
        slots: int,
        gate: CallGate,
        idle_s: float = IDLE_S,
    ) -> None:
        """Start no process before the first call. Each worker creates its own catalog, of the class of ``catalog``."""
        self._gate = gate
        self._poster = poster
        self._catalog = catalog
        self._clock = clock
        kind = type(catalog)
        self._catalog_name = f"{kind.__module__}:{kind.__qualname__}"
        self._staff = Staff(slots, lambda: any(not worker.is_ready for worker in self._workers))
        alarm = poster.alarms.set
        self._crew = Crew("workers", slots, poster.fail, alarm, poster.inbox, company=self._staff, look_s=LOOK_S)
        self._lock = threading.Lock()
        self._workers: list[Worker] = []
        self._idle: list[tuple[float, Worker]] = []
        """[(start of idle time, worker)]. The worker used last is used again first, so that the others can end."""
        self._idle_s = idle_s
        self._is_watched = False
        self._running = Calls()

    def submit(self, handover: BatchHandover) -> None:
        """Begin the calls of a batch."""
        channel = LocalChannel(handover, self._poster, self._catalog, self._clock)
        self._put(handover, channel, ChunkPace(), range(len(handover)))

    def cancel(self, handover: BatchHandover, members: np.ndarray, *, kill: bool) -> None:
        """Inform running calls of these members about the cancel; with ``kill``, end their processes."""
        for member in members.tolist():
            mark = handover.mark_of(member)
            found = self._running.find(mark)
            if found is None:
                continue  # it has ended; or it is about to begin, and will see that it is not to
            worker, _ = found
            self._running.take_back(worker)
            if kill:
                if self._running.kill(mark, worker):
                    threading.Thread(target=worker.kill, args=(mark,), name="phaseline-kill", daemon=True).start()
            elif self._running.find(mark):
                try:
                    worker.cancel(mark)
                except Closed:
                    continue  # it has died; its own thread reports that

    def hold(self) -> None:
        """Begin no further calls."""
        self._crew.hold()
        self._running.hold()
        for worker in {worker for worker, _ in self._running.all().values()}:
            self._running.take_back(worker)

    def release(self) -> None:
        """Begin calls again."""
        self._running.is_held = False
        self._crew.release()

    def is_busy(self) -> bool:
        """Return True while a call is running."""
        return self._crew.busy() > 0

    def stop(self, drain_s: float) -> None:
        """Wait up to ``drain_s`` seconds for running calls, then end them and all workers."""
        self._crew.stop(drain_s)
        with self._lock:
            self._running.is_leaving = True
            workers, self._workers = self._workers, []
            self._idle.clear()
        running = self._running.leave()
        grace_s = GRACE_S if running else 0
        enders = [
            threading.Thread(target=worker.kill, args=(mark, grace_s), name="phaseline-kill", daemon=True)
            for mark, worker in running.items()
        ]
        for ender in enders:
            ender.start()
        until = time.monotonic() + 2 * GRACE_S
        for ender in enders:
            ender.join(max(0.0, until - time.monotonic()))
        if enders:  # the last output of ended calls is read before the workers are closed
            self._crew.stop(max(0.0, until - time.monotonic()))
        for worker in workers:
            worker.close()

    # -- several at a time --------------------------------------------------------------------------------------

    def _put(
        self,
        handover: BatchHandover,
        channel: LocalChannel,
        pace: ChunkPace,
        members: Sequence[int],
        *,
        is_first: bool = False,
    ) -> None:
        """Queue these members for a call, behind the waiting ones; with ``is_first``, before them."""

        def put_back(back: list[int]) -> None:
            self._put(handover, channel, pace, back, is_first=True)

        def call_some(place: int) -> None:
            behind = draw.take(min(pace.size - 1, (draw.count - place - 1) // (2 * self._staff.wanted)))
            chunk = Chunk(handover, channel, self._poster, self._running, put_back)
            self._call(chunk, [members[place], *(members[one] for one in behind)])
            pace.learn(chunk.took_s, is_whole=chunk.is_whole)

        draw = Draw(len(members), call_some)
        self._staff.wait(len(members))
        self._crew.put(draw, is_first=is_first)

    def _call(self, chunk: Chunk, members: Sequence[int]) -> None:
        """Send the calls of these members to a worker, and serve it until all have ended."""
        self._staff.wait(-len(members))
        self._crew.begun(len(members) - 1)
        given = chunk.made(members)
        if not given:
            return
        try:
            worker = self._worker()
        except OSError as error:
            chunk.no_worker(given, error)
            return
        try:
            if self._gate.may_begin():
                worker.call_all(given, chunk)
        finally:
            self._set_free(worker)

    # -- workers ------------------------------------------------------------------------------------------------

    def _worker(self) -> Worker:
        """Return an idle worker, or a new one. Raises ``OSError`` if no worker can be started."""
        while True:
            with self._lock:
                if not self._idle:
                    break
                _, worker = self._idle.pop()
            if worker.is_alive():
                return worker
            self._discard(worker)
        fresh = Worker(self._catalog_name)
        with self._lock:
            if not self._running.is_leaving:
                self._workers.append(fresh)
                return fresh
        fresh.close()
        raise OSError("the engine is leaving")

    def _set_free(self, worker: Worker) -> None:
        """Keep a worker for further calls, or discard it if it has ended or is about to."""
        if not worker.is_alive():
            self._discard(worker)
            return
        with self._lock:
            if self._running.is_leaving:
                return  # ``stop`` closes it
            self._idle.append((time.monotonic(), worker))
            is_watched, self._is_watched = self._is_watched, True
        if not is_watched:
            self._poster.alarms.set(self._idle_s, self._end_idle)

    def _discard(self, worker: Worker) -> None:
        with self._lock:
            if worker not in self._workers:
                return
            self._workers.remove(worker)
        worker.close()

    def _end_idle(self) -> None:
        """End workers that were idle for too long, and set an alarm for when the next idle worker is to end."""
        with self._lock:
            if self._running.is_leaving:
                return
            now = time.monotonic()
            gone = [worker for since, worker in self._idle if now - since >= self._idle_s]
            self._idle = self._idle[len(gone) :]
            self._workers = [worker for worker in self._workers if worker not in gone]
            if gone:
                self._staff.shrink(len(self._workers))
            self._is_watched = bool(self._idle)
            next_s = self._idle[0][0] + self._idle_s - now if self._idle else 0.0
        if next_s:
            self._poster.alarms.set(next_s, self._end_idle)
        for worker in gone:  # in threads: what rings must be short
            threading.Thread(target=worker.close, name="phaseline-close", daemon=True).start()
