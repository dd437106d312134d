"""``phaseline install``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import detach_option, json_option, order_options, running_options

if TYPE_CHECKING:
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
    from phaseline.use_cases.prepare.options import ExecutionOptions


@click.command(epilog="Example: phaseline install blueprint.yaml -d shop -i port=8080")
@order_options
@running_options
@detach_option
@json_option
@click.pass_obj
def install(
    desk: Desk,
    order: DeploymentSpec,
    manner: ExecutionOptions,
    detach: bool,
) -> None:
    """Make a deployment of a blueprint and install it.

    Runs here, or is followed here if another process is the engine. Ctrl-C cancels nothing: it waits for the running
    calls and leaves the rest to an engine in the background; "executions follow" shows how it goes on.
    """
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.install import install as run

    with desk.open(makes_store=True) as place:
        with progress_watcher(desk) as watcher:
            view = run(place, order, manner=manner, watcher=watcher, detach=detach)
        print_result(desk, view, lambda: [f"outputs: phaseline deployments outputs {view.deployment}"])
