"""The answer on stdout, what is said beside it on stderr, and what happens when an output can no longer be written.

Every text of the program goes out here, escaped (``escaping``): on a terminal and in a pipe alike, as kubectl does it,
because whoever reads a log with ``less -R`` or ``tee`` has a terminal, too. What is printed to be kept as it is
(a document, a secret that is revealed) is exact in a pipe or a file, and escaped on a terminal.
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
"""The descriptors of standard output and standard error, for this process and for the programs that it starts."""

_kept: dict[int, TextIO] = {}
"""Streams that are for our own texts alone, by the descriptor that they were once."""

_settles: list[Callable[[], None]] = []
"""What shows the texts of others that are on their way; empty until code of a plugin was about to run."""


def output() -> TextIO:
    """Where answers go."""
    return _kept.get(OUTPUT) or sys.stdout


def errors() -> TextIO:
    """Where everything else goes that we say."""
    return _kept.get(ERRORS) or sys.stderr


def echo(text: str) -> None:
    """Print an answer on stdout. Raises ``OSError`` if it finds no room there."""
    from phaseline.cli.streams.escaping import for_output

    click.echo(for_output(text), file=output())


def answer_json(document: str) -> None:
    """Print a JSON document on stdout; it reads back exactly. Raises as ``echo``."""
    from phaseline.cli.streams.escaping import in_json

    click.echo(in_json(document), file=output())


def answer_json_parts(parts: Iterable[str]) -> None:
    """The same of a document that is made in parts, each printed before the next is made."""
    from phaseline.cli.streams.escaping import in_json

    for part in parts:
        click.echo(in_json(part), file=output(), nl=False)
    click.echo(file=output())


def answer_exactly(text: str) -> None:
    """Print on stdout what is to be kept as it is; escaped only where it goes to a terminal. Raises as ``echo``."""
    if output().isatty():
        echo(text)
    else:
        click.echo(text.encode("utf-8", "backslashreplace"), file=output())


def echo_err(text: str) -> None:
    """Print a line on stderr. If that cannot be written, what runs goes on unheard: it matters more than its telling."""
    from phaseline.cli.streams.escaping import for_output

    try:
        click.echo(for_output(text), file=errors())
    except OSError:
        forget(errors())


def terminal_size(stream: TextIO) -> os.terminal_size:
    """Columns and lines of the terminal that the stream is, unless the user has said them; 80 by 24 where it is none."""
    found = (0, 0)  # as a terminal has it that nobody looks at
    with suppress(OSError, ValueError):
        found = os.get_terminal_size(stream.fileno())
    said = [os.environ.get(name, "") for name in ("COLUMNS", "LINES")]
    sizes = zip(said, found, (80, 24), strict=True)
    return os.terminal_size(
        int(word) if word.isdigit() and int(word) else there or usual for word, there, usual in sizes
    )


def open_closed() -> None:
    """What was closed when we began, as some daemons do it, leads nowhere; else the next file that is opened would get its number."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            if nowhere != number:
                os.dup2(nowhere, number)
                os.close(nowhere)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode))


def keep_output() -> None:
    """From now on standard output is for answers alone: whatever others write there, or to descriptor 1, is heard on stderr.

    That are plugins, and programs that they start; an answer is to stay one JSON document. A stream that is not this process's
    own, as where a test or a program captures it, stays as it is, and so does one that was closed. Where stderr is a
    terminal, it is kept for our own texts, too: what others write there is to be escaped (``escape_others``).
    """
    own = sys.stdout
    if _kept or own is not sys.__stdout__ or not isinstance(own, TextIOWrapper) or own.fileno() != OUTPUT:
        return
    if sys.stderr is None:
        return
    own.flush()
    _kept[OUTPUT] = _copy(own)
    os.dup2(ERRORS, OUTPUT)
    own.reconfigure(line_buffering=True)  # as what is said beside the answer
    beside = sys.stderr
    if beside is sys.__stderr__ and isinstance(beside, TextIOWrapper) and beside.fileno() == ERRORS and beside.isatty():
        _kept[ERRORS] = _copy(beside)


def _copy(own: TextIOWrapper) -> TextIO:
    kept = open(os.dup(own.fileno()), "w", encoding=own.encoding, errors=own.errors, closefd=False)  # noqa: SIM115 - for good
    kept.reconfigure(line_buffering=own.line_buffering, write_through=own.write_through)
    return kept


def escape_others() -> None:
    """Before the first code of a plugin runs: what it writes past us to a terminal is shown escaped from now on."""
    if ERRORS in _kept:
        from phaseline.cli.streams import terminal_capture as overheard

        overheard.begin(errors())
        _settles[:] = [overheard.settle]


def settle() -> None:
    """What others have written until now is shown before what we say next."""
    for settles in _settles:
        settles()


def forget(*streams: TextIO | int) -> None:
    """What is still said on these goes nowhere, instead of failing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream if isinstance(stream, int) else stream.fileno())


def is_lost_answer(error: OSError) -> bool:
    """Whether it was raised where an answer is printed; nothing else that is printed raises."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code is click.echo.__code__
