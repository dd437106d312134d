"""``phaseline install``."""

from __future__ import annotations

from phaseline.cli.shell.cli_context import run_command_for
from phaseline.cli.shell.options import detach_option, order_options, running_options

install = run_command_for(
    "executions.install",
    order_options,
    running_options,
    detach_option,
    hints=lambda view: [f"outputs: phaseline deployments outputs {view.deployment}"],
    help="""Create a deployment from a blueprint and install it.

    The execution runs here, or is followed here if another process is the engine. Ctrl-C cancels nothing: it waits for
    running calls and leaves the rest to an engine in the background; watch that with "executions follow".
    """,
    example="install blueprint.yaml -d shop -i port=8080",
)
