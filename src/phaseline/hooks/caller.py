"""Calls the methods of hook classes: the caller for code of the flavour ``hook`` (others: native, cloudify, script,
phase).

Each call belongs to one entry whose subject is the deployment; the entry's phase names the method. An execution keeps
its object of the class, even if the class is reloaded meanwhile. All code of the class, including its constructor, runs
in a thread that is abandoned if the call takes too long.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING, cast

from phaseline.calls.protocol.call import COMPLETED, MAX_MESSAGE_CHARS, MAX_TRACEBACK_CHARS, Outcome, truncate
from phaseline.calls.protocol.plugin_boundary import message_of, shown, text_of, trace_of
from phaseline.calls.threads.guarded_calls import call_and_await, guarded_call
from phaseline.hooks.call_arguments import seen_by
from phaseline.hooks.method_arguments import POST as DO_POST
from phaseline.hooks.method_arguments import POST_ARGUMENTS, takes
from phaseline.hooks.method_arguments import PRE as DO_PRE
from phaseline.hooks.time_limited_threads import BoundedThreads, LeftAloneError
from phaseline.model.execution.pre_post import PRE
from phaseline.model.graph.plugin_errors import NonRecoverableError
from phaseline.model.graph.status import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from phaseline.calls.deployments.call_subjects import LoadedDeployment
    from phaseline.calls.protocol.call import PluginCall
    from phaseline.model.execution.pre_post import PinnedHookClass

WORDS = {OutcomeKind.COMPLETED: "ok", OutcomeKind.FAILED: "failed", OutcomeKind.AGAIN: "waits"}
"""Words for outcomes in the log line of a call."""
OURS = (
    "phaseline.hooks.",
    "phaseline.calls.",
    "phaseline.run.",
    "phaseline.catalog.",
    "phaseline.use_cases.",
    "importlib.",
)
"""Beginnings of the names of modules that call hook classes; their frames are left out of tracebacks.

