"""Calls given to one worker: the first one that has not ended is running, the ones behind it have not begun.

A letter holds several calls. The worker begins each call when the one before has ended, without asking, if there is a
permit for it (``permits``). The engine may take back calls that have not begun at any time. It learns that a call has
begun when the one before it has ended, because messages of a worker arrive in order.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from phaseline.run.executors.permits import Permits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from phaseline.calls.batches.worker_answers import Answers
    from phaseline.calls.protocol.call import PluginCall, Site
    from phaseline.calls.protocol.call_codec import Letter


class Assignment:
    """One call given to a worker.

    ``number``: its permit; ``is_told``: the letter has the site, whose code the worker loads first.
    """

    __slots__ = ("answers", "call", "is_told", "letter", "log", "number")

    def __init__(self, call: PluginCall, letter: Letter, answers: Answers, log: Callable[[str, str], None]) -> None:
        """``letter`` as ``letters.write_call`` makes it; ``answers`` what it asks, ``log(level, text)`` keeps a line."""
        self.call = call
        self.letter = letter
        self.answers = answers
        self.log = log
        self.number = 0
        self.is_told = False

    @property
    def site(self) -> Site:
        """The data it shares with other calls of its operation and node."""
        return self.call.site

    @property
    def mark(self) -> str:
        """The mark by which its processes are found."""
        mark: str = self.letter["mark"]
        return mark

    def answer(self, name: str, arguments: list[Any]) -> Any:
        """The answer to a question of the call."""
        return self.answers.answer(name, arguments)


class Assignments:
    """Calls of one worker that have not ended. Safe from any thread."""

    def __init__(self) -> None:
        self.permits = Permits()
        self.waker = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        """Readable when calls were taken back, so that the thread that attends to them checks again."""
        self._lock = threading.Lock()
        self._open: deque[Assignment] = deque()
        self._paused: set[int] = set()
        self._is_held = False

    @property
    def current(self) -> Assignment | None:
        """The running call, or the next to run; None if all calls have ended or were taken back."""
        try:
            return self._open[0]
        except IndexError:
            return None

    @property
    def has_more(self) -> bool:
        """True while calls wait behind the running one."""
        return len(self._open) > 1

    def permit(self, given: Sequence[Assignment]) -> None:
        """Let these begin, one after the other."""
        with self._lock:
            self._open.extend(given)
            self.permits.give(one.number for one in given)

    def end_current(self) -> None:
        """Note that the running call has ended: the next one runs, and further calls may begin."""
        with self._lock:
            self._open.popleft()
            if not self._is_held:
                self._resume()

    def pause(self) -> None:
        """Let none begin that has not begun."""
        with self._lock:
            self._is_held = True
            self._paused |= self.permits.take_back()

    def unpause(self) -> None:
        """Let the waiting calls begin when the running one has ended; at once if none runs."""
        with self._lock:
            self._is_held = False
            if self._open and self._open[0].number in self._paused:
                self._resume()

    def _resume(self) -> None:
        if self._paused:
            self.permits.give(sorted(self._paused))
            self._paused.clear()

    def take_back(self, *, only_behind: bool = False) -> list[Assignment]:
        """Take back and return the calls that have not begun. ``only_behind``: none if not even the first has begun."""
        with self._lock:
            taken = self.permits.take_back()
            if only_behind and self._open and self._open[0].number in taken:
                self.permits.give(sorted(taken))
                return []
            taken |= self._paused
            self._paused.clear()
            back = [one for one in self._open if one.number in taken]
            self._open = deque(one for one in self._open if one.number not in taken)
            if back:
                os.eventfd_write(self.waker, 1)
            return back

    def clear(self) -> None:
        """Forget all calls: their worker has ended."""
        with self._lock:
            self._open.clear()

    def look(self) -> None:
        """Reset ``waker``: the thread that attends to the calls is awake."""
        with self._lock, suppress(BlockingIOError):
            if self.waker >= 0:
                os.eventfd_read(self.waker)

    def runs(self, mark: str) -> bool:
        """True if the call of this mark runs; the calls that have not begun must have been taken back before.

        It is the last of the others: those before it have ended, though their end may not have been read yet.
        """
        with self._lock:
            return bool(self._open) and self._open[-1].mark == mark

    def close(self) -> None:
        """Close its pipes and files; safe to call twice."""
        with self._lock:
            self.permits.close()
            if self.waker >= 0:
                os.close(self.waker)
            self.waker = -1
