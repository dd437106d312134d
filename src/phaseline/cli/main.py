"""Where the program starts: runs the tree of commands and lets no traceback through to a user."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import NoReturn


def main() -> NoReturn:
    """The ``phaseline`` command."""
    sys.excepthook = report_defect
    try:
        from phaseline.cli.root import root  # inside, so that Ctrl-C is understood from the first moment on

        root.main(prog_name="phaseline")
    except BrokenPipeError:
        # Whoever read our output has seen enough; nothing more can be said, and nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(1)
    sys.exit(0)


def report_defect(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Say that the program itself is at fault, and keep the traceback in a file for whoever mends it."""
    import tempfile
    import traceback

    text = "".join(traceback.format_exception(kind, error, trace))
    with tempfile.NamedTemporaryFile("w", prefix="phaseline-defect-", suffix=".txt", delete=False) as file:
        file.write(f"{sys.argv}\n{text}")
    import click

    from phaseline.cli.render.problems import defect_text

    click.echo(defect_text(f"{kind.__name__}: {error}", file.name), err=True)
