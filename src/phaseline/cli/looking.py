"""Answers that are shown again and again until Ctrl-C (``--watch``), and lines as they come (``--follow``)."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING

import click

from phaseline.cli.escaping import for_output, in_json
from phaseline.cli.render.json_form import plain
from phaseline.cli.saying import answer, output, terminal_size

if TYPE_CHECKING:
    from types import FrameType

    from phaseline.cli.desk import Desk
    from phaseline.use_cases.tail import LogTail
    from phaseline.use_cases.values import Line

EVERY_S = 0.5
"""Seconds between two looks for new lines."""
OTHER_SCREEN, OWN_SCREEN = "\x1b[?1049h\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h\x1b[?1049l"
"""Begin and end of drawing: a screen of its own, no cursor, long lines cut by the terminal."""
HOME, END_OF_LINE, END_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


def watch(desk: Desk, look: Callable[[], object], every_s: float) -> None:
    """Show what the command ``look`` answers: redrawn on a terminal; elsewhere printed anew, or as a JSON document a line, when it changed."""
    with _until_interrupted():
        draw = _redrawn if output().isatty() and not desk.as_json else _printed
        draw(_looks(desk, look), every_s)


def _looks(desk: Desk, look: Callable[[], object]) -> Iterator[str]:
    """What is to be shown, each time it is asked for."""
    taken: list[str] = []

    def take(value: object, text: Callable[[], str]) -> None:
        taken.append(in_json(json.dumps(plain(value), ensure_ascii=False)) if desk.as_json else text())

    desk.takes, desk.is_quiet = take, True  # a notice would stand in the middle of the screen, each time
    while True:
        look()
        yield "\n".join(taken)
        taken.clear()


def _printed(looks: Iterator[str], every_s: float) -> None:
    """Each time it has changed."""
    shown = None
    for text in looks:
        if text != shown:
            answer(text)
            output().flush()
        shown = text
        time.sleep(every_s)


def _redrawn(looks: Iterator[str], every_s: float) -> None:
    """On a screen of its own; what was shown last stays behind."""
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
            time.sleep(every_s)
    finally:
        output().write(OWN_SCREEN)
        output().flush()
        answer(last)


def follow(desk: Desk, tail: LogTail, limit: int | None, text: Callable[[list[Line]], str]) -> None:
    """The last ``limit`` lines, then those that come, until the execution has ended."""
    with _until_interrupted():
        _tell(desk, tail.new(limit), text)
        while True:
            is_over = tail.is_over()  # asked first: what is written before the end is read after it
            lines = tail.new()
            _tell(desk, lines, text)
            if is_over:
                return
            time.sleep(EVERY_S)


def _tell(desk: Desk, lines: list[Line], text: Callable[[list[Line]], str]) -> None:
    if not lines:
        return
    if desk.as_json:
        answer("\n".join(in_json(json.dumps(plain(line), ensure_ascii=False)) for line in lines))
    else:
        answer(text(lines))
    output().flush()


@contextmanager
def _until_interrupted() -> Iterator[None]:
    """Ctrl-C and SIGTERM are how this is meant to end."""

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGTERM, on_signal)
    try:
        yield
    except KeyboardInterrupt:
        return
    finally:
        signal.signal(signal.SIGTERM, former)
