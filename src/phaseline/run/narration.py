"""The sentences about executions that users of the ancestor know (W12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.rows import EventRow

if TYPE_CHECKING:
    from phaseline.model.rows import ExecutionRow

SENTENCES = {
    "workflow_started": "Starting '{workflow}' workflow execution",
    "workflow_resumed": "Resuming '{workflow}' workflow execution",
    "workflow_succeeded": "'{workflow}' workflow execution succeeded",
    "workflow_failed": "'{workflow}' workflow execution failed: {reason}",
    "workflow_cancelled": "'{workflow}' workflow execution cancelled",
}
"""{event type: sentence}"""
CANCEL_SENTENCES = {
    "wait": "Canceling; running calls are awaited",
    "force": "Canceling without waiting for running calls",
    "kill": "Canceling; the processes of running calls are ended",
}
"""{how: sentence}"""


def execution_event(row: ExecutionRow, kind: str, now: int, reason: str = "") -> EventRow:
    """The event that says what an execution as a whole did."""
    text = SENTENCES[kind].format(workflow=row.request.workflow, reason=reason)
    return EventRow(row.number, now, kind, text, actor=row.created_by)
