"""Threads that call the members of batches one by one: only as many threads as are useful.

Python runs one thread at a time. Calls that compute slow each other down when they share it: sixteen threads take
longer than one. Calls that wait leave time for others. So the pool begins with one thread. Every 2 ms it measures how
much the process computes, and then starts or ends threads.
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
"""Seconds between two looks at the useful number of threads."""
SELDOM_S = 0.1
"""Seconds between two looks while nothing moves."""
LINGER_S = 0.05
"""How long a watcher keeps looking after all members were called; starting another one costs more."""
LATE_S = 0.001
"""A look that comes so late had to wait itself: for a thread that computes, or for a processor."""
BUSY = 0.7
"""The share of a processor that a process uses when its threads get into one another's way."""
PATIENCE_S = 0.1
"""If no member was called for this time, calls are long: more threads are started in any case."""


class SizingRule(Protocol):
    """Computes the number of threads ``wanted``."""

    wanted: int

    def judge(self, now: float, *, late_s: float, share: float, begun: int) -> None:
        """Look again, because calls are waiting or running."""
        ...

    def is_settled(self, now: float) -> bool:
        """True when it is enough to look seldom."""
        ...


class Company:
    """How many threads are of use: one at first, at most ``size``; judged by what looks at the clock find."""

    def __init__(self, size: int) -> None:
        """Start with one thread."""
        self.wanted = 1
        self._size = size
        self._begun = -1
        self._since = 0.0

    def judge(self, now: float, *, late_s: float, share: float, begun: int) -> None:
        """``share``: the share of a processor used since the last look; ``begun``: how many calls have begun in all."""
        if begun != self._begun:
            self._begun, self._since = begun, now
        if (share < BUSY and late_s < LATE_S) or now - self._since >= PATIENCE_S:
            self.wanted = min(2 * self.wanted, self._size)
        elif share >= BUSY and late_s >= LATE_S:
            self.wanted = max(1, self.wanted // 2)

    def is_settled(self, now: float) -> bool:
        """True if the maximum is wanted and no member was called for a while."""
        return self.wanted == self._size and now - self._since >= PATIENCE_S


class Draw:
    """Members of a batch, drawn one after the other by free threads."""

    __slots__ = ("call_one", "count", "cursor")

    def __init__(self, count: int, call_one: Callable[[int], None]) -> None:
        """``call_one`` calls a member to its end."""
        self.count = count
        self.call_one = call_one
        self.cursor = itertools.count()  # next() of it is one step of the interpreter: no lock

    def take(self, most: int) -> list[int]:
        """The next members, for a thread that can take several at once."""
        return [member for _ in range(most) if (member := next(self.cursor)) < self.count]


class Crew:
    """At most ``size`` threads that draw members of batches, in the order of the batches."""

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
        """No thread is started yet. ``alarm(seconds, ring)`` has ``ring`` called then; ``inbox`` as for a pool.

        ``company`` is asked every ``look_s`` how many are of use.
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
        """Have ``count`` members called, each by ``call_one(member)``."""
        self.put(Draw(count, call_one))

    def put(self, draw: Draw, *, is_first: bool = False) -> None:
        """Have the members of the batch called; ``is_first``: before members of other batches."""
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
        """Count members that begin in addition to the drawn one."""
        self._begun += more

    def hold(self) -> None:
        """Begin no member any more."""
        self._is_held = True

    def release(self) -> None:
        """Begin members again, those first that were held back."""
        with self._lock:
            self._is_held = False
            more = self._more(self._company.wanted if self._draws else 0)
            looks = not self._is_looking and bool(self._draws)
            self._is_looking |= looks
        self._send(more)
        if looks:
            self._look_again(time.monotonic(), self._look_s)

    def busy(self) -> int:
        """The number of threads that draw members."""
        return self._pool.busy()

    def stop(self, drain_s: float) -> None:
        """Start no more members; wait for running calls up to the given time."""
        self._is_held = True
        self._pool.stop(drain_s)

    def _more(self, count: int) -> int:
        """The number of threads to start, given how many are busy. Call it under the lock."""
        more = max(0, min(self._company.wanted - self._drawing, count))
        self._drawing += more
        return more

    def _send(self, more: int) -> None:
        for _ in range(more):
            self._pool.put(self._draw)

    def _draw(self) -> None:
        """Draw and call until nothing is left, or others suffice."""
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
        """The batch to draw from; None: the thread is to go."""
        with self._lock:
            if self._draws and not self._is_held and self._drawing <= self._company.wanted:
                return self._draws[0]
            self._drawing -= 1
            return None

    def _end(self, draw: Draw) -> None:
        """True if no thread is left."""
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
