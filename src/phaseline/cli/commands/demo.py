"""``phaseline demo``."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import click

from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.options import json_option


@click.command(epilog="Example: phaseline demo")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where its files and its store are left.  [default: phaseline-demo]",
)
@json_option
@click.pass_context
def demo(ctx: click.Context, folder: Path | None) -> None:
    """Show what Phaseline does, in under a minute, with a store and ports of its own.

    A three-tier application of real processes, 50 and 500 machines in bulk, a kill -9 in the middle of an install
    that carries on, a failure with its reason, and everything removed again. The store is left to look at.
    """
    from phaseline.demo import FOLDER, run_demo

    cli = ctx.ensure_object(CliContext)
    if not cli.as_json:
        ctx.exit(run_demo(folder or Path(FOLDER)))
    spoken = io.StringIO()
    with contextlib.redirect_stdout(spoken):
        code = run_demo(folder or Path(FOLDER))
    cli.answer({"ok": code == 0, "output": spoken.getvalue().splitlines()}, str)
    ctx.exit(code)
