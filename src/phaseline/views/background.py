"""The background engine that was started to continue an execution."""

from __future__ import annotations

import os
from pathlib import Path

from phaseline.lang.fast_dataclasses import frozen

LAST_LINES = 10
"""Number of last lines of a background engine's output that are shown if it ends at once."""
READ_BYTES = 64 * 1024
"""Number of bytes read from the end of the log to find these lines."""


@frozen
class Background:
    """A background engine that was started: its process id, its log file, and the byte where its output begins.

    ``log`` is empty if that file cannot be written. ``has_begun`` is False if the process is alive but did not begin
    its work in time.
    """

    pid: int
    log: str
    log_begins: int = 0
    has_begun: bool = True

    def __str__(self) -> str:
        """Return a sentence for the user about the started engine."""
        which = f"process {self.pid}, " + (
            f"log {self.log}" if self.log else "without a log, whose file cannot be written"
        )
        if self.has_begun:
            return f"The engine carries on in the background: {which}"
        return f"The engine in the background has not started yet: {which}. The request is stored"

    @property
    def is_alive(self) -> bool:
        """Return True if its process still runs."""
        from phaseline.calls.threads.process_groups import is_alive

        return is_alive(self.pid)

    def last_words(self) -> str:
        """Return the last lines that the engine wrote to its log; empty if there are none or the log cannot be read."""
        if not self.log:
            return ""
        try:
            with Path(self.log).open("rb") as log:
                end = log.seek(0, os.SEEK_END)
                log.seek(max(self.log_begins, end - READ_BYTES))
                text = log.read().decode("utf-8", "replace")
        except OSError:
            return ""
        return "\n".join(line for line in text.splitlines()[-LAST_LINES:] if line.strip())
