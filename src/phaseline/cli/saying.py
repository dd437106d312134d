"""The answer on stdout, what is said beside it on stderr, and what happens when an output can no longer be written."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import TextIO

import click

OUTPUT, ERRORS = 1, 2
"""The descriptors of standard output and standard error, for this process and for the programs that it starts."""


def answer(text: str) -> None:
    """Print an answer on stdout. Raises ``OSError`` if it finds no room there."""
    click.echo(writable(text))


def writable(text: str) -> str:
    r"""The text; what is no character, as in a file's name that is not UTF-8, is written as JSON and Python write it.

    >>> print(writable("caf\udce9"), writable("café"))
    caf\udce9 café
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def say(text: str) -> None:
    """Print a line on stderr. If that cannot be written, what runs goes on unheard: it matters more than its telling."""
    try:
        click.echo(text, err=True)
    except OSError:
        forget(sys.stderr)


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
    """From now on standard output is for answers alone: whatever writes to descriptor 1 is heard on stderr.

    That are plugins that go past ``sys.stdout``, and programs that they start; an answer is to stay one JSON document. A stream that is not
    this process's own, as where a test or a program captures it, stays as it is, and so does one that was closed.
    """
    own = sys.stdout
    if own is not sys.__stdout__ or not isinstance(own, TextIOWrapper) or own.fileno() != OUTPUT or sys.stderr is None:
        return
    own.flush()
    kept = open(os.dup(OUTPUT), "w", encoding=own.encoding, errors=own.errors, closefd=False)  # noqa: SIM115 - for good
    kept.reconfigure(line_buffering=own.line_buffering, write_through=own.write_through)
    os.dup2(ERRORS, OUTPUT)
    sys.stdout = kept


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
