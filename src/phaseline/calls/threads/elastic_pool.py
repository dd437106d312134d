"""A pool of threads that call the members of batches one by one, with only as many threads as are useful.

Python runs one thread at a time. So calls that compute slow each other down: sixteen threads take longer than one.
Calls that wait leave time for others. So the pool begins with one thread. Every 2 ms it measures how much the process
computes, and then starts or ends threads.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from phaseline.calls.threads.thread_pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.calls.threads.inbox import Inbox

LOOK_S = 0.002
"""Seconds between two measurements that decide on the number of threads."""
SELDOM_S = 0.1
"""Seconds between two measurements while no call begins or ends."""
LINGER_S = 0.05
"""Seconds for which the measurements continue after all members were called, because starting them again costs more."""
LATE_S = 0.001
"""Delay in seconds from which a measurement shows that computing threads or other processes occupy the processor."""
BUSY = 0.7
"""Share of a processor from which the process counts as computing: then its threads may slow each other down."""
PATIENCE_S = 0.1
"""Seconds without a new call after which running calls count as long, and more threads are started in any case."""


class SizingRule(Protocol):
    """A rule that computes the number of threads, ``wanted``."""

    wanted: int

    def judge(self, now: float, *, late_s: float, share: float, begun: int) -> None:
        """Compute ``wanted``, the number of threads, again; called regularly while calls wait or run.

        ``late_s`` is the delay of this measurement, ``share`` the share of a processor used since the previous one,
        ``begun`` the number of calls that have begun in all.
        """
        ...

    def is_settled(self, now: float) -> bool:
        """Return True if ``wanted`` is unlikely to change soon; then it is computed less often."""
        ...


class Company:
    """The useful number of threads: one at first, at most ``size``, computed from regular measurements."""

    def __init__(self, size: int) -> None:
        """Start with one thread."""
        self.wanted = 1
        self._size = size
        self._begun = -1
        self._since = 0.0

    def judge(self, now: float, *, late_s: float, share: float, begun: int) -> None:
        """Compute ``wanted`` from the share of a processor used since the last time, and the calls begun in all."""
        if begun != self._begun:
            self._begun, self._since = begun, now
        if (share < BUSY and late_s < LATE_S) or now - self._since >= PATIENCE_S:
            self.wanted = min(2 * self.wanted, self._size)
        elif share >= BUSY and late_s >= LATE_S:
            self.wanted = max(1, self.wanted // 2)

    def is_settled(self, now: float) -> bool:
        """Return True if the maximum is wanted and no member was called for ``PATIENCE_S``."""
        return self.wanted == self._size and now - self._since >= PATIENCE_S


class Draw:
    """The members of a batch, which free threads take one after the other."""

    __slots__ = ("call_one", "count", "cursor")

    def __init__(self, count: int, call_one: Callable[[int], None]) -> None:
        """``call_one`` calls the member with a given index, below ``count``, and returns when the call has ended."""
        self.count = count
        self.call_one = call_one
        self.cursor = itertools.count()  # next() of it is one step of the interpreter: no lock

    def take(self, most: int) -> list[int]:
        """Return the next members, ``most`` at most, for a thread that calls several at once."""
        return [member for _ in range(most) if (member := next(self.cursor)) < self.count]


class Crew:
    """At most ``size`` threads that call members of batches, in the order of the batches."""

    def __init__(
        self,
        name: str,
        size: int,
        on_break: Callable[[BaseException], None],
        alarm: Callable[[float, Callable[[], None]], None],
        inbox: Inbox[Any] | None = None,
        *,
        company: SizingRule | None = None,
        look_s: float = LOOK_S,
    ) -> None:
        """Start no thread yet. ``name``, ``size``, ``on_break``, ``inbox`` are for the ``Pool`` that has the threads.

        ``alarm(seconds, ring)`` calls ``ring`` after that time. ``company`` computes the number of threads every
        ``look_s`` seconds.
        """
        self._pool = Pool(name, size, on_break, inbox)
        self._inbox = inbox
        self._company: SizingRule = Company(size) if company is None else company
        self._look_s = look_s
        self._alarm = alarm
        self._lock = threading.Lock()
        self._draws: deque[Draw] = deque()
        self._drawing = 0
        self._begun = 0
        self._is_looking = self._is_held = False
        self._due = self._looked = self._computed = self._had_work = 0.0

    def call(self, count: int, call_one: Callable[[int], None]) -> None:
        """Queue ``count`` members, each to be called by ``call_one(member)``."""
        self.put(Draw(count, call_one))

    def put(self, draw: Draw, *, is_first: bool = False) -> None:
        """Queue the members of a batch, behind other batches; with ``is_first``, before them."""
        with self._lock:
            if is_first:
                self._draws.appendleft(draw)
            else:
                self._draws.append(draw)
            more = self._more(draw.count)
            looks = not self._is_looking and (draw.count > 1 or not more)
            self._is_looking |= looks
        self._send(more)
        if looks:
            self._look_again(time.monotonic(), self._look_s)

    def begun(self, more: int) -> None:
        """Count ``more`` calls as begun: their thread began them together with a member from the queue."""
        self._begun += more

    def hold(self) -> None:
        """Begin no further calls."""
        self._is_held = True

    def release(self) -> None:
        """Begin calls again, first those that were held back."""
        with self._lock:
            self._is_held = False
            more = self._more(self._company.wanted if self._draws else 0)
            looks = not self._is_looking and bool(self._draws)
            self._is_looking |= looks
        self._send(more)
        if looks:
            self._look_again(time.monotonic(), self._look_s)

    def busy(self) -> int:
        """Return the number of threads that are calling members."""
        return self._pool.busy()

    def stop(self, drain_s: float) -> None:
        """Begin no further calls; wait up to ``drain_s`` seconds for running ones."""
        self._is_held = True
        self._pool.stop(drain_s)

    def _more(self, count: int) -> int:
        """Return the number of threads to start, given how many are busy. The caller holds the lock."""
        more = max(0, min(self._company.wanted - self._drawing, count))
        self._drawing += more
        return more

    def _send(self, more: int) -> None:
        for _ in range(more):
            self._pool.put(self._draw)

    def _draw(self) -> None:
        """Take members and call them until none is left, or more threads are running than wanted."""
        company = self._company
        while (draw := self._next()) is not None:
            if self._inbox is not None:
                self._inbox.look_after()  # of the batch before; a thread that goes home does it then
            cursor, count, call_one = draw.cursor, draw.count, draw.call_one
            while not self._is_held:
                if (member := next(cursor)) >= count:
                    self._end(draw)
                    break
                self._begun += 1  # two threads may count as one: it only shows whether anything moves
                call_one(member)
                if self._drawing > company.wanted:
                    break

    def _next(self) -> Draw | None:
        """Return the batch to take the next member from, or None if this thread is to end."""
        with self._lock:
            if self._draws and not self._is_held and self._drawing <= self._company.wanted:
                return self._draws[0]
            self._drawing -= 1
            return None

    def _end(self, draw: Draw) -> None:
        """Remove a batch that has no further members from the queue."""
        with self._lock:
            if self._draws and self._draws[0] is draw:
                self._draws.popleft()

    def _look_again(self, now: float, after_s: float) -> None:
        self._looked, self._computed = now, time.process_time()
        self._due = now + after_s
        self._alarm(after_s, self._look)

    def _look(self) -> None:
        """Compute the useful number of threads, and start missing ones."""
        now = time.monotonic()
        share = (time.process_time() - self._computed) / (now - self._looked)
        with self._lock:
            if self._draws:
                self._company.judge(now, late_s=now - self._due, share=share, begun=self._begun)
                self._had_work = now
            if self._is_held or now - self._had_work > LINGER_S:
                self._is_looking = False
                return
            more = self._more(self._company.wanted if self._draws else 0)
        self._send(more)
        self._look_again(now, SELDOM_S if self._company.is_settled(now) else self._look_s)
