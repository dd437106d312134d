"""Whether someone canceled what is running."""

from cloudify.state import NotInContext, current_ctx

EXECUTION_CANCELLED_RESULT = 'execution_cancelled'

cancel_callbacks = set()


class ExecutionCancelled(Exception):
    """The execution was canceled."""


def has_cancel_request():
    """True when a user canceled the running call."""
    try:
        return bool(current_ctx.get_ctx()._call.is_canceled)
    except NotInContext:
        return False


def has_kill_request():
    """Always False: a killed call does not get to ask."""
    return False
