"""Saying something beside the answer, on stderr, and what happens when an output can no longer be written."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import click


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


def forget(*streams: TextIO) -> None:
    """What is still said on these goes nowhere, instead of failing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())


def is_lost_answer(error: OSError) -> bool:
    """Whether it was raised where an answer is printed; nothing else that is printed raises."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code is click.echo.__code__
