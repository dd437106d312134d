"""``phaseline deployments update`` and ``phaseline plan update``: the same options, carried out or previewed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from phaseline.cli.commands.plans.answers import answer_plan
from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.options import (
    OfDeployment,
    blueprint_argument,
    blueprint_options,
    deployment_argument,
    deployment_needed,
    detach_option,
    gathered,
    json_option,
    missing_providers_option,
    parameter_option,
    plan_options,
    running_options,
    runtime_only_option,
    save_option,
    stopping_options,
    yes_option,
)

if TYPE_CHECKING:
    from phaseline.use_cases.prepare.plan_preview import PlanPreview

SWITCHES = {
    "allow_replace": "Allow reinstalling nodes that cannot change in place (type, container, group ...).",
    "skip_uninstall": "Do not uninstall removed nodes; only delete their records.",
    "skip_install": "Do not install added nodes.",
    "skip_drift_check": "Do not check for drift; only changes of the blueprint count.",
    "skip_heal": "Do not check and heal instances before their update.",
    "skip_reinstall": "Reinstall only the instances that --reinstall names.",
    "force_reinstall": "Reinstall changed instances, even if they could be updated.",
    "ignore_failure": "Continue even if an uninstall fails.",
    "auto_correct_types": "Convert text inputs to numbers or booleans where their types require it.",
}
"""{parameter of the update workflow: help text of its option}"""
NAMED = 5
"""Largest number of nodes that the confirmation question names; all their instances are counted."""


def update_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the update itself, which ``deployments update`` and ``plan update`` share."""

    @wraps(function)
    def with_values(
        *args: object,
        input_files: tuple[str, ...],
        inputs_given: tuple[str, ...],
        parameters_given: tuple[str, ...],
        plugins: tuple[str, ...],
        **others: object,
    ) -> object:
        parameters, inputs = gathered((), parameters_given), gathered(input_files, inputs_given)
        return function(*args, inputs=inputs, parameters=parameters, plugins=plugins or None, **others)

    command: Callable[..., Any] = with_values
    for name, text in reversed(SWITCHES.items()):
        command = click.option(f"--{name.replace('_', '-')}", name, is_flag=True, help=text)(command)
    command = click.option(
        "--reinstall", metavar="ID", multiple=True, help="Instance to reinstall in any case. [repeatable]"
    )(command)
    command = click.option(
        "--workflow-id",
        metavar="WORKFLOW",
        help="Workflow to run instead of the update's rounds; its parameters list the affected instances.",
    )(parameter_option(command))
    command = click.option(
        "--force", is_flag=True, help="Update it although other deployments read what the update touches."
    )(command)
    return blueprint_options(blueprint_argument(runtime_only_option(missing_providers_option(command))))


@click.command(epilog="Example: phaseline deployments update shop blueprint.yaml -i port=8080")
@deployment_argument
@update_options
@click.option("--preview", is_flag=True, help='Only show the plan, as "phaseline plan update".')
@running_options
@yes_option
@detach_option
@json_option
@click.pass_obj
def update(cli: CliContext, /, name: str, file: str, preview: bool, yes: bool, detach: bool, **options: Any) -> None:
    """Update a deployment to another blueprint, or to other inputs.

    Inputs that are not given keep their values. To see the plan first: phaseline plan update.
    """
    from phaseline.cli.shell.run_output import print_result, progress_watcher

    with cli.open() as client:
        if preview:
            shown = client.plans.update(name, file, **options)
        else:
            if cli.asks(yes):
                from phaseline.cli.shell.confirmation import confirm_plan

                planned = client.plans.update(name, file, allowed_only=True, **options)
                confirm_plan(planned, f"{_made_anew(cli, planned)}Update '{name}' like this?")
            with progress_watcher(cli) as watcher:
                view = client.deployments.update(name, file, watcher=watcher, detach=detach, **options)
            print_result(cli, view)
    if preview:
        answer_plan(cli, shown)


def _made_anew(cli: CliContext, found: PlanPreview) -> str:
    """Return the last line before the confirmation question: how many instances the update reinstalls.

    Return an empty text if there are none.
    """
    anew = found.made_anew
    if not anew:
        return ""
    names = ", ".join(list(anew)[:NAMED]) + (", ..." if len(anew) > NAMED else "")
    count = cli.renderer("table:number")(sum(anew.values()), "instance")
    return f"{count} of {names} will be reinstalled. "


@click.command("update", cls=OfDeployment, epilog="Example: phaseline plan update -d shop blueprint.yaml --save")
@deployment_needed
@update_options
@stopping_options
@save_option
@plan_options
@json_option
@click.pass_obj
def plan_of_update(cli: CliContext, /, deployment: str, file: str, tells: bool, **options: Any) -> None:
    """Show what "deployments update" would do, in all its rounds.

    The plan has the steps, attributes old -> new, and what is reinstalled and why.
    """
    with cli.open() as client:
        found = client.plans.update(deployment, file, **options)
    answer_plan(cli, found, tells=tells)
