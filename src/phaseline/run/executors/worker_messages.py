"""The engine's side of a worker's calls: handle messages, answer questions, log output, and watch time limits.

Several short calls are sent in one letter. The worker begins a call when the one before has ended, unless the engine
has taken it back (``assignments``), and reports each end at once. So a letter costs each process few switches, and
the outcome of a call is stored without waiting for the other calls. The time of a call counts from the end of the
call before it.

Printed output does not name its call. So a call ends only when the engine has read its output (the worker asks for
that), and the engine reads output only while no other call can begin.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Protocol

from phaseline.calls.protocol.plugin_boundary import exception_text
from phaseline.calls.threads.guarded_calls import guarded_call
from phaseline.model.problems.problem import ProblemsError
from phaseline.run.executors.framing import PRINTED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from phaseline.run.executors.assignments import Assignment
    from phaseline.run.executors.framing import Message
    from phaseline.run.executors.worker_process import Worker

START_S = 60.0
"""Seconds after which a worker that is not ready, or has not loaded its code, counts as hanging."""
SLOW_S = 0.02
"""Seconds that a call may run before the calls behind it in its letter are taken back."""


class WorkerDied(Exception):
    """The worker's process ended during a call; a negative ``code`` is the number of the signal."""

    def __init__(self, code: int) -> None:
        """Store the exit code as ``subprocess`` reports it."""
        super().__init__(code)
        self.code = code


class TimedOut(Exception):
    """The call exceeded its time limit and was ended."""


class CallOwner(Protocol):
    """The owner of a worker's calls. Its methods are called in the thread that serves the worker."""

    def admit(self, worker: Worker, given: Sequence[Assignment]) -> None:
        """Permit those of the calls that may begin. All calls in ``given`` have already been sent to the worker."""
        ...

    def ended(self, one: Assignment, message: Message, took_s: float) -> None:
        """Handle the end of a call: the worker's message, and the seconds that the call took."""
        ...

    def failed(self, one: Assignment, error: WorkerDied | TimedOut | ProblemsError) -> None:
        """Handle a call that was ended or cannot be sent. None of its processes runs any more."""
        ...

    def give_back(self, back: Sequence[Assignment]) -> None:
        """Take back calls that have not begun. This worker will not begin them, so another worker must make them."""
        ...


