"""``phaseline install``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.desk import Desk
from phaseline.cli.options import (
    blueprint_argument,
    blueprint_options,
    detach_option,
    json_option,
    label_option,
    running_options,
)

if TYPE_CHECKING:
    from phaseline.use_cases.installing import Manner


@click.command(epilog="Example: phaseline install blueprint.yaml -d shop -i port=8080")
@blueprint_argument
@click.option(
    "-d",
    "--deployment",
    "name",
    metavar="NAME",
    help="Name of the deployment; otherwise that of the blueprint's folder.",
)
@blueprint_options
@label_option
@running_options
@click.option("--yes-many", is_flag=True, help="Yes, more than a million calls for relationships are meant.")
@click.option(
    "--runtime-only-evaluation",
    "runtime_only",
    is_flag=True,
    help="Evaluate functions when their values are needed, so that inputs that change later take effect.",
)
@detach_option
@json_option
@click.pass_obj
def install(
    desk: Desk,
    file: str,
    name: str | None,
    plugin_folders: tuple[str, ...],
    input_files: tuple[str, ...],
    inputs_given: tuple[str, ...],
    labels: tuple[str, ...],
    manner: Manner,
    yes_many: bool,
    runtime_only: bool,
    detach: bool,
) -> None:
    """Make a deployment of a blueprint and install it.

    Runs here, or is followed here if another process is the engine. Ctrl-C cancels nothing: it waits for the running
    calls and leaves the rest to an engine in the background; "executions follow" shows how it goes on.
    """
    from phaseline.cli.running import finish, watching
    from phaseline.use_cases.inputs import gather_inputs
    from phaseline.use_cases.installing import Order
    from phaseline.use_cases.installing import install as run

    with desk.open(makes_store=True) as place:
        inputs = gather_inputs(input_files, inputs_given)
        order = Order(file, name, inputs, plugin_folders, yes_many, runtime_only, labels)
        with watching(desk) as watcher:
            view = run(place, order, manner=manner, watcher=watcher, detach=detach)
        finish(desk, view, lambda: [f"outputs: phaseline deployments outputs {view.deployment}"])
