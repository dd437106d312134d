"""Calling one member: choose the caller for its code, and collect its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.calls.batches.caller_registry import flavour_of, gathers
from phaseline.calls.protocol.call import Outcome, outcome_of, unloadable
from phaseline.calls.protocol.plugin_boundary import require_storable
from phaseline.calls.threads.guarded_calls import guarded_call, is_async
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.plugin_errors import NonRecoverableError
from phaseline.model.graph.status import OutcomeKind
from phaseline.model.problems.problem import ProblemsError

if TYPE_CHECKING:
    from phaseline.calls.batches.batch_handover import BatchHandover
    from phaseline.calls.batches.report_buffer import ReportBuffer
    from phaseline.calls.deployments.batch_parts import CallTemplate
    from phaseline.calls.protocol.call import Flavour, PluginCall
    from phaseline.model.graph.graph import Policy
    from phaseline.model.rows.rows import DocumentChange, EntryRemark

NOT_CALLED = Outcome(OutcomeKind.AGAIN, 0)
"""The outcome of a member that was not called, because of a cancel or because the engine leaves; not a failure."""


def ended_on_request() -> Outcome:
    """Return the outcome of a killed member: it failed, whatever its call reports."""
    return outcome_of(NonRecoverableError("its processes were ended on request"))


def resolve(spot: CallTemplate, call: PluginCall) -> CallTemplate:
    """Load a template's function and set its flavour, or ``refusal`` if loading fails (W2). Return the template."""
    if spot.flavour is not None or spot.refusal is not None:
        return spot
    flavour, error = guarded_call(flavour_of, call)
    spot.is_async = is_async(spot.function)
    if error is not None:
        spot.refusal = unloadable(error, call.site.implementation)
    spot.flavour = flavour  # last: other threads take a spot with a flavour as complete
    return spot


def awaited_truth(outcome: Outcome, policy: Policy, flavour: Flavour) -> Outcome:
    """Turn a false result of an ``until_true`` operation into a further call after the retry interval.

    Functions that take items mark their outcomes themselves, so theirs stay unchanged.
    """
    if policy.until_true and not gathers(flavour) and outcome.kind is OutcomeKind.COMPLETED and not outcome.result:
        return Outcome(OutcomeKind.AGAIN, policy.retry_interval_ms, outcome.message or "not true yet")
    return outcome


def settle_call(
    handover: BatchHandover, call: PluginCall, outcome: Outcome
) -> tuple[Outcome, list[tuple[int, DocumentChange]]]:
    """Return the outcome and the changes made by the call; a property that cannot be stored fails the call."""
    if not call.is_touched:
        return outcome, []
    try:
        return outcome, handover.changes_of(call)
    except ProblemsError as error:
        return outcome_of(error), []


def remark_for(handover: BatchHandover, member: int, outcome: Outcome, *, said_before: bool) -> EntryRemark | None:
    """Return what to store with the entry for an outcome, or None if nothing is to be stored.

    With ``said_before`` there is an earlier remark, which even an empty one must replace.
    """
    if outcome.message or outcome.error or outcome.result is not None or said_before:
        return handover.remark_of(member, outcome)
    return None


def post_call(poster: ReportBuffer, handover: BatchHandover, call: PluginCall, outcome: Outcome) -> None:
    """Post the outcome of a call with its changes, its data, and the message and error to be stored with its entry."""
    outcome, documents = settle_call(handover, call, outcome)
    said_before = call.attempt or handover.data_of(call.member) is not None
    if call.data is not None:
        outcome = kept_data(handover, call, outcome)
    remark = remark_for(handover, call.member, outcome, said_before=bool(said_before))
    poster.outcome(handover, call.member, outcome, documents, remark)


def kept_data(handover: BatchHandover, call: PluginCall, outcome: Outcome) -> Outcome:
    """Store the call's data for the next call of its entry, and return the outcome with this data as its result.

    If the entry is not called again, its data is removed. Data that cannot be stored fails the call.
    """
    data = call.data if outcome.kind in {OutcomeKind.AGAIN, OutcomeKind.RETRY} else None
    try:
        left = require_storable(data, "data") or None
    except ProblemsError as error:
        return outcome_of(error)
    handover.keep_data(call.member, left)
    return outcome if left is None else altered(outcome, result=left)
