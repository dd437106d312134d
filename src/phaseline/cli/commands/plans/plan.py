"""``phaseline plan …``: what a command would do, without doing it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from phaseline.cli.shell import shell_completion as completing
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.deployment_option import SEE_NAMES, OfDeployment
from phaseline.cli.shell.options import (
    blueprint_options,
    deployment_needed,
    json_option,
    label_option,
    open_types_option,
    plan_options,
    save_option,
    start_options,
    stopping_options,
    yes_many_option,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Set as AbstractSet

    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.use_cases.prepare.plan_preview import PlanPreview
    from phaseline.use_cases.prepare.workflow_start import WorkflowStart


ELSEWHERE = {
    "update": "plans.update:plan_of_update",
    "restore": "plans.stack:plan_of_restore",
    "adopt": "plans.stack:plan_of_adoption",
}
"""{command: module and name in ``phaseline.cli.commands``}: each declares more than the plan of an install needs."""


class OfWorkflow(OfDeployment):
    """As there; the name of the workflow may be a misspelled one of the commands beside it."""

    def meant(self, ctx: click.Context, words: Sequence[str]) -> str:
        """The command that was probably meant, before what to type."""
        from phaseline.lang.did_you_mean import did_you_mean

        known = (
            ctx.parent.command.list_commands(ctx.parent)
            if ctx.parent and isinstance(ctx.parent.command, click.Group)
            else []
        )
        near = "" if self.name in known else did_you_mean(self.name or "", known)
        return f"{near[:1].upper()}{near[1:]} {super().meant(ctx, words)}".lstrip()


class Workflows(click.Group):
    """A group in which every other name is that of a workflow of a deployment."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Those that are imported when they are asked for, too."""
        return sorted([*super().list_commands(ctx), *ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, or the plan of the workflow of this name."""
        if cmd_name in ELSEWHERE:
            module, _, name = ELSEWHERE[cmd_name].partition(":")
            found: click.Command = getattr(import_module(f"phaseline.cli.commands.{module}"), name)
            return found
        return super().get_command(ctx, cmd_name) or _workflow_command(cmd_name)


@click.group(cls=Workflows, epilog="Example: phaseline plan execute_operation -d shop -p operation=backup")
def plan() -> None:
    """Show what a command would do. Runs no code of a blueprint or plugin, stores nothing but the plan, with --save.

    Any other workflow of a deployment is planned by its name, with -d and -p.
    """


def _workflow_command(name: str) -> click.Command:
    """Plans the workflow of a deployment."""

    @click.command(name, cls=OfWorkflow, epilog=f"Example: phaseline plan {name} -d shop")
    @deployment_needed
    @start_options
    @stopping_options
    @save_option
    @plan_options
    @json_option
    @click.pass_obj
    def command(desk: Desk, /, deployment: str, start_of: Callable[[str, str], WorkflowStart], **words: Any) -> None:
        _answer_workflow(desk, start_of(name, deployment), **words)

    command.help = f'Show what the workflow "{name}" would do on a deployment.'
    return command


def _answer_workflow(
    desk: Desk, order: WorkflowStart, *, breakpoints: tuple[Breakpoint, ...], save: bool, tells: bool
) -> None:
    from phaseline.use_cases.commands.keep_plan import plan_workflow
    from phaseline.use_cases.prepare.options import ExecutionOptions

    with desk.open() as place:
        found = plan_workflow(place, order, save=save, manner=ExecutionOptions(breakpoints=breakpoints))
    answer_plan(desk, found, tells=tells)


SOMETHING = 3
"""Exit code of ``--exit-code`` for a plan that would do something."""


def answer_plan(desk: Desk, found: PlanPreview, *, tells: bool = False) -> None:
    """Show a plan, what a user should know, and under which id it is kept.

    Exit status 1 if a hook would refuse it; ``tells``: 3 if it would do something.
    """
    if desk.plan_form == "text":
        desk.answer(found.value, lambda: found.text)
    else:
        from phaseline.use_cases.tools.diagrams import draw_plan

        desk.answer(found.value, lambda: draw_plan(found, desk.plan_form), exactly=True)
    if found.id:
        desk.notice(f"Kept as {found.id}. Carry it out: phaseline plans apply {found.id}")
    if found.around is not None and found.around.refusals:
        raise SystemExit(1)
    if tells and not found.is_empty:
        raise SystemExit(SOMETHING)


plan.add_command(_workflow_command("execute_operation"))


OF_A_DEPLOYMENT = frozenset({"parameter_files", "parameters_given", "allow_custom", "force", "save"})
OF_A_BLUEPRINT = frozenset({"plugin_folders", "input_files", "inputs_given", "labels", "yes_many", "open_types"})
"""Options that make sense only for a deployment that there is, and only for one that is made of a blueprint."""


@plan.command(epilog="Example: phaseline plan install blueprint.yaml -i port=8080")
@click.argument("file", metavar="[BLUEPRINT]", required=False, shell_complete=completing.blueprints)
@click.option(
    "-d",
    "--deployment",
    "name",
    metavar="NAME",
    shell_complete=completing.deployments,
    help="Name of the deployment; whether it is free is looked at. Without BLUEPRINT: one that there is.",
)
@blueprint_options
@label_option
@yes_many_option
@open_types_option
@start_options
@stopping_options
@save_option
@plan_options
@json_option
@click.pass_context
def install(
    ctx: click.Context,
    /,
    file: str | None,
    name: str | None,
    plugin_folders: tuple[str, ...],
    input_files: tuple[str, ...],
    inputs_given: tuple[str, ...],
    labels: tuple[str, ...],
    yes_many: bool,
    open_types: bool,
    start_of: Callable[[str, str], WorkflowStart],
    breakpoints: tuple[Breakpoint, ...],
    save: bool,
    tells: bool,
) -> None:
    """Show what "install" would do: nodes, waves, operations, batches, number of calls.

    Of a BLUEPRINT, of which a deployment would be made; or, without one, of a deployment that there is, with its inputs
    and packages.
    """
    desk = ctx.ensure_object(Desk)
    if file is None:
        _refuse_given(ctx, OF_A_BLUEPRINT, "of a deployment that is made of a BLUEPRINT, which is not named")
        if name is None:
            raise click.UsageError(f"Name a blueprint, or a deployment that there is with -d NAME; {SEE_NAMES}", ctx)
        _answer_workflow(desk, start_of("install", name), breakpoints=breakpoints, save=save, tells=tells)
        return
    _refuse_given(ctx, OF_A_DEPLOYMENT, "of a deployment that there is: leave BLUEPRINT out")
    from phaseline.use_cases.loading.input_files import gather_inputs
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec
    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.use_cases.prepare.plan_preview import plan_install

    with desk.open() as place:
        inputs = gather_inputs(input_files, inputs_given)
        order = DeploymentSpec(file, name, inputs, plugin_folders, yes_many, labels=labels)
        found = plan_install(place, order, open_types=open_types, manner=ExecutionOptions(breakpoints=breakpoints))
    _warn(desk, found)
    answer_plan(desk, found, tells=tells)


def _warn(desk: Desk, found: PlanPreview) -> None:
    if found.warnings:
        from phaseline.cli.render.problems import problem_text  # brings the codes of all problems along

        for warning in found.warnings:
            desk.notice(problem_text(warning))


def _refuse_given(ctx: click.Context, names: AbstractSet[str], why: str) -> None:
    """Raise a usage error if one of these options was given."""
    given = [
        parameter.opts[-1]
        for parameter in ctx.command.params
        if parameter.name in names and ctx.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} {why}.", ctx)


@plan.command(cls=OfDeployment, epilog="Example: phaseline plan uninstall -d shop")
@deployment_needed
@click.option("--ignore-failure", is_flag=True, help="As for uninstall.")
@stopping_options
@save_option
@plan_options
@json_option
@click.pass_obj
def uninstall(
    desk: Desk, deployment: str, ignore_failure: bool, breakpoints: tuple[Breakpoint, ...], save: bool, tells: bool
) -> None:
    """Show what "uninstall" would do."""
    from phaseline.use_cases.commands.keep_plan import plan_uninstall
    from phaseline.use_cases.prepare.options import ExecutionOptions

    with desk.open() as place:
        manner = ExecutionOptions(breakpoints=breakpoints)
        found = plan_uninstall(place, deployment, ignore_failure=ignore_failure, save=save, manner=manner)
    answer_plan(desk, found, tells=tells)
