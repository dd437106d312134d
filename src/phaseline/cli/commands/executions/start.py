"""``phaseline executions start``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.deployment_option import OfDeployment
from phaseline.cli.shell.options import deployment_needed, detach_option, json_option, running_options, start_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart


@click.command(
    cls=OfDeployment, epilog="Example: phaseline executions start execute_operation -d shop -p operation=backup"
)
@click.argument("workflow")
@deployment_needed
@start_options
@running_options
@detach_option
@json_option
@click.pass_obj
def start(
    desk: Desk,
    workflow: str,
    deployment: str,
    start_of: Callable[[str, str], WorkflowStart],
    manner: ExecutionOptions,
    detach: bool,
) -> None:
    """Run a workflow of a deployment: a built-in one, by its name."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.start_workflow import start as run

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = run(place, start_of(workflow, deployment), manner=manner, watcher=watcher, detach=detach)
        print_result(desk, view)
