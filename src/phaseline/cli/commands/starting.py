"""``phaseline executions start``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.desk import Desk
from phaseline.cli.misuse import OfDeployment
from phaseline.cli.options import detach_option, json_option, parameter_options, running_options

if TYPE_CHECKING:
    from phaseline.use_cases.installing import Manner


@click.command(
    cls=OfDeployment, epilog="Example: phaseline executions start execute_operation -d shop -p operation=backup"
)
@click.argument("workflow")
@click.option(
    "-d", "--deployment", metavar="NAME", required=True, help="The deployment, or a unique beginning of its name."
)
@parameter_options
@click.option("--force", is_flag=True, help="Although the blueprint says that the workflow is not available now.")
@running_options
@detach_option
@json_option
@click.pass_obj
def start(
    desk: Desk,
    workflow: str,
    deployment: str,
    parameter_files: tuple[str, ...],
    parameters_given: tuple[str, ...],
    allow_custom: bool,
    force: bool,
    manner: Manner,
    detach: bool,
) -> None:
    """Run a workflow of a deployment: a built-in one, by its name."""
    from phaseline.cli.running import finish, watching
    from phaseline.use_cases.inputs import gather_inputs
    from phaseline.use_cases.workflows import Start
    from phaseline.use_cases.workflows import start as run

    with desk.open() as place:
        parameters = gather_inputs(parameter_files, parameters_given)
        order = Start(workflow, deployment, parameters, allow_custom, force)
        with watching(desk) as watcher:
            view = run(place, order, manner=manner, watcher=watcher, detach=detach)
        finish(desk, view)