``phaseline.policies`` is missing here, because it consists of hook classes.
"""


class HookCaller:
    """Calls hook methods; implements ``calls.protocol.call.Caller``. Safe to use from any thread."""

    def __init__(self) -> None:
        self._threads = BoundedThreads()
        self._lock = threading.Lock()
        self._objects: dict[tuple[str, str], object] = {}
        """Objects of hook classes, kept from an execution's first call to its last one: {(execution, key of the class):
        object}.
        """
        self._warned: set[str] = set()
        self._is_told_of: dict[type, bool] = {}
        """{class: True if its ``do_post_op`` accepts ``is_stack_failure``}; kept because the inspection costs more than
        a call.
        """

    def call(self, call: PluginCall) -> Outcome:
        """Call the method named by the phase, and return the outcome."""
        hook = call.site.hook
        assert hook is not None
        begun = time.monotonic()
        job = self._threads.begin(partial(guarded_call, self._called, call, hook))
        call.on_kill(job.leave)
        try:
            outcome, error = job.wait(hook.timeout_s)
        except (TimeoutError, LeftAloneError) as left:
            outcome, error = _left(hook, left), None
            call.log(
                "warning",
                f"{hook.name} still runs in a thread whose result is ignored; such threads: {self._threads.left}",
            )
        if outcome is None:
            assert error is not None, "an attempt gives a value or an error"
            outcome = failed(error)
        if is_last(call, hook, outcome):
            with self._lock:
                self._objects.pop(_place(call, hook), None)
        call.log("debug", line(call, hook, outcome, round((time.monotonic() - begun) * 1000)))
        return outcome

    def _called(self, call: PluginCall, hook: PinnedHookClass) -> Outcome:
        """Call the hook method in the current thread, and return its outcome. Raises what the method raises."""
        one = self._object(call, hook)
        seen = seen_by(call)
        is_pre = call.site.operation.startswith(PRE)
        method: Callable[..., object] | None = getattr(one, DO_PRE if is_pre else DO_POST, None)
        if not callable(method):  # it had it when the execution was made
            return COMPLETED
        given = [seen.cnxt, seen.stack, seen.target, seen.action]
        if not is_pre and self._is_told(call, hook, method):
            given.append(call.why.is_failure)
        if not hook.is_verified:
            call_and_await(method, *given)
        else:
            from phaseline.hooks.mutation_check import verified

            verified(cast("LoadedDeployment", call.world), hook, partial(call_and_await, method, *given))
        return seen.cnxt.outcome()

    def _object(self, call: PluginCall, hook: PinnedHookClass) -> object:
        place = _place(call, hook)
        with self._lock:
            found = self._objects.get(place)
        if found is None:
            made, error = guarded_call(_made, call)
            if error is not None:
                text = f"{hook.implementation} cannot be made any more: {type(error).__name__}: {message_of(error)}"
                raise NonRecoverableError(text) from error
            with self._lock:
                found = self._objects.setdefault(place, made)
        return found

    def _is_told(self, call: PluginCall, hook: PinnedHookClass, method: Callable[..., object]) -> bool:
        """Return True if ``is_stack_failure`` is to be passed to ``do_post_op``.

        A class without this parameter does not get it. A class of Heat's group gets it only after a failure, as from
        Heat.
        """
        if hook.is_heat and not call.why.is_failure:
            return False
        kind = type(getattr(method, "__self__", method))
        if kind not in self._is_told_of:
            self._is_told_of[kind] = takes(method, POST_ARGUMENTS)
        if self._is_told_of[kind]:
            return True
        with self._lock:
            is_new = hook.key not in self._warned
            self._warned.add(hook.key)
        if is_new:
            call.log(
                "warning", f"do_post_op of {hook.name} takes no is_stack_failure, so it is not called after a failure"
            )
        return False


def _made(call: PluginCall) -> object:
    """Import the hook class, and return an object of it. Raises what the import or the constructor raises."""
    return call.load()()


def _place(call: PluginCall, hook: PinnedHookClass) -> tuple[str, str]:
    return call.site.execution.id, hook.key


def is_last(call: PluginCall, hook: PinnedHookClass, outcome: Outcome) -> bool:
    """Return True if the class is not called again for this execution, unless the execution is retried."""
    if outcome.kind is OutcomeKind.AGAIN:
        return False
    return not call.site.operation.startswith(PRE) or outcome.kind is OutcomeKind.FAILED or not hook.has_post


def failed(error: BaseException) -> Outcome:
    """Return the outcome for an exception of a hook method: the hook refuses the action, and the engine does not call
    it again unless a user retries.

    >>> failed(ValueError("more than 100 instances", 7)).message, failed(SystemExit(3)).message
    ('more than 100 instances', 'the hook called sys.exit(3)')
    """
    if isinstance(error, SystemExit):
        text = f"the hook called sys.exit({shown(error.code)})"
    else:
        text = guarded_call(text_of, error.args[0])[0] or "" if error.args else message_of(error)
    told = trace_of(error, own_frames(error.__traceback__))
    details = {"type": type(error).__name__, "traceback": truncate(told, MAX_TRACEBACK_CHARS)}
    return Outcome(OutcomeKind.FAILED, message=truncate(text or type(error).__name__, MAX_MESSAGE_CHARS), error=details)


def own_frames(frames: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that concerns the author of a hook class: from the first frame outside of
    Phaseline.

    If all frames are Phaseline's, return the whole traceback.
    """
    found = frames
    while found is not None and found.tb_frame.f_globals.get("__name__", "").startswith(OURS):
        found = found.tb_next
    return found or frames


def _left(hook: PinnedHookClass, why: TimeoutError | LeftAloneError) -> Outcome:
    """Return the outcome of a call that was abandoned; what its thread returns later is ignored."""
    is_late = isinstance(why, TimeoutError)
    text = f"timed out after {hook.timeout_s:g} s" if is_late else "was given up on request"
    return Outcome(OutcomeKind.FAILED, message=text, error={"type": type(why).__name__, "traceback": ""})


def line(call: PluginCall, hook: PinnedHookClass, outcome: Outcome, took_ms: int) -> str:
    """Return the log line about a call, without the hook's messages, which are stored with the entry."""
    phase = call.site.operation.removeprefix("hooks.").partition(".")[0]
    said = {
        "class": hook.key,
        "phase": phase,
        "ordinal": str(hook.ordinal),
        "action": hook.action,
        "deployment": call.site.deployment.id,
        "execution": call.site.execution.id,
        "ms": str(took_ms),
        "outcome": WORDS.get(outcome.kind, outcome.kind.name.lower()),
    }
    return "hook " + " ".join(f"{name}={value}" for name, value in said.items())
