"""One thread with an event loop, for plugin functions that are async."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from phaseline.run.plugin_code import attempt_async

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine

MAX_AT_ONCE = 1_000
"""Coroutines in progress at once; others wait their turn."""
LOOK_EVERY_S = 0.02
"""How often a draining loop looks whether its coroutines have ended."""


class LoopThread:
    """Runs coroutines to their end; its thread is started with the first one."""

    def __init__(self, on_break: Callable[[BaseException], None]) -> None:
        """Nothing runs yet. ``on_break`` hears what a ``finish`` raised."""
        self._on_break = on_break
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._room: asyncio.Semaphore | None = None
        self._lock = threading.Lock()
        self._running: set[asyncio.Task[None]] = set()
        self._begun = 0
        self._ended = 0

    def run(
        self,
        coroutine: Coroutine[object, object, object],
        finish: Callable[[BaseException | None], None],
        timeout_s: float = 0,
        timeout_error: BaseException | None = None,
    ) -> None:
        """Run it and call ``finish`` with what it raised, or None. After ``timeout_s`` (0: never) it is canceled."""
        with self._lock:
            loop = self._started()
            self._begun += 1
        loop.call_soon_threadsafe(self._begin, coroutine, finish, timeout_s, timeout_error)

    def is_busy(self) -> bool:
        """True while a coroutine has not ended."""
        return self._ended < self._begun

    def stop(self, drain_s: float) -> None:
        """Wait for coroutines at most so long, then cancel them and end the thread."""
        loop = self._loop
        if loop is None:
            return
        until = time.monotonic() + drain_s
        done = threading.Event()
        while self.is_busy() and time.monotonic() < until:
            done.wait(LOOK_EVERY_S)
        loop.call_soon_threadsafe(self._end)
        if self._thread is not None:
            self._thread.join(LOOK_EVERY_S * 50)

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
        """Cancel what still runs, and stop as soon as it has heard of that."""
        assert self._loop is not None
        for task in self._running:
            task.cancel()
        self._loop.call_soon(self._loop.call_soon, self._loop.stop)

    def _begin(
        self,
        coroutine: Coroutine[object, object, object],
        finish: Callable[[BaseException | None], None],
        timeout_s: float,
        timeout_error: BaseException | None,
    ) -> None:
        assert self._loop is not None
        task = self._loop.create_task(self._call(coroutine, finish, timeout_s, timeout_error))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _call(
        self,
        coroutine: Coroutine[object, object, object],
        finish: Callable[[BaseException | None], None],
        timeout_s: float,
        timeout_error: BaseException | None,
    ) -> None:
        assert self._room is not None
        async with self._room:
            raised = await attempt_async(_limited(coroutine, timeout_s, timeout_error))
        try:
            finish(raised)
        except BaseException as error:
            self._on_break(error)
            raise
        finally:
            self._ended += 1


async def _limited(
    coroutine: Coroutine[object, object, object], timeout_s: float, timeout_error: BaseException | None
) -> None:
    """Await it at most so long (0: without end); then raise ``timeout_error``."""
    import asyncio  # loaded by now: a loop runs this

    limit = asyncio.timeout(timeout_s or None)
    try:
        async with limit:
            await coroutine
    except TimeoutError:
        if limit.expired() and timeout_error is not None:
            raise timeout_error from None
        raise