class Attending:
    """Serves a worker during one letter of calls, until the last of them has ended."""

    def __init__(self, worker: Worker, owner: CallOwner, log: Callable[[str, str], None]) -> None:
        """Store the worker and the owner of the calls. ``log`` takes lines that arrive while no call runs."""
        self._worker = worker
        self._owner = owner
        self._log = log
        self._since = self._patience_ends = 0.0
        self._deadline = math.inf
        self._is_ending = False
        self.heard = 0
        """Number of received messages."""

    def until_ready(self) -> None:
        """Serve the worker until it is ready for calls. Raises ``Closed`` or ``TimedOut``."""
        self._deadline = time.monotonic() + START_S
        while not self._worker.is_ready:
            self._step()

    def until_over(self) -> None:
        """Serve the worker until every call has ended or was taken back. Raises ``Closed`` or ``TimedOut``."""
        self._look_at_clock()
        while self._worker.calls.current is not None:
            self._step()

    def until_ended(self, longest_s: float) -> None:
        """Serve a call that is being ended, for ``longest_s`` seconds at most. Ignore the result that it reports.

        Raises ``Closed`` or ``TimedOut``.
        """
        self._is_ending = True
        self._deadline = time.monotonic() + longest_s
        while self._worker.calls.current is not None:
            self._step()

    def last_words(self) -> None:
        """Handle the messages that the worker sent before its process ended. Raises ``Closed`` after the last one."""
        while True:
            message = self._worker.wire.receive()
            if "ask" not in message:
                self._handle(message)

    def finish_outputs(self) -> None:
        """Log printed lines, including a last line without an end of line."""
        for output in self._worker.outputs.values():
            output.finish(self._own_log)

    def _own_log(self, level: str, text: str) -> None:
        current = self._worker.calls.current
        (self._log if current is None else current.log)(level, text)

    def _step(self) -> None:
        """Wait for a message or output of the worker, but not beyond the deadline, and handle it.

        If none comes for some time, give back the calls that have not begun. Raises ``Closed`` if the connection to the
        worker is closed, ``TimedOut`` if the deadline has passed.
        """
        worker = self._worker
        if worker.wire.has_message():
            self._handle(worker.wire.receive())
            return
        now = time.monotonic()
        left = self._deadline - now
        if left <= 0 and not worker.wire.is_readable():
            raise TimedOut
        if worker.calls.has_more:
            if now >= self._patience_ends and not worker.wire.is_readable():
                self._patience_ends = now + SLOW_S
                self._owner.give_back(worker.calls.take_back(only_behind=True))
                return
            left = min(left, max(0.0, self._patience_ends - now))
        numbers = {number for number, _ in worker.poll.poll(None if left == math.inf else math.ceil(left * 1000))}
        if worker.wire.fileno() in numbers:  # ``Closed`` where another thread has closed it
            self._handle(worker.wire.receive())
        elif worker.calls.waker in numbers:
            worker.calls.look()
        elif not numbers.isdisjoint(worker.outputs):
            self._read(numbers)

    def _read(self, numbers: set[int]) -> None:
        """Log what the running call has printed to the output pipes among the file descriptors ``numbers``."""
        worker = self._worker
        are_others = worker.calls.has_more
        if are_others:
            worker.calls.pause()
            while worker.wire.has_message() or worker.wire.is_readable():
                self._handle(worker.wire.receive())
        for number in numbers:
            output = worker.outputs.get(number)
            if output is not None and not output.read(self._own_log):
                worker.poll.unregister(number)
        if are_others:
            worker.calls.unpause()

    def _handle(self, message: Message) -> None:
        self.heard += 1
        if "done" in message or "outcome" in message:
            self._ended(message)
        elif "log" in message:
            self._own_log(*message["log"])
        elif "lines" in message:
            level, lines = message["lines"]
            for line in lines:
                self._own_log(level, line)
        elif "ask" in message:
            self._answer(message)
        elif "begun" in message:
            current = self._worker.calls.current
            if current is not None:
                current.is_told = False
                self._look_at_clock()
        elif "ready" in message:
            self._worker.is_ready = True

    def _ended(self, message: Message) -> None:
        worker = self._worker
        current = worker.calls.current
        if current is None:
            return
        for output in worker.outputs.values():
            output.end_line(current.log)
        self._log = current.log
        took_s = time.monotonic() - self._since
        worker.calls.end_current()
        if not self._is_ending:
            self._look_at_clock()
            self._owner.ended(current, message, took_s)

    def _look_at_clock(self) -> None:
        """Begin to measure the current call's time: the previous call has ended, or the current call's code was loaded.

        While the worker loads the code of the call, the limit for loading applies instead of the call's limit.
        """
        current = self._worker.calls.current
        if current is None:
            return
        self._since = time.monotonic()
        self._patience_ends = self._since + SLOW_S
        limit_s = START_S if current.is_told else current.site.timeout_s
        self._deadline = self._since + limit_s if limit_s > 0 else math.inf

    def _answer(self, message: Message) -> None:
        if message["name"] == PRINTED:
            self.finish_outputs()
            answer: Message = {"value": None}
        else:
            current = self._worker.calls.current
            answer = {"error": "the call has ended"} if current is None else _answered(current.answer, message)
        self._worker.wire.send({"answer": message["ask"], **answer})


def _answered(answer: Callable[[str, list[Any]], Any], message: Message) -> Message:
    """Return the answer to a question as a message. Exceptions become messages too, as plugins may ask anything."""
    value, error = guarded_call(answer, message["name"], message["arguments"])
    if error is None:
        return {"value": value}
    if isinstance(error, ProblemsError):
        first = error.problems[0]
        return {"problem": [first.code, first.message, first.mend]}
    if isinstance(error, KeyError):
        return {"error": str(error.args[0]) if error.args else ""}
    return {"error": exception_text(error)}
