"""Calls given to one worker, in order: the first one runs, the others have not begun.

Several calls are sent in one message, a "letter". The worker begins each call when the one before has ended, if there
is a permit for it (``permits``). Until then the engine may take the call back. The engine knows that a call has begun
when the one before it has ended, because messages of a worker arrive in order.
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

    ``number`` is the number of its permit. ``is_told`` is True if the message with the call also describes the call
    site, so that the worker loads the site's code first.
    """

    __slots__ = ("answers", "call", "is_told", "letter", "log", "number")

    def __init__(self, call: PluginCall, letter: Letter, answers: Answers, log: Callable[[str, str], None]) -> None:
        """Store a call, its ``letter`` (from ``write_call``), ``answers`` to questions, and ``log(level, text)``."""
        self.call = call
        self.letter = letter
        self.answers = answers
        self.log = log
        self.number = 0
        self.is_told = False

    @property
    def site(self) -> Site:
        """The data that the call shares with other calls of its operation and node."""
        return self.call.site

    @property
    def mark(self) -> str:
        """The text in the environment of the call's processes, by which they are found."""
        mark: str = self.letter["mark"]
        return mark

    def answer(self, name: str, arguments: list[Any]) -> Any:
        """Return the answer to a question that the running call asks through the worker's pipe."""
        return self.answers.answer(name, arguments)


class Assignments:
    """The calls given to one worker that have not ended. Thread-safe."""

    def __init__(self) -> None:
        self.permits = Permits()
        self.waker = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        """A file descriptor that becomes readable when calls were taken back; it wakes the thread of the worker."""
        self._lock = threading.Lock()
        self._open: deque[Assignment] = deque()
        self._paused: set[int] = set()
        self._is_held = False

    @property
    def current(self) -> Assignment | None:
        """The running call, or else the next to run; None if all calls have ended or were taken back."""
        try:
            return self._open[0]
        except IndexError:
            return None

    @property
    def has_more(self) -> bool:
        """True while further calls wait behind the running one."""
        return len(self._open) > 1

    def permit(self, given: Sequence[Assignment]) -> None:
        """Add these calls behind the worker's other calls; each may begin when the one before it has ended."""
        with self._lock:
            self._open.extend(given)
            self.permits.give(one.number for one in given)

    def end_current(self) -> None:
        """Remove the running call, which has ended. Calls that ``pause`` held back may begin now."""
        with self._lock:
            self._open.popleft()
            if not self._is_held:
                self._resume()

    def pause(self) -> None:
        """Hold back all calls that have not begun."""
        with self._lock:
            self._is_held = True
            self._paused |= self.permits.take_back()

    def unpause(self) -> None:
        """Let held calls begin when the running one has ended, or at once if no call runs."""
        with self._lock:
            self._is_held = False
            if self._open and self._open[0].number in self._paused:
                self._resume()

    def _resume(self) -> None:
        if self._paused:
            self.permits.give(sorted(self._paused))
            self._paused.clear()

    def take_back(self, *, only_behind: bool = False) -> list[Assignment]:
        """Take back and return the calls that have not begun. They will be given to other workers.

        With ``only_behind``, take back only calls behind a call that runs: none if the first one has not begun.
        """
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
        """Forget all calls, because their worker has ended."""
        with self._lock:
            self._open.clear()

    def look(self) -> None:
        """Reset ``waker``, because the thread that serves the worker is awake."""
        with self._lock, suppress(BlockingIOError):
            if self.waker >= 0:
                os.eventfd_read(self.waker)

    def runs(self, mark: str) -> bool:
        """Return True if the call with this mark runs. The caller must have taken back all calls that have not begun.

        After that only the last call can be running. Calls before it have ended, even if the messages about their ends
        have not been read yet.
        """
        with self._lock:
            return bool(self._open) and self._open[-1].mark == mark

    def close(self) -> None:
        """Close the pipe of the permits and the file descriptor ``waker``. Safe to call twice."""
        with self._lock:
            self.permits.close()
            if self.waker >= 0:
                os.close(self.waker)
            self.waker = -1
