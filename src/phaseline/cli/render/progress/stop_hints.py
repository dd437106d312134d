"""How to end what continues without getting anywhere: a failure that repeats itself, calls that do not return."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.graph.status import EntryStatus

if TYPE_CHECKING:
    from phaseline.app.watcher import Failing, Progress

HANGING_MS = 60_000
"""From then on calls of which none has returned may hang."""


class StopHints:
    """Remembers failures and how long nothing has returned; bounded by the failures that progress shows."""

    def __init__(self, execution: str) -> None:
        """``execution``: the id that the commands name."""
        self._execution = execution
        self._last: dict[tuple[str, str], tuple[int, str]] = {}
        self._repeating: set[tuple[str, str]] = set()
        self._moved: tuple[object, int] = (None, 0)

    def now(self, progress: Progress, now: int) -> list[str]:
        """The sentences that are true now, each with its command."""
        self._look_at_failures(progress)
        sentences = []
        if self._repeating:
            sentences.append(f"the same failure again; end the retries: {cancel(self._execution)}")
        silent_ms = self._silent_ms(progress, now)
        if silent_ms >= HANGING_MS:
            minutes = silent_ms // 60_000
            told = f"no call has returned for {minutes} min; if they hang, kill them"
            sentences.append(f"{told}: {cancel(self._execution)} --kill")
        return sentences

    def _look_at_failures(self, progress: Progress) -> None:
        seen: dict[tuple[str, str], tuple[int, str]] = {}
        known, self._repeating = self._repeating, set()
        for failing in progress.failing:
            key = (failing.instance, failing.operation)
            before = self._last.get(key)
            if failing.status is EntryStatus.RUNNING and before is not None:
                seen[key] = before  # its message is that of the last try
                self._repeating |= known & {key}
                continue
            attempts, said = seen[key] = (failing.attempts, _said(failing))
            if before is None or said != before[1] or not said:
                continue
            if attempts > before[0] > 0 or (key in known and attempts == before[0]):
                self._repeating.add(key)
        self._last = seen

    def _silent_ms(self, progress: Progress, now: int) -> int:
        """For how long calls have been running of which none returned; 0 where none runs."""
        running = sum(row.counts.get(EntryStatus.RUNNING, 0) for row in progress.rows)
        if not running:
            self._moved = (None, now)
            return 0
        state = (progress.graph, progress.ended, running, tuple(one.attempts for one in progress.failing))
        if state != self._moved[0]:
            self._moved = (state, now)
        return now - self._moved[1]


def _said(failing: Failing) -> str:
    return next(iter(failing.message.strip().splitlines()[-1:]), "")


def cancel(execution: str) -> str:
    """The command that stops an execution.

    >>> cancel("install-1")
    'phaseline executions cancel install-1'
    """
    return f"phaseline executions cancel {execution or 'ID'}"
