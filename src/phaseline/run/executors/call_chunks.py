"""Chunks: calls of one batch that are sent to a worker in one letter. Here they are made, begun and reported."""

from __future__ import annotations

import signal
import threading
from functools import partial
from typing import TYPE_CHECKING

from phaseline.calls.batches.member_call import NOT_CALLED, awaited_truth, ended_on_request, kept_data, remark_for
from phaseline.calls.batches.worker_answers import Answers
from phaseline.calls.protocol.call import COMPLETED, Outcome, outcome_of
from phaseline.calls.protocol.call_codec import read_outcome, write_call
from phaseline.model.graph.plugin_errors import NonRecoverableError, RecoverableError
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.problems.problem import ProblemsError
from phaseline.run.executors.assignments import Assignment
from phaseline.run.executors.worker_messages import TimedOut
from phaseline.run.executors.worker_process import signal_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from phaseline.calls.batches.batch_handover import BatchHandover
    from phaseline.calls.batches.local_channel import LocalChannel
    from phaseline.calls.batches.report_buffer import ReportBuffer
    from phaseline.calls.protocol.call import PluginCall
    from phaseline.model.rows.rows import DocumentChange
    from phaseline.run.executors.framing import Message
    from phaseline.run.executors.worker_messages import WorkerDied
    from phaseline.run.executors.worker_process import Worker

FROM_OUTSIDE = tuple(
    -int(one) for one in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
)
"""Exit codes of a process that was ended by a signal such as SIGTERM, sent from outside the engine."""
LETTER_S = 0.01
"""Intended duration, in seconds, of all calls of one letter together."""
MOST_CALLS = 64
"""The most calls in one letter."""


