"""Shared code of commands that run an execution: progress, Ctrl-C, the answer and the exit code."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from phaseline.cli.streams.output import ERRORS, OUTPUT, echo_err, errors, forget, output

if TYPE_CHECKING:
    from phaseline.cli.render.progress.progress import Reporter
    from phaseline.cli.shell.cli_context import CliContext
    from phaseline.views.views import ExecutionView, Line


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, SIGTERM and a closed terminal: each hands the execution over."""
_former: list[dict[signal.Signals, signal._HANDLER]] = []
"""Stack of former signal handlers, which are restored in reverse order."""


def _hear_as_before() -> None:
    """Restore the former handlers in a process that a plugin forked, so that signals end it like any other program."""
    for former in reversed(_former):
        for number, handler in former.items():
            signal.signal(number, handler)
    _former.clear()


os.register_at_fork(after_in_child=_hear_as_before)


@contextmanager
def hearing(numbers: Sequence[signal.Signals], on_signal: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Return a context in which these signals call the function, but not in processes forked from this one."""
    former = {number: signal.getsignal(number) for number in numbers}
    _former.append(former)
    for number in numbers:
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        if former in _former:  # a forked process has none
            _former.remove(former)


def make_reporter(*, quiet: bool, follow: Callable[[str], Callable[[], Sequence[Line]]] | None = None) -> Reporter:
    """Return the reporter that fits stderr. ``quiet``: it shows only what a user should read in any case.

    ``follow``: given with ``--verbose``; for the id of an execution it returns the function that finds its new lines.
    """
    if follow is not None and not quiet:
        from phaseline.cli.render.progress.verbose_lines import VerboseLines

        return VerboseLines(follow)
    if not quiet and errors().isatty():
        from phaseline.cli.render.progress.live_table import LiveTable

        return LiveTable()
    from phaseline.cli.render.progress.progress import ProgressLines, Quiet

    return Quiet() if quiet else ProgressLines(echo_err)


@contextmanager
def progress_watcher(desk: CliContext) -> Iterator[Reporter]:
    """Return a context with a watcher that shows progress on stderr.

    The first Ctrl-C hands the execution over to another process, the second ends the command at once.
    """
    reporter = make_reporter(quiet=desk.as_json or desk.is_quiet, follow=desk.follow if desk.is_verbose else None)

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            forget(output(), errors(), OUTPUT, ERRORS)  # the terminal is gone
        if reporter.is_interrupted or reporter.interrupt is None:
            raise KeyboardInterrupt
        reporter.is_interrupted = True
        reporter.interrupt()
        from phaseline.cli.render.table import cancel

        stop = f"Stop it for good: {cancel(reporter.execution)}; add --kill if a call hangs."
        reporter.noticed(f"Interrupted: waiting for the running calls. Ctrl-C again leaves at once. {stop}")

    with hearing(SIGNALS, on_signal):
        try:
            yield reporter
        except KeyboardInterrupt:
            reporter.ended()
            if reporter.execution:
                from phaseline.cli.render.table import cancel

                go_on = f"Continue with: phaseline executions resume {reporter.execution}"
                reporter.noticed(f"Left at once. {go_on}; stop it for good: {cancel(reporter.execution)}")
            raise
        finally:
            reporter.ended()


@contextmanager
def run_watcher() -> Iterator[Reporter]:
    """Return a context with a watcher of a run over a group. The first Ctrl-C leaves the run to another process.

    The second Ctrl-C ends the command at once.
    """
    reporter = make_reporter(quiet=True)

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            forget(output(), errors(), OUTPUT, ERRORS)  # the terminal is gone
        if reporter.is_interrupted or reporter.interrupt is None:
            raise KeyboardInterrupt
        reporter.is_interrupted = True
        reporter.interrupt()
        way = f"Follow the run: phaseline groups follow {reporter.execution}"
        reporter.noticed(f"Interrupted: waiting for the running calls. Ctrl-C again leaves at once. {way}")

    with hearing(SIGNALS, on_signal):
        try:
            yield reporter
        finally:
            reporter.ended()


def check_breaks(written: Sequence[str], timeout: str | None) -> None:
    """Raise a usage error for invalid values of ``--break`` and ``--break-timeout``."""
    wait_s = span("--break-timeout", timeout)
    if not written:
        if timeout is not None:
            raise click.UsageError("--break-timeout needs a --break")
        return
    from phaseline.model.execution.breakpoints import read_breakpoint

    try:
        for text in written:
            read_breakpoint(text, wait_s)
    except ValueError as error:
        raise click.UsageError(f"--break: {error}") from error


def check_run(options: Mapping[str, Any]) -> None:
    """Raise a usage error for run options that are invalid or do not fit together."""
    check_breaks(options["breakpoints"], options["break_timeout"])
    span("--timeout", options["timeout"])
    stop_after, on_failure = options["stop_after"], options["on_failure"]
    if stop_after is None:
        return
    if on_failure != "continue":
        raise click.UsageError(f"--on-failure {on_failure} and --stop-after exclude each other")
    from phaseline.model.execution.execution import read_limit

    try:
        read_limit(stop_after)
    except ValueError as error:
        raise click.UsageError(f"--stop-after: {error}") from error


def span(option: str, text: str | None) -> float | None:
    """Return the value of an option in seconds; None if the option is not given."""
    if text is None:
        return None
    from phaseline.lang.durations import read_span

    try:
        return read_span(text)
    except ValueError as error:
        raise click.UsageError(f"{option}: {error}") from error


def print_result(desk: CliContext, view: ExecutionView, hints: Sequence[str] = ()) -> None:
    """Print the result and exit: with 0 if the execution completed as requested or continues without us, else with 1."""
    desk.answer(view, lambda: desk.renderer("executions:result_text")(view, hints if view.is_good else ()))
    for notice in view.notices:
        desk.notice(f"note: {notice}")
    click.get_current_context().exit(0 if view.is_good or view.detached else 1)
