"""Answers on stdout, notices on stderr, and the reaction when an output can no longer be written.

Every text of the program is printed here, escaped (``escaping``), on a terminal and in a pipe alike. kubectl does the
same, because a log that is read with ``less -R`` or ``tee`` is shown on a terminal in the end, too. Texts to be kept
unchanged (a document, a revealed secret) are exact in a pipe or a file, and escaped on a terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO

import click

OUTPUT, ERRORS = 1, 2
"""File descriptors of standard output and standard error, in this process and in programs that it starts."""

_kept: dict[int, TextIO] = {}
"""{original file descriptor: stream for Phaseline's own texts only}"""

_settles: list[Callable[[], None]] = []
"""Functions that print output of plugins still in the pipe; empty until plugin code is about to run."""


def output() -> TextIO:
    """Return the stream for answers."""
    return _kept.get(OUTPUT) or sys.stdout


def errors() -> TextIO:
    """Return the stream for all our other texts."""
    return _kept.get(ERRORS) or sys.stderr


def echo(text: str) -> None:
    """Print an answer on stdout. Raises ``OSError`` if it cannot be written, as on a full disk."""
    from phaseline.cli.streams.escaping import for_output

    click.echo(for_output(text), file=output())


def answer_json(document: str) -> None:
    """Print a JSON document on stdout; parsing it gives an equal value. Raises ``OSError`` if it cannot be written."""
    from phaseline.cli.streams.escaping import in_json

    click.echo(in_json(document), file=output())


def answer_json_parts(parts: Iterable[str]) -> None:
    """Print a JSON document that is made in parts, each printed before the next is made."""
    from phaseline.cli.streams.escaping import in_json

    for part in parts:
        click.echo(in_json(part), file=output(), nl=False)
    click.echo(file=output())


def answer_exactly(text: str) -> None:
    """Print a text on stdout, escaped only on a terminal. Raises ``OSError`` if it cannot be written."""
    if output().isatty():
        echo(text)
    else:
        click.echo(text.encode("utf-8", "backslashreplace"), file=output())


def echo_err(text: str) -> None:
    """Print a line on stderr. If that fails, the command continues without a message, because its work matters more."""
    from phaseline.cli.streams.escaping import for_output

    try:
        click.echo(for_output(text), file=errors())
    except OSError:
        forget(errors())


def terminal_size(stream: TextIO) -> os.terminal_size:
    """Return columns and lines from ``COLUMNS`` and ``LINES``, otherwise of the stream's terminal, or 80 by 24."""
    found = (0, 0)  # the size that a terminal without a window reports
    with suppress(OSError, ValueError):
        found = os.get_terminal_size(stream.fileno())
    said = [os.environ.get(name, "") for name in ("COLUMNS", "LINES")]
    sizes = zip(said, found, (80, 24), strict=True)
    return os.terminal_size(
        int(word) if word.isdigit() and int(word) else there or usual for word, there, usual in sizes
    )


def open_closed() -> None:
    """Open standard streams that were closed at the start, as under some daemons.

    Otherwise the next file that is opened would get their number.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode))


def keep_output() -> None:
    """Reserve standard output for answers: what plugins print there, or to descriptor 1, appears on stderr.

    This includes programs that plugins start, so that an answer remains one JSON document. A stream that is captured,
    as in a test, or closed stays unchanged. If stderr is a terminal, it is reserved for our own texts, too, and output
    of plugins is escaped there (``escape_others``).
    """
    own = sys.stdout
    if _kept or own is not sys.__stdout__ or not isinstance(own, TextIOWrapper) or own.fileno() != OUTPUT:
        return
    if sys.stderr is None:
        return
    own.flush()
    _kept[OUTPUT] = _copy(own)
    os.dup2(ERRORS, OUTPUT)
    own.reconfigure(line_buffering=True)  # like the notices on stderr
    beside = sys.stderr
    if beside is sys.__stderr__ and isinstance(beside, TextIOWrapper) and beside.fileno() == ERRORS and beside.isatty():
        _kept[ERRORS] = _copy(beside)


def _copy(own: TextIOWrapper) -> TextIO:
    kept = open(os.dup(own.fileno()), "w", encoding=own.encoding, errors=own.errors, closefd=False)  # noqa: SIM115 - stays open
    kept.reconfigure(line_buffering=own.line_buffering, write_through=own.write_through)
    return kept


def escape_others() -> None:
    """Escape what plugins print directly to the terminal from now on. Called before the first plugin code runs."""
    if ERRORS in _kept:
        from phaseline.cli.streams import terminal_capture as overheard

        overheard.begin(errors())
        _settles[:] = [overheard.settle]


def settle() -> None:
    """Print what plugins have written so far, so that it precedes our next text."""
    for settles in _settles:
        settles()


def forget(*streams: TextIO | int) -> None:
    """Discard further output on these streams, instead of failing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream if isinstance(stream, int) else stream.fileno())


def is_lost_answer(error: OSError) -> bool:
    """Return True if the error was raised while an answer was printed; other output raises no errors."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code is click.echo.__code__
