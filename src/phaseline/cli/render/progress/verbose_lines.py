"""Logs and events on stderr, line by line as they come: for ``--verbose``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from phaseline.cli.render.executions import event_text, log_text
from phaseline.cli.render.progress.progress import Quiet
from phaseline.cli.streams.output import echo_err

if TYPE_CHECKING:
    from phaseline.app.watcher import Progress
    from phaseline.views.views import Line

LEVELS = {"debug", "info", "warning", "error", "critical"}
"""The levels of lines that scripts and plugins write; the other lines are events."""
MOST_LOOKS = 1_000
"""Largest number of reads after the end of an execution, each of which fetches a part of the remaining lines."""


class VerboseLines(Quiet):
    """A reporter of logs and events. ``follow`` returns, for the id of the execution, the function that finds new lines."""

    wants_progress = True

    def __init__(self, follow: Callable[[str], Callable[[], Sequence[Line]]]) -> None:
        """Begin with nothing running."""
        super().__init__()
        self._follow = follow
        self._new: Callable[[], Sequence[Line]] | None = None

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """Start reading from the beginning."""
        super().begun(execution, deployment, interrupt)
        self._new = self._follow(execution)

    def progressed(self, progress: Progress, now: int) -> None:  # noqa: ARG002 - it only triggers a read
        """Print the new lines."""
        self._print()

    def ended(self) -> None:
        """Print the remaining lines."""
        super().ended()
        for _ in range(MOST_LOOKS):
            if not self._print():
                break
        self._new = None

    def _print(self) -> bool:
        lines = self._new() if self._new is not None else ()
        for line in lines:
            echo_err(log_text([line]) if line.level in LEVELS else event_text([line]))
        return bool(lines)
