"""Calls functions and scripts of Cloudify plugins, and turns their results into outcomes (rules C2, W2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from phaseline.calls.protocol.call import (
    COMPLETED,
    MAX_MESSAGE_CHARS,
    MAX_TRACEBACK_CHARS,
    Outcome,
    outcome_of,
    truncate,
    unloadable,
)
from phaseline.calls.protocol.plugin_boundary import message_of, require_storable, text_of
from phaseline.calls.threads import guarded_calls
from phaseline.compat.cloudify import enable
from phaseline.compat.cloudify.process_exception import ProcessException
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    from phaseline.calls.protocol.call import PluginCall
    from phaseline.model.blueprint.blueprint import Value

FAILED = OutcomeKind.FAILED


class FunctionCaller:
    """Calls plugin functions as ``function(ctx=ctx, **inputs)``."""

    def __init__(self) -> None:
        """Put the package ``cloudify`` on the path of this process."""
        enable()
        from cloudify.context import CloudifyContext
        from cloudify.state import current_ctx

        self._context = CloudifyContext
        self._current = current_ctx

    def call(self, call: PluginCall) -> Outcome:
        """Call the function and return its outcome. Written runtime properties are kept even if it
        raises an exception.
        """
        try:
            function = call.load()
        except (Exception, SystemExit) as error:
            return unloadable(error, call.site.implementation)
        ctx = self._context(call)
        current = self._current
        before = guarded_calls.copies()
        try:
            inputs = call.inputs
            current.set(ctx, inputs)
            result = function(**{**inputs, "ctx": ctx})
        except (Exception, SystemExit) as error:
            if guarded_calls.copies() != before:
                guarded_calls.end_copy(error)
            return _failed(ctx, error)
        finally:
            current.clear()
        return _returned(ctx, result)


class ScriptCaller:
    """Runs scripts: files of the blueprint, and inline scripts (rules S1 to S5)."""

    def __init__(self) -> None:
        """Put the package ``cloudify`` on the path of this process."""
        enable()
        from cloudify.context import CloudifyContext
        from cloudify.state import current_ctx

        from phaseline.compat.cloudify.scripts import run

        self._context = CloudifyContext
        self._current = current_ctx
        self._run = run

    def call(self, call: PluginCall) -> Outcome:
        """Run the script and return its outcome. Written runtime properties are kept even if the script fails."""
        ctx = self._context(call)
        before = guarded_calls.copies()
        try:
            self._current.set(ctx, call.inputs)
            result = self._run(ctx, **_script_of(call))
        except (Exception, SystemExit) as error:
            if guarded_calls.copies() != before:
                guarded_calls.end_copy(error)
            return _failed(ctx, error)
        finally:
            self._current.clear()
        return _returned(ctx, result)


def _script_of(call: PluginCall) -> dict[str, Any]:
    """Return the arguments for ``scripts.run``: the configuration of the script, and the inputs
    that the script sees.
    """
    inputs = dict(call.inputs)
    said = {name: inputs.pop(name, None) for name in ("process", "ssl_cert_content", "script_path", "script_source")}
    place = "script_source" if call.site.form == "inline" else "script_path"
    said["script_path"] = said["script_source"] = None
    said[place] = call.site.implementation
    return {**said, "inputs": inputs}


def _failed(ctx: Any, error: BaseException) -> Outcome:
    problems = ctx._give_back()
    outcome = outcome_of(error, hidden_frames=1)
    if isinstance(error, ProcessException):
        # Our own traceback is of no use to the user; the last output of the script is.
        outcome = altered(
            outcome, error={"type": "ProcessException", "traceback": truncate(error.stderr, MAX_TRACEBACK_CHARS)}
        )
    causes = _causes(error)
    if causes:
        outcome = altered(outcome, error={**outcome.error, "causes": truncate(causes, MAX_TRACEBACK_CHARS)})
    if problems:
        outcome = altered(outcome, message=_joined(outcome.message, *problems))
    return outcome


def _causes(error: BaseException) -> str:
    """Return the tracebacks that plugins attach to an exception as ``causes=``, as one text."""
    found = getattr(error, "causes", None) or ()
    return "\n".join(
        text_of(cause.get("traceback") or cause.get("message") or cause if isinstance(cause, Mapping) else cause)
        for cause in found
    )


def _returned(ctx: Any, result: Any) -> Outcome:
    problems = ctx._give_back()
    retry = ctx._retry
    if retry is not None:
        outcome = outcome_of(retry)
        said = outcome.message if message_of(retry) else "the operation asked to be retried"
        return altered(outcome, message=_joined(said, *problems))
    if problems:
        return Outcome(
            FAILED,
            message=_joined(*problems),
            error={"type": "NonRecoverableError", "traceback": ""},
        )
    if result is None:
        return COMPLETED
    return Outcome(OutcomeKind.COMPLETED, result=_result(result))


def _joined(*texts: str) -> str:
    return truncate("; ".join(texts), MAX_MESSAGE_CHARS)


def _result(result: Any) -> Value:
    """Return the result if JSON can represent it, else None (C2)."""
    try:
        return require_storable(result, "the result")
    except ProblemsError:
        return None