class ChunkPace:
    """The number of calls in one letter: 1 at first, doubled after each letter that took less than ``LETTER_S``."""

    def __init__(self) -> None:
        self.size = 1

    def learn(self, took_s: float, *, is_whole: bool) -> None:
        """Adjust ``size`` after a letter (one message with calls for a worker); ``took_s``: time of its calls together.

        ``is_whole`` is False if some of these calls were taken back from the worker before they began.

        >>> pace = ChunkPace()
        >>> [pace.size for _ in range(8) if pace.learn(0.001, is_whole=True) is None]
        [2, 4, 8, 16, 32, 64, 64, 64]
        >>> [pace.size for took_s in (0.015, 0.03) if pace.learn(took_s, is_whole=True) is None]
        [64, 32]
        >>> pace.learn(0.001, is_whole=False); pace.size
        1
        """
        if not is_whole:
            self.size = 1
        elif took_s > 2 * LETTER_S:
            self.size = max(1, self.size // 2)
        elif took_s <= LETTER_S:
            self.size = min(2 * self.size, MOST_CALLS)


class Calls:
    """The calls that workers run or may begin, by mark, and which of them are being killed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[str, tuple[Worker, Chunk]] = {}
        self._killed: set[str] = set()
        self._left: set[str] = set()
        self.is_held = False
        self.is_leaving = False

    def __len__(self) -> int:
        """Return the number of calls."""
        return len(self._open)

    def find(self, mark: str) -> tuple[Worker, Chunk] | None:
        """Return the worker that has the call, and the chunk that it belongs to; None if no worker has it."""
        with self._lock:
            return self._open.get(mark)

    def all(self) -> dict[str, tuple[Worker, Chunk]]:
        """Return all calls: {mark: (worker, chunk)}."""
        with self._lock:
            return dict(self._open)

    def hold(self) -> None:
        """Permit no further calls."""
        with self._lock:
            self.is_held = True

    def permit(self, worker: Worker, chunk: Chunk, given: Sequence[Assignment]) -> list[Assignment]:
        """Permit the worker to begin these calls, unless they are held or canceled. Return those not permitted."""
        with self._lock:
            found = [] if self.is_held else [one for one in given if chunk.begin(one)]
            self._open.update((one.mark, (worker, chunk)) for one in found)
            worker.calls.permit(found)
        return [one for one in given if one not in found] if len(found) < len(given) else []

    def take_back(self, worker: Worker) -> None:
        """Take back the calls that the worker has not begun, so that other workers make them."""
        back = worker.calls.take_back()
        if back:
            found = self.find(back[0].mark)  # those of a worker came together
            assert found is not None
            found[1].give_back(back)

    def close(self, mark: str) -> None:
        """Remove the call with this mark from the open calls, because it has ended or will not begin."""
        with self._lock:
            self._open.pop(mark, None)

    def kill(self, mark: str, worker: Worker) -> bool:
        """Mark a running call as killed, and give its worker no more calls. Return False if the call has ended.

        The caller must have taken back the calls behind it.
        """
        with self._lock:
            if mark not in self._open or not worker.calls.runs(mark):
                return False
            self._killed.add(mark)
            worker.condemn()  # here: the call may end before its kill begins, and no other one is to be hit
            return True

    def was_killed(self, mark: str) -> bool:
        """Return True if the call was marked as killed, and remove the mark."""
        was = mark in self._killed
        self._killed.discard(mark)
        return was

    def leave(self) -> dict[str, Worker]:
        """Return {mark: worker} of running calls, to be ended because the engine leaves.

        The next engine treats them as calls of a crashed engine. Calls that have ended are left out.
        """
        with self._lock:
            found = {mark: worker for mark, (worker, _) in self._open.items() if worker.calls.runs(mark)}
            self._left.update(found)
            return found

    def is_left(self, mark: str) -> bool:
        """Return True if the call was ended because the engine leaves."""
        return mark in self._left


class Chunk:
    """Calls of one batch that are sent to a worker together; it receives their ends as their ``CallOwner``."""

    def __init__(
        self,
        handover: BatchHandover,
        channel: LocalChannel,
        poster: ReportBuffer,
        calls: Calls,
        put_back: Callable[[list[int]], None],
    ) -> None:
        """Store the batch. ``put_back`` queues members that this worker has not begun, for other workers."""
        self._handover = handover
        self._channel = channel
        self._poster = poster
        self._calls = calls
        self._put_back = put_back
        self.took_s = 0.0
        """Seconds that the ended calls took together."""
        self.is_whole = True
        """False once a call was taken back."""

    def made(self, members: Sequence[int]) -> list[Assignment]:
        """Return the calls of these members. Report canceled members, and those that cannot be called, at once."""
        handover, channel, poster = self._handover, self._channel, self._poster
        found = []
        for member in members:
            if member in handover.canceled:
                poster.outcome(handover, member, NOT_CALLED)
                continue
            try:
                call = handover.call_of(member, channel)
                letter = write_call(call, inputs=call.inputs, mark=handover.mark_of(member))
            except (NonRecoverableError, ProblemsError) as error:
                if handover.begin(member):
                    outcome = outcome_of(error)
                    poster.outcome(handover, member, outcome, (), handover.remark_of(member, outcome))
                continue
            answers = Answers(handover.part_of(member).deployment, call, partial(self._note, member))
            found.append(Assignment(call, letter, answers, partial(channel.log_member, member)))
        return found

    def begin(self, one: Assignment) -> bool:
        """Return True if the call may begin, and count it as begun."""
        return one.call.member not in self._handover.canceled and self._handover.begin(one.call.member)

    def no_worker(self, given: Sequence[Assignment], error: OSError) -> None:
        """Report these calls as failed, because no worker process can be started."""
        failed = outcome_of(RecoverableError(f"no worker process can be started: {error}"))
        for one in given:
            if self._calls.is_leaving:
                self._poster.outcome(self._handover, one.call.member, NOT_CALLED)
            elif self._handover.begin(one.call.member):
                self._post(one, failed)

    # -- as the owner of calls of a worker -----------------------------------------------------------------------------

    def admit(self, worker: Worker, given: Sequence[Assignment]) -> None:
        """Permit the worker to begin those of the calls that are neither held nor canceled."""
        self.give_back(self._calls.permit(worker, self, given))

    def give_back(self, back: Sequence[Assignment]) -> None:
        """Queue calls that have not begun for other workers, which report those of canceled members."""
        if not back:
            return
        self.is_whole = False
        for one in back:
            self._handover.give_back(one.call.member)
            self._calls.close(one.mark)
        self._put_back([one.call.member for one in back])

    def ended(self, one: Assignment, message: Message, took_s: float) -> None:
        """Post the result of a call that took ``took_s`` seconds, as the worker's ``message`` reports it."""
        self.took_s += took_s
        mark, call = one.mark, one.call
        self._calls.close(mark)
        outcome = self._came_back(call, message)
        if self._calls.was_killed(mark):
            outcome = ended_on_request()
        changes: Sequence[DocumentChange] = ()
        if message.get("changes"):
            try:
                changes = one.answers.apply(message["changes"])
            except ProblemsError as error:  # a property that may not be stored fails the call
                outcome = outcome_of(error)
        if self._calls.is_left(mark):
            self._note(call.member, changes)
        else:
            self._post(one, outcome, changes)

    def failed(self, one: Assignment, error: WorkerDied | TimedOut | ProblemsError) -> None:
        """Post the result of a call whose processes were ended, or that cannot be sent."""
        mark = one.mark
        self._calls.close(mark)
        if isinstance(error, ProblemsError):
            if self._handover.begin(one.call.member):
                self._post(one, outcome_of(error))
        elif not self._calls.is_leaving and not self._calls.is_left(mark):
            killed = self._calls.was_killed(mark)
            self._post(one, ended_on_request() if killed else _lost(error, one.call))

    def _came_back(self, call: PluginCall, message: Message) -> Outcome:
        flavour = message.get("done")
        outcome = COMPLETED
        if flavour is None:
            outcome, flavour = read_outcome(message["outcome"]), message["flavour"]
        if flavour is not None:
            outcome = awaited_truth(outcome, self._handover.spot_of(call.member).policy, flavour)
        if message.get("data") is not None:
            call.data = message["data"]
            outcome = kept_data(self._handover, call, outcome)
        return outcome

    def _post(self, one: Assignment, outcome: Outcome, changes: Sequence[DocumentChange] = ()) -> None:
        call, handover = one.call, self._handover
        said_before = bool(one.letter["attempt"]) or one.letter["data"] is not None
        remark = remark_for(handover, call.member, outcome, said_before=said_before)
        self._poster.outcome(handover, call.member, outcome, [(call.member, change) for change in changes], remark)

    def _note(self, member: int, changes: Sequence[DocumentChange]) -> threading.Event:
        return self._poster.note(self._handover, member, [(member, change) for change in changes])


def _lost(error: WorkerDied | TimedOut, call: PluginCall) -> Outcome:
    """Return the outcome of a call whose process has ended or exceeded its time limit (W2)."""
    if isinstance(error, TimedOut):
        text = f"timed out after {call.site.timeout_s:g} s; its processes were ended"
        return outcome_of(RecoverableError(text) if call.site.timeout_recoverable else NonRecoverableError(text))
    how = f"by signal {signal_name(error.code)}" if error.code < 0 else f"with exit code {error.code}"
    if error.code in FROM_OUTSIDE and call.site.form != "function":
        said = f"the process that ran the script ended {how}; the script was ended too, at an unknown point"
        return Outcome(OutcomeKind.UNSURE, message=said)
    return outcome_of(NonRecoverableError(f"the process of the call ended {how}"))
