"""``phaseline completion``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.options import json_option

VARIABLE = "_PHASELINE_COMPLETE"
"""The environment variable of a shell that requests completions; click derives it from the program's name."""
SHELLS = ("bash", "zsh", "fish")


@click.command(epilog="Example: phaseline completion bash >> ~/.bashrc")
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands and names in a shell.

    Names are those of deployments, executions and instances. In ~/.bashrc: eval "$(phaseline completion bash)"; in
    ~/.zshrc the same with zsh; for fish: phaseline completion fish | source.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click knows these three"
    form = kind(ctx.find_root().command, {}, "phaseline", VARIABLE)
    script = form.source_template % form.source_vars()
    ctx.ensure_object(CliContext).answer({"shell": shell, "script": script}, lambda: script)
