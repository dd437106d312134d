"""Calls in worker processes: whatever must be killable. Workers are warm, reused, and replaced after a crash or kill.

Calls of one batch that turn out to be short share a letter: one at first, twice as many each time that a letter took less
than ``LETTER_S``, at most ``MOST_CALLS``, and not so many that nothing is left for other workers (``chunks``). Each still
has its own time-out, end and mark of its processes (``attending``). Those that have not begun are taken back
(``permits``) when the one before them is slow, canceled or killed, when their worker dies, and when the engine leaves: another worker
calls them, and they never count as called. Workers that had nothing to do for ``IDLE_S`` end.
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


GROW_AFTER_S = 0.1
"""Calls that waited this long while all workers were busy get another worker: starting one takes as long."""
SHORT_S = 0.02
"""Calls shorter than this on average keep a core busy: more workers than cores would only slow each other down."""
CORES = os.cpu_count() or 1
LOOK_S = 0.02
IDLE_S = 60.0
"""Time without a call after which a worker ends."""


class Staff:
    """The useful number of worker processes: one at first, doubled each time calls have waited for ``GROW_AFTER_S``."""

    def __init__(self, size: int, is_starting: Callable[[], bool]) -> None:
        """Begin with one worker. ``is_starting``: whether a worker is not ready yet."""
        self.wanted = 1
        self.waiting = 0
        """Calls that have not begun."""
        self._is_starting = is_starting
        self._counting = threading.Lock()
        self._size = size
        self._since = 0.0
        self._begun = 0

    def wait(self, more: int) -> None:
        """Change the number of waiting calls."""
        with self._counting:
            self.waiting += more

    def shrink(self, left: int) -> None:
        """Set the number of workers after idle ones ended; it grows when calls wait again."""
        self.wanted = max(1, min(self.wanted, left))

    def judge(self, now: float, *, late_s: float, share: float, begun: int) -> None:  # noqa: ARG002 - others compute
        """Grow if calls have waited for long enough, and no worker is about to take them; for short ones only up to the cores."""
        if self.waiting <= 0 or self._is_starting() or not self._since:
            self._since, self._begun = now, begun
        elif now - self._since >= GROW_AFTER_S:
            are_short = (now - self._since) * self.wanted < SHORT_S * (begun - self._begun)
            if not (are_short and self.wanted >= CORES):
                self.wanted = min(2 * self.wanted, self._size)
            self._since, self._begun = now, begun

    def is_settled(self, now: float) -> bool:  # noqa: ARG002 - as others
        """True if the number has reached its maximum."""
        return self.wanted == self._size


class WorkerExecutor:
    """Calls batches of the lanes whose pool is ``workers``."""

    def __init__(
        self, poster: ReportBuffer, catalog: Catalog, clock: Clock, *, slots: int, idle_s: float = IDLE_S
    ) -> None:
        """No process is started before the first call. The workers make a catalog of the same class."""
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
        """[(start of idle time, worker)]: the worker used last is used next, so that the other workers can end."""
        self._idle_s = idle_s
        self._is_watched = False
        self._running = Calls()

    def submit(self, handover: BatchHandover) -> None:
        """Begin the calls of a batch."""
        channel = LocalChannel(handover, self._poster, self._catalog, self._clock)
        self._put(handover, channel, ChunkPace(), range(len(handover)))

    def cancel(self, handover: BatchHandover, members: np.ndarray, *, kill: bool) -> None:
        """Report the cancel to running calls; end their processes if ``kill``."""
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
        """Begin no member any more."""
        self._crew.hold()
        self._running.hold()
        for worker in {worker for worker, _ in self._running.all().values()}:
            self._running.take_back(worker)

    def release(self) -> None:
        """Begin members again."""
        self._running.is_held = False
        self._crew.release()

    def is_busy(self) -> bool:
        """True while a call is running."""
        return self._crew.busy() > 0

    def stop(self, drain_s: float) -> None:
        """Wait for running calls up to the drain time, then end them and all workers."""
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
        """Queue these members for a call; ``is_first``: before other waiting members."""

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
        """Give these members to a worker."""
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
            worker.call_all(given, chunk)
        finally:
            self._set_free(worker)

    # -- workers ------------------------------------------------------------------------------------------------

    def _worker(self) -> Worker:
        """An idle worker, or a new one if there is none. Raises ``OSError`` if no worker can be started."""
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
        """Keep an idle worker; discard one that has ended, or is about to."""
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
        """End workers that were idle for too long; schedule the next check for the time when another worker may be."""
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
