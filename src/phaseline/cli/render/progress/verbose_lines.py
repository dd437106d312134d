"""Everything that happens, line by line on stderr while it happens: for ``--verbose``."""

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
"""Lines of these levels were written by scripts and plugins; the others are events."""
MOST_LOOKS = 1_000
"""So many looks at most are needed for what came last."""


class VerboseLines(Quiet):
    """Prints logs and events of the execution. ``follow`` gives for its id the function that finds new lines."""

    wants_progress = True

    def __init__(self, follow: Callable[[str], Callable[[], Sequence[Line]]]) -> None:
        """Nothing runs yet."""
        super().__init__()
        self._follow = follow
        self._new: Callable[[], Sequence[Line]] | None = None

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """Read from the beginning on."""
        super().begun(execution, deployment, interrupt)
        self._new = self._follow(execution)

    def progressed(self, progress: Progress, now: int) -> None:  # noqa: ARG002 - it only says that it is time to look
        """Print what is new."""
        self._print()

    def ended(self) -> None:
        """Print the rest."""
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
