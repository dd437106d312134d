"""Repeated answers (``--watch``) and continuous output of new lines (``--follow``), until Ctrl-C or the end."""

from __future__ import annotations

import json
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

import click

from phaseline.cli.streams.escaping import for_output, in_json
from phaseline.cli.streams.output import echo, echo_err, output, terminal_size
from phaseline.views.json_codec import plain

if TYPE_CHECKING:
    from types import FrameType

    from phaseline.cli.shell.cli_context import CliContext
    from phaseline.use_cases.queries.events.log_stream import LineStream
    from phaseline.views.views import Line
OTHER_SCREEN, OWN_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h\x1b[?1049l"
"""Terminal codes around drawing: a separate screen, no cursor, long lines cut by the terminal."""
HOME, END_OF_LINE, END_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


def watch(desk: CliContext, look: Callable[[], bool], every_s: float) -> None:
    """Show the answer of a command repeatedly. ``look`` runs the command and returns True at the last answer.

    On a terminal the answer is redrawn. Elsewhere it is printed when it has changed, as text or as one JSON document
    per line.
    """
    with _until_interrupted():
        looks = _looks(desk, look, every_s)
        if output().isatty() and not desk.as_json:
            _redrawn(looks, every_s)
        else:
            _printed(looks)


def _looks(desk: CliContext, look: Callable[[], bool], every_s: float) -> Iterator[str]:
    """Yield the answer's text, again after each pause, until the command reports that it will not change any more."""
    taken: list[str] = []

    def take(value: object, text: Callable[[], str]) -> None:
        taken.append(in_json(json.dumps(plain(value), ensure_ascii=False)) if desk.as_json else text())

    desk.takes, desk.is_quiet = take, True  # a notice would appear in the middle of the screen at each look
    while True:
        goes_on = look()
        yield "\n".join(taken)
        if not goes_on:
            return
        taken.clear()
        pause(every_s)


def _printed(looks: Iterator[str]) -> None:
    """Print the answer's text each time it has changed."""
    shown = None
    for text in looks:
        if text != shown:
            echo(text)
            output().flush()
        shown = text


def _redrawn(looks: Iterator[str], every_s: float) -> None:
    """Draw on a separate screen. After the end, the last text remains on the normal screen."""
    has_color = click.get_current_context().color is not False
    last = next(looks)  # before anything is drawn: it may be an error
    output().write(OTHER_SCREEN)
    try:
        for text in chain([last], looks):
            last = text
            head = f"every {every_s:g} s, {time.strftime('%H:%M:%S')}; Ctrl-C ends"
            lines = [head, "", *for_output(text).split("\n")]
            room = max(terminal_size(output()).lines, 4)
            if len(lines) > room:
                lines = [*lines[: room - 1], f"… {len(lines) - room + 1:,} more lines"]
            shown = f"{END_OF_LINE}\n".join(lines if has_color else map(click.unstyle, lines))
            output().write(f"{HOME}{shown}{END_OF_LINE}{END_OF_SCREEN}")
            output().flush()
    finally:
        output().write(OWN_SCREEN)
        output().flush()
        echo(last)


def follow(cli: CliContext, stream: LineStream, limit: int | None, text: Callable[[Sequence[Line]], str]) -> None:
    """Print the last ``limit`` lines, then new ones until the execution ends.

    Also end if no process works on the execution; then the exit code is 1.
    """
    with _until_interrupted():
        looks = stream.news(pause)
        try:
            next(looks)
            _echo_lines(cli, stream.new(limit), text)
            if limit == 0 and not cli.as_json:
                cli.notice(f"({stream.row.id}: only new lines)")
            while True:
                next(looks)
                _echo_lines(cli, stream.new(), text)
        except StopIteration as end:
            has_ended = end.value
        if not has_ended:
            echo_err(stream.left_alone())
            click.get_current_context().exit(1)


def pause(seconds: float) -> None:
    """Wait.

    Raises ``BrokenPipeError`` as soon as the reader has closed the output, although nothing is being written.
    """
    try:
        number = output().fileno()
    except (OSError, ValueError):  # a test or a program captures it
        time.sleep(seconds)
        return
    reader = select.poll()
    reader.register(number, 0)
    if reader.poll(seconds * 1000):
        raise BrokenPipeError


def _echo_lines(desk: CliContext, pages: Iterator[list[Line]], text: Callable[[Sequence[Line]], str]) -> None:
    for lines in pages:
        if not lines:
            continue
        if desk.as_json:
            echo("\n".join(in_json(json.dumps(plain(line), ensure_ascii=False)) for line in lines))
        else:
            echo(text(lines))
        output().flush()


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """Return a context that Ctrl-C and SIGTERM end without an error."""

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, on_signal)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, former)
