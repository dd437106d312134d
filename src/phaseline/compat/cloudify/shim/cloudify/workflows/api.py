"""The module under its short name."""

from cloudify.workflows.workflow_api import (
    EXECUTION_CANCELLED_RESULT, ExecutionCancelled, cancel_callbacks, has_cancel_request, has_kill_request)

__all__ = (
    'EXECUTION_CANCELLED_RESULT', 'ExecutionCancelled', 'cancel_callbacks', 'has_cancel_request', 'has_kill_request')
