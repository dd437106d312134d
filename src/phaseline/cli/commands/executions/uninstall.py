"""``phaseline uninstall``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.deployment_option import OfDeployment
from phaseline.cli.shell.options import deployment_needed, detach_option, json_option, running_options, yes_option

if TYPE_CHECKING:
    from phaseline.use_cases.prepare.options import ExecutionOptions


@click.command(cls=OfDeployment, epilog="Example: phaseline uninstall -d shop")
@deployment_needed
@click.option("--ignore-failure", is_flag=True, help="Go on where an operation fails, as if it had not.")
@click.option(
    "--recursive",
    is_flag=True,
    help="First uninstall the deployments that belong to it, as their labels csys-obj-parent say.",
)
@running_options
@yes_option
@detach_option
@json_option
@click.pass_obj
def uninstall(
    desk: Desk,
    deployment: str,
    ignore_failure: bool,
    recursive: bool,
    manner: ExecutionOptions,
    yes: bool,
    detach: bool,
) -> None:
    """Stop and delete every instance of a deployment. Its record stays; "deployments delete" forgets it."""
    from phaseline.cli.shell.confirmation import asks, confirm_removal
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.install import uninstall as run

    with desk.open() as place:
        if asks(desk, yes):
            confirm_removal(place, deployment, "Uninstall '{name}': stop and delete {count}?")
        with progress_watcher(desk) as watcher:
            view = run(
                place,
                deployment,
                ignore_failure=ignore_failure,
                recursive=recursive,
                manner=manner,
                watcher=watcher,
                detach=detach,
            )
        print_result(desk, view, lambda: [f"forget it: phaseline deployments delete {view.deployment}"])
