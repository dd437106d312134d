"""The progress of an execution on stderr: a table redrawn on a terminal, plain lines and a heartbeat elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from phaseline.cli.render.table import cancel, clean, span
from phaseline.cli.streams.output import echo_err
from phaseline.model.graph.status import EntryStatus

if TYPE_CHECKING:
    from phaseline.app.watcher import Failing, Progress
    from phaseline.cli.render.progress.breakpoint_notices import BreakpointNotices
    from phaseline.views.views import FailingCall

JUST_NOW_MS = 3_000
"""Time in ms after a failure within which its line shows the whole interval between the failure and the next try.

A failure is reported with a short delay, so the remaining time would be an uneven number such as 14.7 s.
"""
HEARTBEAT_MS = 10_000
REMINDED_MS = 3 * 60 * 1000
"""Time in ms after which a hint that is still true is repeated: how to end repeated failures or hanging calls."""
TOLD_FAILURES = 20
"""Largest number of failures that get a line each, if lines cannot be redrawn."""
PREFIX = "cloudify.interfaces."
HANGING_MS = 60_000
"""Time in ms without any returning call after which running calls are suspected to hang."""


class StopHints:
    """Decides when to suggest ending an execution: if calls fail alike again and again, or if no call returns.

    It remembers only the failures that progress shows.
    """

    def __init__(self, execution: str) -> None:
        """``execution``: the id that the commands name."""
        self._execution = execution
        self._last: dict[tuple[str, str], tuple[int, str]] = {}
        self._repeating: set[tuple[str, str]] = set()
        self._moved: tuple[object, int] = (None, 0)

    def now(self, progress: Progress, now: int) -> list[str]:
        """Return the hints that are true now, each with its command."""
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
                seen[key] = before  # its message still belongs to the last try
                self._repeating |= known & {key}
                continue
            attempts, said = seen[key] = (failing.attempts, _message_text(failing))
            if before is None or said != before[1] or not said:
                continue
            if attempts > before[0] > 0 or (key in known and attempts == before[0]):
                self._repeating.add(key)
        self._last = seen

    def _silent_ms(self, progress: Progress, now: int) -> int:
        """Return for how many ms calls have been running without any returning; 0 if no call is running."""
        running = sum(row.counts.get(EntryStatus.RUNNING, 0) for row in progress.rows)
        if not running:
            self._moved = (None, now)
            return 0
        state = (progress.graph, progress.ended, running, tuple(one.attempts for one in progress.failing))
        if state != self._moved[0]:
            self._moved = (state, now)
        return now - self._moved[1]


def _message_text(failing: Failing) -> str:
    return next(iter(failing.message.strip().splitlines()[-1:]), "")


class Reporter(Protocol):
    """A watcher of the command line.

    ``interrupt`` is None unless an execution runs. ``execution`` is the id of the last execution, empty before the first.
    """

    interrupt: Callable[[], None] | None
    is_interrupted: bool
    execution: str

    @property
    def wants_progress(self) -> bool:
        """Return True if the reporter shows progress."""
        ...

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """Report that the execution runs now."""
        ...

    def progressed(self, progress: Progress, now: int) -> None:
        """Report the progress of the execution."""
        ...

    def noticed(self, text: str) -> None:
        """Report a sentence that the user should read."""
        ...

    def ended(self) -> None:
        """Report that nothing runs any more."""
        ...


class Quiet:
    """A reporter that prints only what a user should read in any case."""

    wants_progress = False

    def __init__(self) -> None:
        """Begin with nothing running."""
        self.interrupt: Callable[[], None] | None = None
        self.is_interrupted = False
        self.execution = ""

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:  # noqa: ARG002 - not shown
        """Remember what runs and how to interrupt it."""
        self.execution, self.interrupt = execution, interrupt

    def progressed(self, progress: Progress, now: int) -> None:
        """Print nothing."""

    def noticed(self, text: str) -> None:
        """Print the sentence."""
        echo_err(text)

    def ended(self) -> None:
        """Forget the interrupt: nothing can be interrupted any more."""
        self.interrupt = None


class ProgressLines(Quiet):
    """A reporter that prints lines: for each completed operation, each failure, and every ten seconds."""

    wants_progress = True

    def __init__(self, say: Callable[[str], None]) -> None:
        """``say`` prints one line."""
        super().__init__()
        self._say = say
        self._began: int | None = None
        self._spoke = 0
        self._graph = ""
        self._through: set[str] = set()
        self._told: set[tuple[str, str, int, str]] = set()
        self._deployment = ""
        self._standing: BreakpointNotices | None = None
        self._endings = StopHints("")
        self._ends: dict[str, int] = {}

    def begun(self, execution: str, deployment: str, interrupt: Callable[[], None]) -> None:
        """Print the id of the execution, so that it can be queried from elsewhere."""
        super().begun(execution, deployment, interrupt)
        self._endings = StopHints(execution)
        self._deployment = deployment
        self._say(f"{execution} of '{deployment}' runs")

    def progressed(self, progress: Progress, now: int) -> None:
        """Print the changes since the last call."""
        if self._began is None:
            self._began = self._spoke = now
        if progress.graph != self._graph:
            self._graph, self._through = progress.graph, set()
        for failing in progress.failing:
            self._tell_failing(failing, now)
        for phase, (ended, total, bad) in by_phase(progress).items():
            if ended == total and phase not in self._through:
                self._through.add(phase)
                self._say(f"  {phase}: {total - bad:,} of {total:,} done" + (f", {bad:,} not" if bad else ""))
                self._spoke = now
        for sentence in self._endings.now(progress, now):
            self._tell_end(sentence, now)
        if stopped(progress):
            self._tell_standing(progress)
            self._spoke = now
        elif now - self._spoke >= HEARTBEAT_MS:
            self._spoke = now
            self._say(f"  after {span(now - self._began)}: {summary(progress, now)}")

    def _tell_end(self, sentence: str, now: int) -> None:
        """Print a hint at once, and again from time to time, because other lines scroll it away."""
        command = sentence.partition(": ")[2]
        if now - self._ends.get(command, now - REMINDED_MS) >= REMINDED_MS:
            self._ends[command] = now
            self._say(f"  {sentence}")

    def _tell_standing(self, progress: Progress) -> None:
        from phaseline.cli.render.progress.breakpoint_notices import BreakpointNotices

        self._standing = self._standing or BreakpointNotices()
        for text in self._standing.news(progress, self._deployment):
            self._say(f"  {text}")

    def _tell_failing(self, failing: Failing, now: int) -> None:
        said = "" if failing.attempts else failing.message  # a sleeping operation may send another message
        key = (failing.instance, failing.operation, failing.attempts * 2 + (failing.status == EntryStatus.FAILED), said)
        is_new_trouble = failing.due > now or failing.status in {EntryStatus.FAILED, EntryStatus.UNSURE}
        if is_new_trouble and key not in self._told and len(self._told) < TOLD_FAILURES:
            self._told.add(key)
            failed = failing.due - failing.interval_ms
            just_now = failing.interval_ms and failed <= now < failed + JUST_NOW_MS
            self._say(f"  {failing_text(failing, failed if just_now else now)}")

    def noticed(self, text: str) -> None:
        """Print the sentence."""
        self._say(text)


def stopped(progress: Progress) -> bool:
    """Return True if all remaining work is stopped at breakpoints, waits for a hook class, or depends on such work."""
    if not any(EntryStatus.SLEEPING in row.counts for row in progress.rows):
        return False
    from phaseline.cli.render.progress.breakpoint_notices import (
        stands_still,  # needed seldom, so imported only now
    )

    return stands_still(progress)


def _sleeps_for_persons(progress: Progress) -> bool:
    if not any(EntryStatus.SLEEPING in row.counts for row in progress.rows):
        return False
    from phaseline.cli.render.progress.breakpoint_notices import sleeps_for_persons  # as above

    return sleeps_for_persons(progress)


def short(phase: str) -> str:
    """Return an operation's name without the prefix that all operations of the lifecycle share.

    >>> short("cloudify.interfaces.lifecycle.create"), short("cloudify.interfaces.monitoring.start"), short("my.backup")
    ('create', 'monitoring.start', 'my.backup')
    """
    name = phase.removeprefix(PREFIX)
    return name.removeprefix("lifecycle.").removeprefix("relationship_lifecycle.")


def by_phase(progress: Progress) -> dict[str, tuple[int, int, int]]:
    """Return {phase: (entries that ended, all entries, ended entries that did not complete)} over all nodes."""
    found: dict[str, tuple[int, int, int]] = {}
    for row in progress.rows:
        if row.phase:
            ended, total, bad = found.get(short(row.phase), (0, 0, 0))
            lost = sum(count for status, count in row.counts.items() if status >= EntryStatus.FAILED)
            found[short(row.phase)] = (ended + row.ended, total + row.total, bad + lost)
    return found


def summary(progress: Progress, now: int) -> str:
    """Return one line about the whole execution.

    ``1,200 of 9,000 steps, 200 running, 3 failing, next try in 15 s``
    """
    counts: dict[EntryStatus, int] = {}
    for row in progress.rows:
        for status, count in row.counts.items():
            counts[status] = counts.get(status, 0) + count
    parts = [f"{progress.ended:,} of {progress.total:,} steps"]
    parts += [
        f"{counts[status]:,} {status.word}"
        for status in (EntryStatus.RUNNING, EntryStatus.SLEEPING)
        if status in counts
    ]
    if progress.failing_count:
        parts.append(f"{progress.failing_count:,} failing")
    if progress.next_wake is not None and progress.next_wake > now and not _sleeps_for_persons(progress):
        parts.append(f"next look in {span(progress.next_wake - now)}")
    return ", ".join(parts)


def failing_text(failing: Failing, now: int) -> str:
    """Return a line about a failing instance and operation, and the next try.

    The next try is ``retry 1 of 60 in 15 s: <last line of its message>``.
    """
    who = f"{failing.instance} {short(failing.operation)}".lstrip()
    if failing.status == EntryStatus.UNSURE:
        return f"{who} {failing.status.word}: the engine ended while it ran, or it was given up"
    lines = failing.message.strip().splitlines() or ["no message"]
    if failing.status == EntryStatus.FAILED:
        return f"{who} {failing.status.word}: {clean(lines[-1].strip())}"
    if failing.status == EntryStatus.SLEEPING and not failing.attempts:
        return f"{who} {clean(lines[-1].strip())}"
    return f"{who} {retry_text(failing.attempts, failing.max_retries, failing.due, failing.message, now)}"


def retry_text(attempts: int, max_retries: int, due: int, message: str, now: int) -> str:
    r"""Return a text about the next try of a failed call, and the reason of the failure.

    ``max_retries`` is -1 if unlimited; ``due`` and ``now`` are times in ms.

    >>> retry_text(1, 60, 15_000, "no answer\nno route", 0), retry_text(2, -1, 0, "", 9)
    ('retry 1 of 60 in 15 s: no route', 'retry 2 now: no message')
    """
    limit = f" of {max_retries}" if max_retries >= 0 else ""
    when = f" in {span(due - now)}" if due > now else " now"
    lines = message.strip().splitlines() or ["no message"]
    return f"retry {attempts}{limit}{when}: {clean(lines[-1].strip())}"


def failing_call_text(call: FailingCall, now: int) -> str:
    """Return a line about a retried call.

    An example is ``web_1 create failing: retry 1 of 60 in 12 s: <last line of its message>``.
    """
    subject = call.instance + (f" -> {call.target}" if call.target else "")
    again = retry_text(call.attempts, call.max_retries, call.due_at, call.message, now)
    return f"{subject} {short(call.operation)} failing: {again}".lstrip()
