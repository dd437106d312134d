"""Calls in this process: bulk functions and per-instance functions run in threads, async functions in an event loop."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from phaseline.calls.batches.bulk_call import BulkCall
from phaseline.calls.batches.caller_registry import call_member, gathers
from phaseline.calls.batches.member_call import (
    NOT_CALLED,
    awaited_truth,
    ended_on_request,
    kept_data,
    post_call,
    remark_for,
    resolve,
    settle_call,
)
from phaseline.calls.protocol.call import COMPLETED, outcome_of, unloadable
from phaseline.calls.protocol.reports import CallReport
from phaseline.calls.threads.asyncio_thread import LoopThread
from phaseline.calls.threads.elastic_pool import Crew
from phaseline.calls.threads.guarded_calls import call_and_await, guarded_call, is_async
from phaseline.calls.threads.stdout_capture import Printed
from phaseline.calls.threads.thread_pool import Pool
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.operation_declaration import declaration_of
from phaseline.model.graph.plugin_errors import NonRecoverableError, RecoverableError, TemporaryError
from phaseline.model.phases.phase_code import PhaseCode

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from phaseline.calls.batches.batch_handover import BatchHandover, FunctionGroup
    from phaseline.calls.batches.bulk_call import BulkOutcome, Gathers, Together
    from phaseline.calls.batches.caller_registry import CallerRegistry
    from phaseline.calls.batches.local_channel import LocalChannel
    from phaseline.calls.batches.report_buffer import ReportBuffer
    from phaseline.calls.protocol.call import Outcome, PluginCall
    from phaseline.model.graph.graph import Policy
    from phaseline.model.phases.definitions import PhaseDefinition
    from phaseline.model.rows.rows import DocumentChange
    from phaseline.ports.catalog import Catalog
    from phaseline.ports.clock import Clock
    from phaseline.ports.lease import Lease

LOOK_S = 0.02
"""Seconds between two checks of a late lease."""


class CallGate:
    """Lets calls begin as long as their engine's lease is neither late nor lost (HA2). Thread-safe.

    A process may be stopped for a long time between any two statements, for example by SIGSTOP. When it continues, its
    threads run before the engine has noticed anything, and the next owner may have completed what they are about to call.
    What remains is a call whose thread has passed this check before the process was stopped: only its token guards it.
    """

    def __init__(self, lease: Lease | None = None) -> None:
        """``lease``: that of the engine; None: calls may always begin."""
        self._lease = lease
        self._closed = threading.Event()

    def may_begin(self) -> bool:
        """Return True if a call may begin; wait while the lease is late. Return False if it is lost, or after ``close``."""
        lease = self._lease
        if lease is None or not lease.is_late():
            return True
        while lease.is_late():
            if lease.is_lost() or self._closed.wait(LOOK_S):
                return False
        return True

    def close(self) -> None:
        """Let no call wait any longer, because the engine ends."""
        self._closed.set()


class ThreadExecutor:
    """Calls the batches of lanes whose pool is ``threads``."""

    def __init__(
        self,
        poster: ReportBuffer,
        catalog: Catalog,
        callers: CallerRegistry,
        clock: Clock,
        *,
        bulk_slots: int,
        each_slots: int,
        gate: CallGate,
    ) -> None:
        """Create two pools of threads, so that slow per-instance calls never delay bulk calls."""
        self._gate = gate
        self._poster = poster
        self._catalog = catalog
        self._callers = callers
        self._clock = clock
        self._bulk = Pool("bulk", bulk_slots, poster.fail, poster.inbox)
        self._each = Crew("each", each_slots, poster.fail, poster.alarms.set, poster.inbox)
        self._loop = LoopThread(poster.fail)
        self._is_held = False
        self._holding = threading.Lock()
        self._held_back: list[Callable[[], None]] = []
        """Bulk calls that would have begun while calls were held. ``stop`` does not call them."""
        self._calling: dict[BatchHandover, set[int]] = {}
        self._giving_up = threading.Lock()
        self._killed: set[str] = set()

    def submit(self, handover: BatchHandover) -> None:
        """Begin the calls of a batch."""
        from phaseline.calls.batches.local_channel import LocalChannel  # only where something is called

        channel = LocalChannel(handover, self._poster, self._catalog, self._clock)
        if handover.batch.lane.form == "bulk":
            if handover.batch.deadline_at:
                self._watch(handover)
            if handover.definition is not None:
                self._watch_length(handover, handover.definition, channel)
            for group in handover.groups():
                self._bulk.put(partial(self._call_group, handover, group, channel))
        else:
            call_one = partial(self._call_one, handover, channel)
            self._each.call(len(handover), call_one)

    def kill(self, handover: BatchHandover, members: np.ndarray) -> None:
        """Cancel the coroutines of these members, and call the functions that they gave to ``on_kill``.

        Code that runs in a thread cannot be ended (PD47).
        """
        for member in members.tolist():
            handover.kill(member)
            mark = handover.mark_of(member)
            self._killed.add(mark)
            self._loop.cancel(mark)

    def hold(self) -> None:
        """Begin no further calls."""
        with self._holding:
            self._is_held = True
        self._each.hold()

    def release(self) -> None:
        """Begin calls again, first those that were held back."""
        with self._holding:
            self._is_held = False
            held_back, self._held_back = self._held_back, []
        for task in held_back:
            self._bulk.put(task)
        self._each.release()

    def is_busy(self) -> bool:
        """Return True while a call is running."""
        return self._bulk.busy() > 0 or self._each.busy() > 0 or self._loop.is_busy()

    def stop(self, drain_s: float) -> None:
        """Begin no further calls; wait up to ``drain_s`` seconds in all for running ones."""
        self._is_held = True
        until = time.monotonic() + drain_s
        for pool in (self._bulk, self._each):
            pool.stop(max(0.0, until - time.monotonic()))
        self._loop.stop(max(0.0, until - time.monotonic()))

    # -- one by one ---------------------------------------------------------------------------------------------

    def _call_one(self, handover: BatchHandover, channel: LocalChannel, member: int) -> None:
        """Call one member and post its result. An async function is only started; its result is posted when it ends."""
        if member in handover.canceled:
            self._poster.outcome(handover, member, NOT_CALLED)
            return
        if not self._gate.may_begin() or not handover.begin(member):
            return
        try:
            spot, call = handover.spot_and_call(member, channel)
        except NonRecoverableError as error:
            self._poster.outcome(
                handover, member, outcome := outcome_of(error), (), handover.remark_of(member, outcome)
            )
            return
        with Printed(partial(channel.log_member, member)) as printed:
            flavour = resolve(spot, call).flavour
            if spot.is_async and spot.function is not None and flavour is not None and gathers(flavour):
                self._begin_async(handover, call, spot.policy, printed, flavour, spot.function)
                return
            outcome = call_member(call, flavour, self._callers) if flavour is not None else COMPLETED
        printed.close()
        if flavour is None:
            outcome = spot.refusal or COMPLETED
        else:
            outcome = awaited_truth(outcome, spot.policy, flavour)
        post_call(self._poster, handover, call, outcome)

    def _begin_async(
        self,
        handover: BatchHandover,
        call: PluginCall,
        policy: Policy,
        printed: Printed,
        flavour: Gathers,
        function: Callable[..., object],
    ) -> None:
        remembered = (0,) if call.data is not None else ()
        doubted = (0,) if call.is_doubted else ()
        together = self._callers.gather(flavour, BulkCall(1, lambda _: call, call.log, remembered, doubted))
        timeout_s = policy.timeout_ms / 1000
        mark = handover.mark_of(call.member)

        def finish(raised: BaseException | None) -> None:
            printed.close()
            outcome = together.settle_only(raised)
            if mark in self._killed:
                self._killed.discard(mark)
                outcome = ended_on_request()
            post_call(self._poster, handover, call, outcome)

        error = _timed_out(timeout_s, policy.timeout_recoverable)
        self._loop.run(_coroutine(together.code(function)), finish, timeout_s, error, mark, self._killed)

    # -- in bulk ------------------------------------------------------------------------------------------------

    def _holds_back(self, task: Callable[[], None]) -> bool:
        """Keep this bulk call until ``release`` and return True if calls are held; otherwise return False."""
        with self._holding:
            if self._is_held:
                self._held_back.append(task)
            return self._is_held

    def _call_group(self, handover: BatchHandover, group: FunctionGroup, channel: LocalChannel) -> None:
        if self._is_held and self._holds_back(partial(self._call_group, handover, group, channel)):
            return
        with Printed(partial(channel.log_together, group.members)) as printed:
            function = self._bulk_function(handover, group)
        printed.close()
        if function is None:
            return
        declaration = declaration_of(function)
        if declaration is None or not declaration.bulk or not gathers(declaration.flavour):
            for member in group.members.tolist():
                self._call_one(handover, channel, member)
            return
        self._call_together(handover, channel, function, declaration.flavour, [group.members])

    def _call_together(
        self,
        handover: BatchHandover,
        channel: LocalChannel,
        function: Callable[..., object],
        flavour: Gathers,
        waiting: list[np.ndarray],
    ) -> None:
        """Call the groups of members in ``waiting`` one after the other.

        If a call raises and its function asks for bisection, the two halves of its group are called next (X3).
        """
        while waiting:
            members = self._still_wanted(handover, waiting.pop(0))
            if not len(members) or not self._gate.may_begin() or not handover.begin_all(members):
                continue
            log = partial(channel.log_together, members)
            printed = Printed(log)
            call_of = partial(_call_at, handover, members, channel)
            together = self._callers.gather(
                flavour,
                BulkCall(len(members), call_of, log, handover.remembered(members), handover.doubted(members)),
            )
            finish = partial(self._finish_bulk, handover, members, together, printed, waiting)
            code = together.code(function)
            if is_async(function):
                timeout_s, error = self._limit(handover)

                def go_on(raised: BaseException | None, finish: Callable[..., None] = finish) -> None:
                    finish(raised)
                    self._call_together(handover, channel, function, flavour, waiting)

                with printed:
                    self._loop.run(_coroutine(code), go_on, timeout_s, error)
                return
            with printed:
                raised = self._called(handover, code)
            finish(raised)

    def _called(self, handover: BatchHandover, code: Callable[[], object]) -> BaseException | None:
        """Call the code of a plugin, and return its exception or None.

        If the batch has a deadline, the thread is recorded, so that it can be given up.
        """
        if not handover.batch.deadline_at:
            return guarded_call(call_and_await, code)[1]
        with self._giving_up:
            calling = self._calling.setdefault(handover, set())
            calling.add(threading.get_ident())
        _, raised = guarded_call(call_and_await, code)
        with self._giving_up:  # from here on this thread cannot be given up
            calling.discard(threading.get_ident())
        return raised

    def _bulk_function(self, handover: BatchHandover, group: FunctionGroup) -> Callable[..., object] | None:
        """Return the function of a group. If there is none, report its members as failed and return None."""
        if group.implementation:
            if isinstance(group.code, PhaseCode):
                function, error = guarded_call(self._catalog.load_phase, group.code)
            else:
                function, error = guarded_call(self._catalog.load, group.implementation, group.code)
            if error is None:
                return function
            shared = unloadable(error, group.implementation)
        else:
            text = f"no function is mapped to '{handover.batch.lane.phase}' (any more)"
            shared = outcome_of(NonRecoverableError(text))
        self._answer(handover, group.members, shared)
        return None

    def _still_wanted(self, handover: BatchHandover, members: np.ndarray) -> np.ndarray:
        """Return the members that still have to be called: those without an outcome and not canceled.

        Report the canceled ones as not called.
        """
        if handover.left < handover.count:
            members = members[np.frombuffer(handover.answered, np.uint8)[members] == 0]
        if not handover.canceled:
            return members
        is_canceled = np.isin(members, np.fromiter(handover.canceled, np.int32))
        if is_canceled.any():
            self._answer(handover, members[is_canceled], NOT_CALLED)
        kept: np.ndarray = members[~is_canceled]
        return kept

    def _finish_bulk(
        self,
        handover: BatchHandover,
        members: np.ndarray,
        together: Together,
        printed: Printed,
        waiting: list[np.ndarray],
        raised: BaseException | None,
    ) -> None:
        printed.close()
        settled = together.settle(raised)
        report = bulk_report(handover, members, settled)
        if isinstance(raised, TemporaryError) and raised.throttled:
            report = altered(report, is_throttled=True)
        if len(settled.fallen) > 1:
            fallen = members[np.array(settled.fallen)]
            waiting[:0] = np.array_split(fallen, 2)
            is_fallen = np.isin(members, fallen)
            self._poster.data(as_noted(report.of(is_fallen)))
            report = report.of(~is_fallen)
        if len(report.members):
            self._poster.outcomes(handover, report, is_last=not waiting)
        if not handover.left:
            self._calling.pop(handover, None)

    def _answer(self, handover: BatchHandover, members: np.ndarray, outcome: Outcome) -> None:
        """Post one outcome for all these members."""
        self._poster.outcomes(handover, same_for_all(handover, members, outcome))

    # -- time-outs ----------------------------------------------------------------------------------------------

    def _watch(self, handover: BatchHandover) -> None:
        """Give up a bulk call at the deadline of its batch. Its thread continues, and another replaces it (PD47)."""
        timeout_s, error = self._limit(handover)

        def give_up() -> None:
            members = handover.unanswered()
            if len(members):
                with self._giving_up:
                    for thread in self._calling.pop(handover, ()):
                        self._bulk.abandon(thread)
                self._answer(handover, members, outcome_of(error))

        self._poster.alarms.set(timeout_s, give_up)

    def _watch_length(self, handover: BatchHandover, phase: PhaseDefinition, channel: LocalChannel) -> None:
        """Warn once about a run of a phase that takes longer than allowed; the run continues (decision 9)."""

        def warn() -> None:
            members = handover.unanswered()
            if len(members):
                after = f"{phase.policy.overdue_after_s:g} s"
                text = f"the plugin '{phase.plugin}' has been running for more than {after}; a phase must not wait"
                channel.log_together(members, "warning", text)

        self._poster.alarms.set(phase.policy.overdue_after_s, warn)

    def _limit(self, handover: BatchHandover) -> tuple[float, Exception]:
        """Return (seconds until the batch's deadline, 0 without deadline; the exception for exceeding it)."""
        policy = handover.policy_of(0)
        error = _timed_out(policy.timeout_ms / 1000, policy.timeout_recoverable)
        deadline = handover.batch.deadline_at
        return (max(0.001, (deadline - self._clock.now()) / 1000) if deadline else 0.0), error


def _call_at(handover: BatchHandover, members: np.ndarray, channel: LocalChannel, place: int) -> PluginCall:
    """Return the call of a member, by its index in the bulk call."""
    return handover.call_of(int(members[place]), channel)


def as_noted(report: CallReport) -> CallReport:
    """Return the report's data without outcomes, because its members are called again at once."""
    return altered(report, kinds=np.zeros(len(report.members), np.uint8), remarks=())


def _coroutine(code: Callable[[], object]) -> Coroutine[object, object, object]:
    """Return the coroutine of an async function."""
    return cast("Coroutine[object, object, object]", code())


def _timed_out(timeout_s: float, is_recoverable: bool) -> Exception:  # noqa: FBT001 - the operation's own field
    text = f"timed out after {timeout_s:g} s"
    return RecoverableError(text) if is_recoverable else NonRecoverableError(text)


def same_for_all(handover: BatchHandover, members: np.ndarray, outcome: Outcome) -> CallReport:
    """Return a report with the same outcome for all these members."""
    has_remark = outcome.message or outcome.error
    return CallReport(
        handover.batch.id,
        members,
        np.full(len(members), outcome.kind, np.uint8),
        np.full(len(members), outcome.delay_ms, np.int64),
        remarks=[(member, handover.remark_of(member, outcome)) for member in members.tolist()] if has_remark else (),
    )


def bulk_report(handover: BatchHandover, members: np.ndarray, settled: BulkOutcome) -> CallReport:
    """Return the report of a bulk call, with an outcome for each member.

    Only members that the function touched are examined for changes, so that the others cost nothing.
    """
    documents: list[tuple[int, DocumentChange]] = []
    outcomes = settled.outcomes
    retried = _retried(handover, members)
    if not settled.calls and not outcomes and not retried:  # the function touched no member
        return CallReport(handover.batch.id, members, settled.kinds, settled.delays)
    for place, call in settled.calls.items():
        before = settled.outcome_at(place)
        outcome, changes = settle_call(handover, call, before)
        documents.extend(changes)
        if call.data is not None:
            outcome = kept_data(handover, call, outcome)
        if outcome is not before:
            settled.change(place, outcome)
            outcomes[place] = outcome
    remarks = []
    for place in sorted({*outcomes, *retried}):
        member = int(members[place])
        remark = remark_for(handover, member, settled.outcome_at(place), said_before=True)
        if remark is not None:
            remarks.append((member, remark))
    made = [
        (int(members[place]), said.follow_up) for place, said in sorted(outcomes.items()) if said.follow_up is not None
    ]
    return CallReport(
        handover.batch.id, members, settled.kinds, settled.delays, documents, remarks, follow_ups=made
    )  # fmt: skip


def _retried(handover: BatchHandover, members: np.ndarray) -> list[int]:
    """Return the indexes in ``members`` of retried entries: messages of their earlier attempts must be removed."""
    attempts = handover.attempts()
    return [] if attempts is None else np.flatnonzero(attempts[members]).tolist()
