"""The exceptions by which plugin code says whether trying again can help; anything else it raises is tried again."""

from __future__ import annotations


class NonRecoverableError(Exception):
    """The operation failed for good: no retry can help."""


class RecoverableError(Exception):
    """The operation failed this time and is tried again, ``retry_after`` seconds later or at the operation's interval."""

    def __init__(self, message: str = "", retry_after: float | None = None) -> None:
        """``retry_after`` in seconds; None: the interval of the operation."""
        super().__init__(message)
        self.retry_after = retry_after
