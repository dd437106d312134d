"""``phaseline suspend|resume|check|restore|adopt|abandon|export``: actions on a deployment as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from phaseline.cli.commands.plans.answers import answer_plan
from phaseline.cli.shell.cli_context import CliContext, ask, run_command_for
from phaseline.cli.shell.documents import output_option, put, write_document
from phaseline.cli.shell.options import (
    OfDeployment,
    deployment_needed,
    detach_option,
    gathered,
    input_option,
    inputs_option,
    json_option,
    plan_options,
    plugins_option,
    running_options,
    stopping_options,
    yes_option,
)

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.views.views import ExecutionView

HELP = {
    "suspend": "Freeze a deployment's instances; stop those that cannot be frozen.\n\nDependents come first. Suspending twice has no further effect.",
    "resume": "Resume the suspended instances of a deployment.",
    "check": "Check every instance of a deployment, and report all problems.\n\nInstances that could not be checked are reported, too.",
}
"""{workflow: help text of its command}"""


def _whole(workflow: str) -> click.Command:
    """Make the command of a workflow that needs nothing except the name of a deployment."""

    def named(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_workflow(*args: object, **words: object) -> object:
            return function(*args, workflow=workflow, **words)

        return with_workflow

    return run_command_for(
        "executions.start",
        deployment_needed,
        running_options,
        detach_option,
        named,
        name=workflow,
        cls=OfDeployment,
        help=HELP[workflow],
        example=f"{workflow} -d shop",
    )


suspend, resume, check = (_whole(workflow) for workflow in HELP)


@click.command(cls=OfDeployment, epilog="Example: phaseline restore -d shop monday")
@click.argument("snapshot")
@deployment_needed
@click.option("--preview", is_flag=True, help='Only show the plan, as "phaseline plan restore".')
@running_options
@yes_option
@detach_option
@json_option
@click.pass_obj
def restore(
    cli: CliContext, /, snapshot: str, deployment: str, preview: bool, yes: bool, detach: bool, **options: Any
) -> None:
    """Restore a deployment to a snapshot.

    The deployment is updated to its former state, then the operation snapshot.apply is called.
    """
    from phaseline.cli.shell.run_output import print_result, progress_watcher

    with cli.open() as client:
        if preview:
            shown = client.snapshots.plan_restore(deployment, snapshot, **options)
        else:
            if cli.asks(yes):
                from phaseline.cli.shell.confirmation import confirm_plan

                shown = client.snapshots.plan_restore(deployment, snapshot, **options)
                confirm_plan(shown, f"Restore '{deployment}' to '{snapshot}' like this?")
            with progress_watcher(cli) as watcher:
                view = client.snapshots.restore(deployment, snapshot, watcher=watcher, detach=detach, **options)
            print_result(cli, view)
    if preview:
        answer_plan(cli, shown)


@click.command("restore", cls=OfDeployment, epilog="Example: phaseline plan restore -d shop monday")
@click.argument("snapshot")
@deployment_needed
@stopping_options
@plan_options
@json_option
@click.pass_obj
def plan_of_restore(cli: CliContext, /, snapshot: str, deployment: str, tells: bool, **options: Any) -> None:
    """Show what "restore" would do."""
    with cli.open() as client:
        shown = client.snapshots.plan_restore(deployment, snapshot, **options)
    answer_plan(cli, shown, tells=tells)


def _document_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for a document that ``adopt`` and ``plan adopt`` share."""

    @wraps(command)
    def with_inputs(
        *args: object,
        input_files: tuple[str, ...],
        inputs_given: tuple[str, ...],
        plugins: tuple[str, ...],
        **others: object,
    ) -> object:
        inputs = gathered(input_files, inputs_given)
        return command(*args, inputs=inputs, plugins=plugins or None, **others)

    made: Callable[..., Any] = with_inputs
    options = (
        click.argument("document", type=click.Path(dir_okay=False)),
        click.option(
            "-d", "--deployment", metavar="NAME", help="Name of the deployment. [default: name in the document]"
        ),
        click.option("--blueprint", metavar="FILE", help="Blueprint to use. [default: blueprint in the document]"),
        inputs_option,
        input_option,
        plugins_option,
        click.option("--allow-type-change", is_flag=True, help="Allow node types that differ from the document."),
        click.option(
            "--check/--no-check",
            default=True,
            show_default=True,
            help="Check that resources exist, where a check is defined.",
        ),
    )
    for option in reversed(options):
        made = option(made)
    return made


adopt = run_command_for(
    "deployments.adopt",
    _document_options,
    running_options,
    detach_option,
    help="Create a deployment from existing resources that a document lists.\n\nExport and abandon write such documents. No resource is created.",
    example="adopt shop.json -d shop",
)


@click.command("adopt", epilog="Example: phaseline plan adopt shop.json -d shop")
@_document_options
@stopping_options
@plan_options
@json_option
@click.pass_obj
def plan_of_adoption(cli: CliContext, /, tells: bool, **words: Any) -> None:
    """Show what "adopt" would do, and what prevents it."""
    with cli.open() as client:
        found = ask(client, "plans.adopt", words)
    answer_plan(cli, found, tells=tells)


@click.command(cls=OfDeployment, epilog="Example: phaseline abandon -d shop -o shop.json")
@deployment_needed
@output_option
@click.option("--force", is_flag=True, help="Cancel its open executions first, and accept an unfinished change.")
@yes_option
@detach_option
@json_option
@click.pass_obj
def abandon(cli: CliContext, deployment: str, output: str | None, force: bool, yes: bool, detach: bool) -> None:
    """Remove a deployment's records without touching its resources.

    Its document is printed, and kept for 30 days.
    """
    from phaseline.cli.shell.run_output import progress_watcher

    with cli.open() as client:
        if cli.asks(yes):
            from phaseline.cli.shell.confirmation import confirm_removal

            confirm_removal(client, deployment, "Abandon '{name}' and leave {count} untouched?")
        with progress_watcher(cli) as watcher:
            view = client.deployments.abandon(deployment, force=force, watcher=watcher, detach=detach)
        found = client.abandoned.show(view.id) if view.is_good else None
    _print_document(cli, view, found, output)


def _print_document(
    cli: CliContext, view: ExecutionView, found: Mapping[str, Value] | None, output: str | None
) -> None:
    """Print the document on stdout or into a file, and the result on stderr; exit as after any execution."""
    if cli.as_json:
        cli.answer({"execution": view, "document": found}, str)
    else:
        cli.notice(cli.renderer("executions:result_text")(view, ()))
        if found is not None:
            put(cli, found, output)
    if cli.as_json and found is not None and output is not None:
        write_document(found, output)
    click.get_current_context().exit(0 if view.is_good or view.detached else 1)


@click.command(cls=OfDeployment, epilog="Example: phaseline export -d shop -o shop.json")
@deployment_needed
@output_option
@click.option("--heat", is_flag=True, help="Write only the keys of Heat's documents.")
@json_option
@click.pass_obj
def export(cli: CliContext, deployment: str, output: str | None, heat: bool) -> None:
    """Print a deployment as a document for adopt.

    Nothing is changed. Secrets in the document are sealed.
    """
    with cli.open() as client:
        found = client.deployments.export(deployment, heat=heat)
    put(cli, found, output)
