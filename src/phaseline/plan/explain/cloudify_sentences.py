"""The sentences with which Cloudify reports the start, the end and the cancel of an execution (W12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.execution.execution import UNCHECKED
from phaseline.model.graph.graph import called_side
from phaseline.model.rows.rows import EventRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.rows import ExecutionRow

QUEUED = "workflow_queued"
"""Type of the event that reports that an execution must wait before it begins."""
SENTENCES = {
    "workflow_started": "Starting '{workflow}' workflow execution",
    "workflow_resumed": "Resuming '{workflow}' workflow execution",
    "workflow_succeeded": "'{workflow}' workflow execution succeeded",
    "workflow_failed": "'{workflow}' workflow execution failed: {reason}",
    "workflow_cancelled": "'{workflow}' workflow execution cancelled",
}
"""{event type: its sentence}"""
CANCEL_SENTENCES = {
    "wait": "Canceling; running calls are awaited",
    "force": "Canceling without waiting for running calls",
    "kill": "Canceling; the processes of running calls are ended",
}
"""{way of canceling (wait, force or kill): its sentence}"""


def execution_event(row: ExecutionRow, kind: str, now: int, reason: str = "") -> EventRow:
    """Return the event for the start or the end of a whole execution. ``kind`` is a key of ``SENTENCES``."""
    text = SENTENCES[kind].format(workflow=row.request.workflow, reason=reason)
    despite = row.request.despite
    if despite and despite != UNCHECKED and kind == "workflow_started":
        text += f", forced although others read what it touches: {despite}"
    return EventRow(row.number, now, kind, text, actor=row.created_by)


def waiting_event(row: ExecutionRow, blocker: ExecutionRow, now: int, *, is_over: bool) -> EventRow:
    """Return the event of an execution that waits for another execution (``blocker``).

    ``is_over`` is true if the blocker has ended but some of its calls still run.
    """
    whom = f"calls of {blocker.id} that were given up and still run" if is_over else blocker.id
    if blocker.deployment != row.deployment:
        whom += f": the provider '{blocker.deployment_name}' is being installed"
    return EventRow(row.number, now, QUEUED, f"Waiting for {whom}", actor=row.created_by)


def cancel_event(execution: int, how: str, now: int, actor: str) -> EventRow:
    """Return the event for the request to cancel an execution. ``how`` is a key of ``CANCEL_SENTENCES``."""
    text = CANCEL_SENTENCES.get(how, CANCEL_SENTENCES["wait"])
    return EventRow(execution, now, "cancel_requested", text, actor=actor)


def called_by_hand(
    row: ExecutionRow, graph: Graph, topology: Topology, positions: np.ndarray, *, reason: str, now: int, actor: str
) -> Iterator[EventRow]:
    """Yield an event for each entry that a user completed by hand.

    For a relationship operation, the event names the source or the target instance, whichever the operation is for.
    """
    for step in graph.steps:
        for position in positions[(positions >= step.first) & (positions < step.first + step.count)].tolist():
            subject = called_side(topology, step.kind, int(graph.subject[position]))
            text = f"Task completed by hand: {reason}"
            yield EventRow(row.number, now, "completed_by_hand", text, subject, step.phase, actor)
