"""Exceptions by which plugin code declares whether a retry can help; any other exception is retried."""

from __future__ import annotations

from datetime import timedelta


class NonRecoverableError(Exception):
    """The operation failed permanently; a retry cannot help."""


class RecoverableError(Exception):
    """The operation failed and is retried after ``retry_after`` seconds or the operation's interval."""

    def __init__(self, message: str = "", retry_after: float | None = None) -> None:
        """``retry_after`` is in seconds; None means the interval of the operation."""
        super().__init__(message)
        self.retry_after = retry_after


class TemporaryError(RecoverableError):
    """Raised in a phase plugin: resources that it has not marked stay pending, and it gets them again after the delay.

    ``throttled``: the provider asks for fewer calls. If the phase has a rate (``Phase.RateLimit``), the rate is halved,
    and raised again slowly while calls succeed.

    >>> TemporaryError("the quota is being raised", delay=120).retry_after, TemporaryError(5).retry_after
    (120.0, 5.0)
    """

    def __init__(
        self, message: str | float | timedelta = "", delay: float | timedelta | None = None, *, throttled: bool = False
    ) -> None:
        """``delay`` is in seconds; None means the delay of the run or of its phase.

        A number as ``message`` is the delay.
        """
        if not isinstance(message, str):
            delay = message if delay is None else delay
            message = ""
        seconds = delay.total_seconds() if isinstance(delay, timedelta) else delay
        super().__init__(message, None if seconds is None else float(seconds))
        self.throttled = throttled


class PermanentError(NonRecoverableError):
    """Raised in a phase plugin: resources that it has not marked have failed, and a retry without a change cannot help."""
