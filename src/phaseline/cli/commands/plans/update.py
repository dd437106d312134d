"""``phaseline deployments update`` and ``phaseline plan update``: the same words, done or shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.deployment_option import OfDeployment
from phaseline.cli.shell.options import (
    blueprint_argument,
    blueprint_options,
    deployment_argument,
    deployment_needed,
    detach_option,
    json_option,
    parameter_option,
    plan_options,
    running_options,
    runtime_only_option,
    save_option,
    stopping_options,
    yes_option,
)

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.use_cases.prepare.update_preparation import UpdateOrder

SWITCHES = {
    "allow_replace": "Nodes that cannot change as they stand (type, container, group ...) may be uninstalled and installed anew.",
    "skip_uninstall": "Leave what the blueprint has no more where it is, and forget it.",
    "skip_install": "Do not install what comes.",
    "skip_drift_check": "Do not ask what is there whether it has drifted; only what changed in the blueprint counts.",
    "skip_heal": "Do not check and heal what is to be updated before that.",
    "skip_reinstall": "Reinstall nothing but what --reinstall names.",
    "force_reinstall": "Reinstall what has changed, although it could be updated.",
    "ignore_failure": "Go on although something cannot be uninstalled.",
    "auto_correct_types": "Inputs that are texts become numbers and truths where their types ask for these.",
}
"""{parameter of the workflow: its help}"""
NAMED = 5
"""How many nodes the question names; their instances are all counted."""


def update_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What both commands know of the update itself."""
    for name, text in reversed(SWITCHES.items()):
        command = click.option(f"--{name.replace('_', '-')}", name, is_flag=True, help=text)(command)
    command = click.option(
        "--reinstall", metavar="ID", multiple=True, help="Reinstall this instance, whatever is found of it; repeatable."
    )(command)
    command = click.option(
        "--workflow-id",
        metavar="WORKFLOW",
        help="Run this workflow instead of the update's own rounds; its parameters say whom it concerns.",
    )(parameter_option(command))
    return blueprint_options(blueprint_argument(runtime_only_option(command)))


def read_order(
    deployment: str,
    file: str,
    plugin_folders: tuple[str, ...],
    input_files: tuple[str, ...],
    inputs_given: tuple[str, ...],
    runtime_only: bool,
    reinstall: tuple[str, ...],
    workflow_id: str | None,
    parameters_given: tuple[str, ...],
    **switches: bool,
) -> UpdateOrder:
    """What the words mean."""
    from phaseline.use_cases.loading.input_files import gather_inputs
    from phaseline.use_cases.prepare.update_preparation import UpdateOrder

    parameters: dict[str, Value] = dict(gather_inputs((), parameters_given))
    parameters |= {name: True for name, is_set in switches.items() if is_set}
    if workflow_id is not None:
        parameters["workflow_id"] = workflow_id
    if reinstall:
        parameters["reinstall_list"] = list(reinstall)
    inputs = gather_inputs(input_files, inputs_given)
    return UpdateOrder(deployment, file, inputs, plugin_folders or None, parameters, runtime_only)


@click.command(epilog="Example: phaseline deployments update shop blueprint.yaml -i port=8080")
@deployment_argument
@update_options
@click.option("--preview", is_flag=True, help="Only show what would be done, as phaseline plan update.")
@running_options
@yes_option
@detach_option
@json_option
@click.pass_obj
def update(
    desk: Desk, /, name: str, preview: bool, manner: ExecutionOptions, yes: bool, detach: bool, **words: Any
) -> None:
    """Bring a deployment to another blueprint, or to other inputs of the same one; see before: phaseline plan update.

    Inputs that are not given stay as they are.
    """
    from phaseline.cli.commands.plans.plan import answer_plan
    from phaseline.cli.shell.confirmation import asks, confirm_plan
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.update import plan_update
    from phaseline.use_cases.commands.update import update as bring

    with desk.open() as place:
        order = read_order(name, **words)
        if preview:
            shown = plan_update(place, order, manner=manner)
        else:
            if asks(desk, yes):
                planned = plan_update(place, order, manner=manner, allowed_only=True)
                confirm_plan(planned, f"{_made_anew(planned)}Update '{order.deployment}' so?")
            with progress_watcher(desk) as watcher:
                view = bring(place, order, manner=manner, watcher=watcher, detach=detach)
            print_result(desk, view)
    if preview:
        answer_plan(desk, shown)


def _made_anew(found: PlanPreview) -> str:
    """What an update throws away to make it anew, as the last line before the question; empty: nothing."""
    from phaseline.cli.render.table import number
    from phaseline.use_cases.commands.update import made_anew

    anew = made_anew(found)
    if not anew:
        return ""
    names = ", ".join(list(anew)[:NAMED]) + (", ..." if len(anew) > NAMED else "")
    return f"{number(sum(anew.values()), 'instance')} of {names} will be uninstalled and installed anew. "


@click.command("update", cls=OfDeployment, epilog="Example: phaseline plan update -d shop blueprint.yaml --save")
@deployment_needed
@update_options
@stopping_options
@save_option
@plan_options
@json_option
@click.pass_obj
def plan_of_update(
    desk: Desk, /, deployment: str, breakpoints: tuple[Breakpoint, ...], save: bool, tells: bool, **words: Any
) -> None:
    """Show what "deployments update" would do: steps, attributes old -> new, what is reinstalled and why, all rounds."""
    from phaseline.cli.commands.plans.plan import answer_plan
    from phaseline.use_cases.commands.update import plan_update
    from phaseline.use_cases.prepare.options import ExecutionOptions

    with desk.open() as place:
        manner = ExecutionOptions(breakpoints=breakpoints)
        found = plan_update(place, read_order(deployment, **words), save=save, manner=manner)
    answer_plan(desk, found, tells=tells)
