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
    help="Folder for files and store.  [default: phaseline-demo]",
)
@json_option
@click.pass_context
def demo(ctx: click.Context, folder: Path | None) -> None:
    """Run a one-minute demonstration with a store and ports of its own.

    It installs a three-tier application of real processes, then 50 and 500 machines in bulk, survives a kill -9 during
    an install, explains a failure, and removes everything again. The store is kept for you to inspect.
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
