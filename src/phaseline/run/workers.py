"""Calls in worker processes: whatever must be killable. Workers are warm, reused, and replaced after a crash or kill."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from phaseline.model.failures import NonRecoverableError, RecoverableError
from phaseline.model.problem import ProblemsError
from phaseline.run.answers import Answers
from phaseline.run.calling import outcome_of
from phaseline.run.channel import LocalChannel
from phaseline.run.crew import Crew
from phaseline.run.letters import read_outcome, write_call
from phaseline.run.members import NOT_CALLED, awaited_truth, ended_on_request, kept_data, remark_for
from phaseline.run.processes import GRACE_S
from phaseline.run.wire import Closed
from phaseline.run.worker import Died, TimedOut, Worker, signal_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from phaseline.model.rows import DocumentChange
    from phaseline.ports import Catalog, Clock
    from phaseline.run.calling import Call, Outcome
    from phaseline.run.handover import HandOver
    from phaseline.run.posting import Poster
    from phaseline.run.wire import Message


class WorkerExecutor:
    """Calls batches of the lanes whose pool is ``workers``. Each thread of its pool holds one worker process."""

    def __init__(self, poster: Poster, catalog: Catalog, clock: Clock, *, slots: int) -> None:
        """No process is started before the first call. The workers make a catalog of the same class."""
        self._poster = poster
        self._catalog = catalog
        self._clock = clock
        kind = type(catalog)
        self._catalog_name = f"{kind.__module__}:{kind.__qualname__}"
        self._crew = Crew("workers", slots, poster.fail, poster.alarms.set, poster.inbox)
        self._own = threading.local()
        self._lock = threading.Lock()
        self._workers: list[Worker] = []
        self._running: dict[str, Worker] = {}
        self._killed: set[str] = set()
        self._left: set[str] = set()
        self._is_stopped = False

    def submit(self, handover: HandOver) -> None:
        """Begin the calls of a batch."""
        channel = LocalChannel(handover, self._poster, self._catalog, self._clock)
        call_one = partial(self._call_one, handover, channel)
        self._crew.call(len(handover), call_one)

    def cancel(self, handover: HandOver, members: np.ndarray, *, kill: bool) -> None:
        """Tell running calls that they are canceled; end their processes if ``kill``."""
        for member in members.tolist():
            mark = handover.mark_of(member)
            with self._lock:
                worker = self._running.get(mark)
                if worker is None:
                    continue  # it has ended; or it is about to begin, and will see that it is not to
                if kill:
                    self._killed.add(mark)
                    worker.condemn()  # here: the call may end before the thread begins, and no other one is to be hit
            if kill:
                threading.Thread(target=worker.kill, args=(mark,), name="phaseline-kill", daemon=True).start()
            else:
                try:
                    worker.cancel(mark)
                except Closed:
                    continue  # it has died; its own thread says so

    def hold(self) -> None:
        """Begin no member any more."""
        self._crew.hold()

    def release(self) -> None:
        """Begin members again."""
        self._crew.release()

    def is_busy(self) -> bool:
        """True while a call is running."""
        return self._crew.busy() > 0

    def stop(self, drain_s: float) -> None:
        """Wait for running calls at most so long, then end them and let all workers go."""
        self._crew.stop(drain_s)
        with self._lock:
            self._is_stopped = True
            running = dict(self._running)
            self._left.update(running)  # whoever goes on finds these calls as after a crash: they are not failed
            workers, self._workers = self._workers, []
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
        for worker in workers:
            worker.close()

    # -- one by one ---------------------------------------------------------------------------------------------

    def _call_one(self, handover: HandOver, channel: LocalChannel, member: int) -> None:
        poster = self._poster
        if member in handover.canceled:
            poster.outcome(handover, member, NOT_CALLED)
            return
        if not handover.begin(member):
            return
        try:
            call = handover.call_of(member, channel)
            letter = write_call(call, inputs=call.inputs, mark=handover.mark_of(member))
        except (NonRecoverableError, ProblemsError) as error:
            poster.outcome(handover, member, outcome := outcome_of(error), (), handover.remark_of(member, outcome))
            return
        answers = Answers(handover.part_of(member).deployment, call, partial(self._note, handover, member))
        documents: list[tuple[int, DocumentChange]] = []
        said_before = bool(call.attempt) or call.data is not None
        try:
            message = self._in_worker(handover, call, letter, channel, answers)
        except OSError as error:
            failed = outcome_of(RecoverableError(f"no worker process can be started: {error}"))
            outcome = NOT_CALLED if self._is_stopped else failed
        except ProblemsError as error:  # what it is to be given cannot be sent
            outcome = outcome_of(error)
        except (Died, TimedOut) as error:
            if self._is_stopped or letter["mark"] in self._left:
                return
            outcome = self._lost(error, call, letter["mark"])
        else:
            if message is None:
                poster.outcome(handover, member, NOT_CALLED)
                return
            outcome = self._came_back(handover, call, message)
            if letter["mark"] in self._killed:
                outcome = self._ended_on_request(letter["mark"])
            outcome, changes = _applied(answers, message, outcome)
            if letter["mark"] in self._left:
                self._note(handover, member, changes)
                return
            documents = [(member, change) for change in changes]
        remark = remark_for(handover, member, outcome, said_before=said_before)
        poster.outcome(handover, member, outcome, documents, remark)

    def _in_worker(
        self, handover: HandOver, call: Call, letter: dict[str, Any], channel: LocalChannel, answers: Answers
    ) -> Message | None:
        """What the worker answers; None if the call was canceled, or the engine left, while a worker was made for it."""
        mark = letter["mark"]
        worker = self._worker()
        with self._lock:
            if self._is_stopped or call.member in handover.canceled:
                return None
            self._running[mark] = worker
        try:
            return worker.call(
                letter,
                timeout_s=call.site.timeout_s,
                log=partial(channel.log_member, call.member),
                answer=answers.answer,
            )
        finally:
            with self._lock:
                del self._running[mark]

    def _worker(self) -> Worker:
        """The worker of this thread; a new one if there is none or it has ended."""
        worker: Worker | None = getattr(self._own, "worker", None)
        if worker is not None and worker.is_alive():
            return worker
        fresh = Worker(self._catalog_name)
        with self._lock:
            if self._is_stopped:
                fresh.close()
                raise OSError("the engine is leaving")
            if worker in self._workers:
                self._workers.remove(worker)
            self._workers.append(fresh)
        if worker is not None:
            worker.close()
        self._own.worker = fresh
        return fresh

    def _came_back(self, handover: HandOver, call: Call, message: Message) -> Outcome:
        outcome = read_outcome(message["outcome"])
        if message["flavour"] is not None:
            outcome = awaited_truth(outcome, handover.spot_of(call.member).policy, message["flavour"])
        if message["data"] is not None:
            call.data = message["data"]
            outcome = kept_data(handover, call, outcome)
        return outcome

    def _lost(self, error: Died | TimedOut, call: Call, mark: str) -> Outcome:
        """The outcome of a call whose process is no more (W2)."""
        if mark in self._killed:
            return self._ended_on_request(mark)
        if isinstance(error, TimedOut):
            text = f"timed out after {call.site.timeout_s:g} s; its processes were ended"
            return outcome_of(RecoverableError(text) if call.site.timeout_recoverable else NonRecoverableError(text))
        how = f"by signal {signal_name(error.code)}" if error.code < 0 else f"with exit code {error.code}"
        return outcome_of(NonRecoverableError(f"the process of the call ended {how}"))

    def _ended_on_request(self, mark: str) -> Outcome:
        self._killed.discard(mark)
        return ended_on_request()

    def _note(self, handover: HandOver, member: int, changes: Sequence[DocumentChange]) -> threading.Event:
        return self._poster.note(handover, member, [(member, change) for change in changes])


def _applied(answers: Answers, message: Message, outcome: Outcome) -> tuple[Outcome, list[DocumentChange]]:
    """What the call changed; a property that may not be stored fails the call."""
    try:
        return outcome, answers.apply(message["changes"])
    except ProblemsError as error:
        return outcome_of(error), []
