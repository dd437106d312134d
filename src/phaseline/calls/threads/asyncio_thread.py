"""One thread with an event loop, for plugin functions that are async."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from phaseline.calls.threads.guarded_calls import attempt_async
from phaseline.calls.threads.process_groups import GRACE_S

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Container, Coroutine

MAX_AT_ONCE = 1_000
"""The most coroutines in progress at the same time; the others wait."""
LEAVE_S = 2 * GRACE_S
"""Seconds that coroutines get to clean up when they are canceled because the engine stops."""
LOOK_EVERY_S = 0.02
"""Seconds between two checks whether all coroutines have ended, while the loop drains."""


class LoopThread:
    """A thread with an event loop that runs coroutines; it starts with the first coroutine."""

    def __init__(self, on_break: Callable[[BaseException], None]) -> None:
        """``on_break`` receives an exception raised by the ``finish`` of a ``run``, which is a bug of the engine."""
        self._on_break = on_break
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._room: asyncio.Semaphore | None = None
        self._lock = threading.Lock()
        self._running: dict[asyncio.Task[None], object] = {}
        self._is_left = self._is_stopped = False
        self._leaving: asyncio.Task[None] | None = None
        self._begun = 0
        self._ended = 0

    def run(
        self,
        coroutine: Coroutine[object, object, object],
        finish: Callable[[BaseException | None], None],
        timeout_s: float = 0,
        timeout_error: BaseException | None = None,
        mark: object = None,
        canceled: Container[object] = (),
    ) -> None:
        """Run a coroutine, then call ``finish`` with its exception or None. Cancel it after ``timeout_s`` (0: never).

        ``cancel`` finds the coroutine by ``mark``. If ``canceled`` contains the mark when the coroutine is about to
        begin, it is canceled at once.
        """
        with self._lock:
            if self._is_stopped:
                coroutine.close()  # nothing would receive its result
                return
            loop = self._started()
            self._begun += 1
            loop.call_soon_threadsafe(self._begin, coroutine, finish, timeout_s, timeout_error, mark, canceled)

    def cancel(self, mark: object) -> None:
        """Cancel the coroutine with this mark, if it is running."""
        with self._lock:
            if self._loop is not None and not self._is_stopped:
                self._loop.call_soon_threadsafe(self._cancel, mark)

    def is_busy(self) -> bool:
        """Return True while a coroutine has not ended."""
        return self._ended < self._begun

    def stop(self, drain_s: float) -> None:
        """Wait up to ``drain_s`` seconds for coroutines; then cancel them, ignore their results, and end the thread."""
        with self._lock:
            loop = self._loop
            if loop is None or self._is_stopped:
                self._is_stopped = True
                return
        until = time.monotonic() + drain_s
        done = threading.Event()
        while self.is_busy() and time.monotonic() < until:
            done.wait(LOOK_EVERY_S)
        with self._lock:
            self._is_stopped = True
            loop.call_soon_threadsafe(self._end)
        if self._thread is not None:
            self._thread.join(LEAVE_S + 1)

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            import asyncio  # 25 ms that most commands need not pay

            self._loop = asyncio.new_event_loop()
            self._room = asyncio.Semaphore(MAX_AT_ONCE)
            self._thread = threading.Thread(target=self._serve, args=(self._loop,), name="phaseline-async", daemon=True)
            self._thread.start()
        return self._loop

    @staticmethod
    def _serve(loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            loop.close()

    def _end(self) -> None:
        """Cancel all running tasks, including those that coroutines started; stop the loop when they have ended."""
        import asyncio

        assert self._loop is not None
        self._is_left = True
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._leaving = self._loop.create_task(self._leave(tasks))

    async def _leave(self, tasks: set[asyncio.Task[object]]) -> None:
        import asyncio

        assert self._loop is not None
        if tasks:
            await asyncio.wait(tasks, timeout=LEAVE_S)
        self._loop.stop()

    def _cancel(self, mark: object) -> None:
        for task in [task for task, given in self._running.items() if given == mark]:
            task.cancel()

    def _begin(
        self,
        coroutine: Coroutine[object, object, object],
        finish: Callable[[BaseException | None], None],
        timeout_s: float,
        timeout_error: BaseException | None,
        mark: object,
        canceled: Container[object],
    ) -> None:
        assert self._loop is not None
        limited = self._in_turn(coroutine, timeout_s, timeout_error)
        task = self._loop.create_task(self._call(limited, finish, mark, canceled))
        task.add_done_callback(lambda _: (limited.close(), coroutine.close()))  # whatever ended before it began

    async def _call(
        self,
        coroutine: Coroutine[object, object, None],
        finish: Callable[[BaseException | None], None],
        mark: object,
        canceled: Container[object],
    ) -> None:
        import asyncio

        own = asyncio.current_task()
        assert own is not None
        self._running[own] = mark  # only here: a task that is canceled before it begins would report nothing
        own.add_done_callback(self._running.pop)
        raised = asyncio.CancelledError() if mark in canceled else await attempt_async(coroutine)
        try:
            if not self._is_left:
                finish(raised)
        except BaseException as error:
            self._on_break(error)
            raise
        finally:
            self._ended += 1

    async def _in_turn(
        self, coroutine: Coroutine[object, object, object], timeout_s: float, timeout_error: BaseException | None
    ) -> None:
        assert self._room is not None
        async with self._room:
            await _limited(coroutine, timeout_s, timeout_error)


async def _limited(
    coroutine: Coroutine[object, object, object], timeout_s: float, timeout_error: BaseException | None
) -> None:
    """Await the coroutine for ``timeout_s`` seconds at most (0: no limit); after that raise ``timeout_error``."""
    import asyncio  # loaded by now: a loop runs this

    limit = asyncio.timeout(timeout_s or None)
    try:
        async with limit:
            await coroutine
    except TimeoutError:
        if limit.expired() and timeout_error is not None:
            raise timeout_error from None
        raise
