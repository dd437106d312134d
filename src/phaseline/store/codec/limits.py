"""Sizes and bounds of stored data: every text and every list that plugins can make grow has a named bound."""

from __future__ import annotations

from phaseline.model.rows.rows import EntryRemark

IDENTITY_BYTES = 6
"""Length of the random name of a store, in bytes."""
PAGE_BYTES = 4_096
"""SQLite's page: a changed page of statuses costs one of them in the write-ahead log."""
MESSAGE_LENGTH = 4_000
"""Characters kept of a message, from its beginning."""
TRACEBACK_LENGTH = 20_000
"""Characters kept of a traceback, from its end, which holds the cause."""
LOG_TEXT_LENGTH = 10_000
"""Characters kept of one log line, from its beginning."""
LOG_LINES_KEPT = 100_000
"""Log lines kept of an execution; the oldest go first."""
EVENTS_KEPT = 100_000
"""Events kept of an execution; the oldest go first."""
DROPPED_TOGETHER = 1_000
"""Old lines are deleted in groups of this size, so that not every turn deletes."""


def shortened(text: str, bound: int, *, keep_end: bool = False) -> str:
    """The text as it can be stored: at most ``bound`` characters and a remark on what was cut; no lone surrogates.

    >>> shortened("abcdef", 4)
    'abcd … (2 more characters)'
    """
    if len(text) > bound:
        cut = len(text) - bound
        text = (
            f"({cut} characters before) … {text[-bound:]}" if keep_end else f"{text[:bound]} … ({cut} more characters)"
        )
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def first_kept(last: int, kept: int) -> int:
    """The lowest sequence number that stays when ``last`` was written; 0 while there is nothing to drop.

    >>> first_kept(900, 1_000), first_kept(3_456, 1_000)
    (0, 2001)
    """
    whole = last - last % DROPPED_TOGETHER
    return max(0, whole - kept + 1) if whole > kept else 0


def shortened_remark(remark: EntryRemark) -> tuple[str, dict[str, str]]:
    """(message, error) of a remark as they can be stored."""
    error = {
        key: shortened(text, TRACEBACK_LENGTH, keep_end=True) if key == "traceback" else shortened(text, MESSAGE_LENGTH)
        for key, text in remark.error.items()
    }
    return shortened(remark.message, MESSAGE_LENGTH), error
