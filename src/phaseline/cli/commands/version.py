"""``phaseline version``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.options import json_option


@click.command(epilog="Example: phaseline version --json")
@json_option
@click.pass_obj
def version(cli: CliContext) -> None:
    """Show the version of Phaseline."""
    import platform

    from phaseline import __version__

    answer = {"phaseline": __version__, "python": platform.python_version()}
    cli.answer(answer, lambda: f"phaseline {__version__}, Python {platform.python_version()}")
