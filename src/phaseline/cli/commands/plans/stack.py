"""``phaseline suspend|resume|check|restore|adopt|abandon|export``: what is done to a deployment as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.deployment_option import OfDeployment
from phaseline.cli.shell.options import (
    deployment_needed,
    detach_option,
    input_option,
    inputs_option,
    json_option,
    plan_options,
    plugins_option,
    running_options,
    stopping_options,
    yes_option,
)
from phaseline.cli.streams.escaping import in_json
from phaseline.cli.streams.output import answer_json

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.use_cases.commands.adopt import AdoptOrder
    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.views.views import ExecutionView

output_option = click.option(
    "-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), help="Write the document there, not to stdout."
)
HELP = {
    "suspend": "Freeze what runs of a deployment, or stop what cannot be frozen; dependents first. Twice is once.",
    "resume": "Have what is suspended go on, in the order of dependencies.",
    "check": "Ask every instance how it is; all that is wrong is told, and what could not be asked.",
}
"""{workflow: its help}"""


def _whole(workflow: str) -> click.Command:
    """The command of a workflow that has nothing to say but of which deployment."""

    @click.command(workflow, cls=OfDeployment, epilog=f"Example: phaseline {workflow} -d shop", help=HELP[workflow])
    @deployment_needed
    @running_options
    @detach_option
    @json_option
    @click.pass_obj
    def command(desk: Desk, deployment: str, manner: ExecutionOptions, detach: bool) -> None:
        from phaseline.cli.shell.run_output import print_result, progress_watcher
        from phaseline.use_cases.commands.start_workflow import start
        from phaseline.use_cases.prepare.workflow_start import WorkflowStart

        with desk.open() as place:
            with progress_watcher(desk) as watcher:
                view = start(place, WorkflowStart(workflow, deployment), manner=manner, watcher=watcher, detach=detach)
            print_result(desk, view)

    return command


suspend, resume, check = (_whole(workflow) for workflow in HELP)


@click.command(cls=OfDeployment, epilog="Example: phaseline restore -d shop monday")
@click.argument("snapshot")
@deployment_needed
@click.option("--preview", is_flag=True, help="Only show what would be done, as phaseline plan restore.")
@running_options
@yes_option
@detach_option
@json_option
@click.pass_obj
def restore(
    desk: Desk,
    snapshot: str,
    deployment: str,
    preview: bool,
    manner: ExecutionOptions,
    yes: bool,
    detach: bool,
) -> None:
    """Bring a deployment back to a snapshot: an update to what it was, then the operation snapshot.apply."""
    from phaseline.cli.commands.plans.plan import answer_plan
    from phaseline.cli.shell.confirmation import asks, confirm_plan
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.snapshots import plan_restore
    from phaseline.use_cases.commands.snapshots import restore as bring_back

    with desk.open() as place:
        if preview:
            shown = plan_restore(place, deployment, snapshot, manner=manner)
        else:
            if asks(desk, yes):
                shown = plan_restore(place, deployment, snapshot, manner=manner)
                confirm_plan(shown, f"Bring '{deployment}' back to '{snapshot}' so?")
            with progress_watcher(desk) as watcher:
                view = bring_back(place, deployment, snapshot, manner=manner, watcher=watcher, detach=detach)
            print_result(desk, view)
    if preview:
        answer_plan(desk, shown)


@click.command("restore", cls=OfDeployment, epilog="Example: phaseline plan restore -d shop monday")
@click.argument("snapshot")
@deployment_needed
@stopping_options
@plan_options
@json_option
@click.pass_obj
def plan_of_restore(
    desk: Desk, snapshot: str, deployment: str, breakpoints: tuple[Breakpoint, ...], tells: bool
) -> None:
    """Show what "restore" would do."""
    from phaseline.cli.commands.plans.plan import answer_plan
    from phaseline.use_cases.commands.snapshots import plan_restore
    from phaseline.use_cases.prepare.options import ExecutionOptions

    with desk.open() as place:
        shown = plan_restore(place, deployment, snapshot, manner=ExecutionOptions(breakpoints=breakpoints))
    answer_plan(desk, shown, tells=tells)


def _document_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What adopt and the plan of it know of a document."""
    options = (
        click.argument("document", type=click.Path(dir_okay=False)),
        click.option(
            "-d", "--deployment", "name", metavar="NAME", help="Name of the deployment; otherwise the document's."
        ),
        click.option("--blueprint", metavar="FILE", help="Another blueprint than the document's."),
        inputs_option,
        input_option,
        plugins_option,
        click.option(
            "--allow-type-change", is_flag=True, help="Although a node has another type than the document says."
        ),
        click.option(
            "--check/--no-check",
            default=True,
            show_default=True,
            help="Ask those that have a check whether they are there.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _order(
    document: str,
    name: str | None,
    blueprint: str | None,
    input_files: tuple[str, ...],
    inputs_given: tuple[str, ...],
    plugin_folders: tuple[str, ...],
    allow_type_change: bool,
    check: bool,
) -> AdoptOrder:
    from phaseline.use_cases.commands.adopt import AdoptOrder
    from phaseline.use_cases.loading.input_files import gather_inputs

    inputs = gather_inputs(input_files, inputs_given)
    return AdoptOrder(document, name, blueprint, inputs, plugin_folders or None, allow_type_change, check)


@click.command(epilog="Example: phaseline adopt shop.json -d shop")
@_document_options
@running_options
@detach_option
@json_option
@click.pass_obj
def adopt(desk: Desk, /, manner: ExecutionOptions, detach: bool, **words: Any) -> None:
    """Make a deployment of what is there already, by a document that export or abandon has written. Nothing is created."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.adopt import adopt as take_over

    with desk.open(makes_store=True) as place:
        with progress_watcher(desk) as watcher:
            view = take_over(place, _order(**words), manner=manner, watcher=watcher, detach=detach)
        print_result(desk, view)


@click.command("adopt", epilog="Example: phaseline plan adopt shop.json -d shop")
@_document_options
@stopping_options
@plan_options
@json_option
@click.pass_obj
def plan_of_adoption(desk: Desk, /, breakpoints: tuple[Breakpoint, ...], tells: bool, **words: Any) -> None:
    """Show what "adopt" would do, and what speaks against it; nothing is stored."""
    from phaseline.cli.commands.plans.plan import answer_plan
    from phaseline.use_cases.commands.adopt import plan_adoption
    from phaseline.use_cases.prepare.options import ExecutionOptions

    with desk.open() as place:
        found = plan_adoption(place, _order(**words), manner=ExecutionOptions(breakpoints=breakpoints))
    answer_plan(desk, found, tells=tells)


@click.command(cls=OfDeployment, epilog="Example: phaseline abandon -d shop -o shop.json")
@deployment_needed
@output_option
@click.option("--force", is_flag=True, help="Cancel what runs of it first, and although a change of it is half done.")
@yes_option
@detach_option
@json_option
@click.pass_obj
def abandon(desk: Desk, deployment: str, output: str | None, force: bool, yes: bool, detach: bool) -> None:
    """Forget a deployment and leave alone what it stands for; its document is printed, and kept for 30 days."""
    from phaseline.cli.shell.confirmation import asks, confirm_removal
    from phaseline.cli.shell.run_output import progress_watcher
    from phaseline.use_cases.commands.adopt import abandon as let_go
    from phaseline.use_cases.prepare.stack_documents import show_abandoned

    with desk.open() as place:
        if asks(desk, yes):
            confirm_removal(place, deployment, "Forget '{name}' and leave {count} alone as they are?")
        with progress_watcher(desk) as watcher:
            view = let_go(place, deployment, force=force, watcher=watcher, detach=detach)
        found = show_abandoned(place, view.id) if view.is_good else None
    _told(desk, view, found, output)


def _told(desk: Desk, view: ExecutionView, found: Mapping[str, Value] | None, output: str | None) -> None:
    """The document on stdout or in a file, how it went beside it; the exit code as of any execution."""
    from phaseline.cli.render.executions import result_text

    if desk.as_json:
        desk.answer({"execution": view, "document": found}, str)
    else:
        desk.notice(result_text(view, ()))
        if found is not None:
            put(desk, found, output)
    if desk.as_json and found is not None and output is not None:
        write_document(found, output)
    click.get_current_context().exit(0 if view.is_good or view.detached else 1)


@click.command(cls=OfDeployment, epilog="Example: phaseline export -d shop -o shop.json")
@deployment_needed
@output_option
@click.option("--heat", "only_others", is_flag=True, help="Only the keys that documents of Heat have.")
@json_option
@click.pass_obj
def export(desk: Desk, deployment: str, output: str | None, only_others: bool) -> None:
    """Print a deployment as the document that adopt takes. Nothing is changed; secrets in it are sealed."""
    from phaseline.use_cases.prepare.stack_documents import export as write_down

    with desk.open() as place:
        found = write_down(place, deployment, only_others=only_others)
    put(desk, found, output)


def put(desk: Desk, document: Mapping[str, Value], output: str | None) -> None:
    """A document to stdout, or into a file."""
    if output is None:
        answer_json(text_of(document))
    else:
        write_document(document, output)
        desk.notice(f"Written: {output}")


def write_document(document: Mapping[str, Any], output: str) -> None:
    """A document into a file that only its owner reads: it says where everything is. Raises: PL-C091."""
    write_private(text_of(document) + "\n", output)


def write_private(text: str, output: str) -> None:
    """A text into a file that only its owner reads. Raises: PL-C091."""
    import os

    from phaseline.model.problems.problem import problem_error

    try:
        number = os.open(Path(output), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise problem_error(
            "PL-C091", f"the document cannot be written: {error}", "Name another file with -o."
        ) from error


def text_of(document: Mapping[str, Any]) -> str:
    """The document as JSON that people can read."""
    import json

    return in_json(json.dumps(document, indent=1, ensure_ascii=False))
