"""Upper bounds of stored data: every text and list that plugins can make longer has a named bound here."""

from __future__ import annotations

from phaseline.model.rows.rows import EntryRemark

HOLDER_BYTES = 16
"""Length of the random name of a holder of a lease, in bytes; process ids are used again, these names are not."""
IDENTITY_BYTES = 6
"""Length of the random name of a store, in bytes."""
PAGE_BYTES = 4_096
"""Size of SQLite's pages. A changed page of statuses adds one such page to the write-ahead log."""
MESSAGE_LENGTH = 4_000
"""Characters kept of a message, from its beginning."""
TRACEBACK_LENGTH = 20_000
"""Characters kept of a traceback, from its end, which holds the cause."""
LOG_TEXT_LENGTH = 10_000
"""Characters kept of one log line, from its beginning."""
LOG_LINES_KEPT = 100_000
"""Number of log lines kept of an execution; the oldest are deleted."""
EVENTS_KEPT = 100_000
"""Number of events kept of an execution; the oldest are deleted."""
DROPPED_TOGETHER = 1_000
"""Number of old lines that are deleted together, so that not every turn deletes."""


def shortened(text: str, bound: int, *, keep_end: bool = False) -> str:
    """Return the text as it can be stored: at most ``bound`` characters, then a remark on how many were cut.

    Lone surrogates, which SQLite cannot store, are replaced.

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
    """Return the lowest sequence number to keep after ``last`` was written; 0 while nothing must be deleted.

    >>> first_kept(900, 1_000), first_kept(3_456, 1_000)
    (0, 2001)
    """
    whole = last - last % DROPPED_TOGETHER
    return max(0, whole - kept + 1) if whole > kept else 0


def shortened_remark(remark: EntryRemark) -> tuple[str, dict[str, str]]:
    """Return (message, error) of a remark, each shortened as it can be stored."""
    error = {
        key: shortened(text, TRACEBACK_LENGTH, keep_end=True) if key == "traceback" else shortened(text, MESSAGE_LENGTH)
        for key, text in remark.error.items()
    }
    return shortened(remark.message, MESSAGE_LENGTH), error
