"""``phaseline plan …``: previews of commands, without carrying them out."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from phaseline.cli.commands.plans.answers import answer_plan
from phaseline.cli.shell.cli_context import CliContext
from phaseline.cli.shell.options import (
    SEE_NAMES,
    OfDeployment,
    blueprint_options,
    completing,
    deployment_needed,
    gathered,
    json_option,
    label_option,
    of_a_start,
    open_types_option,
    plan_options,
    save_option,
    start_options,
    stopping_options,
    yes_many_option,
)

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from phaseline.use_cases.prepare.plan_preview import PlanPreview


ELSEWHERE = {
    "update": "plans.update:plan_of_update",
    "restore": "plans.stack:plan_of_restore",
    "adopt": "plans.stack:plan_of_adoption",
}
"""{command: module and name in ``phaseline.cli.commands``}; imported when used, because most plans need none."""


class OfWorkflow(OfDeployment):
    """Adds a suggestion to usage errors: the name of the workflow may be a misspelled name of a command."""

    def meant(self, ctx: click.Context, words: Sequence[str]) -> str:
        """Return the command that was probably intended, then the words to type."""
        from phaseline.lang.did_you_mean import did_you_mean

        known = (
            ctx.parent.command.list_commands(ctx.parent)
            if ctx.parent and isinstance(ctx.parent.command, click.Group)
            else []
        )
        near = "" if self.name in known else did_you_mean(self.name or "", known)
        return f"{near[:1].upper()}{near[1:]} {super().meant(ctx, words)}".lstrip()


class Workflows(click.Group):
    """A group of commands in which every other name is taken as a workflow of a deployment."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List all commands, including those that are imported when used."""
        return sorted([*super().list_commands(ctx), *ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name; if there is none, a command that plans the workflow of this name."""
        if cmd_name in ELSEWHERE:
            module, _, name = ELSEWHERE[cmd_name].partition(":")
            found: click.Command = getattr(import_module(f"phaseline.cli.commands.{module}"), name)
            return found
        return super().get_command(ctx, cmd_name) or _workflow_command(cmd_name)


@click.group(cls=Workflows, epilog="Example: phaseline plan execute_operation -d shop -p operation=backup")
def plan() -> None:
    """Show what a command would do, without doing it.

    No code of a blueprint or plugin is run, and only --save stores the plan. To plan any other workflow of a
    deployment, give its name with -d and -p.
    """


def _workflow_command(name: str) -> click.Command:
    """Return the command that plans a workflow of a deployment."""

    @click.command(name, cls=OfWorkflow, epilog=f"Example: phaseline plan {name} -d shop")
    @deployment_needed
    @start_options
    @stopping_options
    @save_option
    @plan_options
    @json_option
    @click.pass_obj
    def command(cli: CliContext, /, deployment: str, tells: bool, **words: Any) -> None:
        with cli.open() as client:
            found = client.plans.make(name, deployment, **words)
        answer_plan(cli, found, tells=tells)

    command.help = f'Show what the workflow "{name}" would do on a deployment.'
    return command


plan.add_command(_workflow_command("execute_operation"))

OF_A_DEPLOYMENT = frozenset({"parameter_files", "parameters_given", "allow_custom_parameters", "force", "save"})
OF_A_BLUEPRINT = frozenset({"plugins", "input_files", "inputs_given", "labels", "yes_many", "open_types"})
"""Options that are valid only for a new deployment from a blueprint."""


@plan.command(epilog="Example: phaseline plan install blueprint.yaml -i port=8080")
@click.argument(
    "file", metavar="[BLUEPRINT]", required=False, shell_complete=completing("blueprints", may_be_file=True)
)
@click.option(
    "-d",
    "--deployment",
    metavar="NAME",
    shell_complete=completing("deployments"),
    help="Name of the new deployment, which must be free; without BLUEPRINT: of an existing one.",
)
@blueprint_options
@label_option
@yes_many_option
@open_types_option
@of_a_start
@stopping_options
@save_option
@plan_options
@json_option
@click.pass_context
def install(
    ctx: click.Context,
    /,
    file: str | None,
    deployment: str | None,
    parameter_files: tuple[str, ...],
    parameters_given: tuple[str, ...],
    input_files: tuple[str, ...],
    inputs_given: tuple[str, ...],
    tells: bool,
    **words: Any,
) -> None:
    """Show what "install" would do: nodes, waves, operations, batches, calls.

    With BLUEPRINT: for a new deployment. Without it: for an existing deployment, with its inputs and packages.
    """
    cli = ctx.ensure_object(CliContext)
    if file is None:
        _raise_if_given(ctx, OF_A_BLUEPRINT, "only allowed with a BLUEPRINT")
        if deployment is None:
            raise click.UsageError(f"Name a blueprint, or an existing deployment with -d NAME; {SEE_NAMES}", ctx)
        own = {name: value for name, value in words.items() if name not in OF_A_BLUEPRINT}
        parameters = gathered(parameter_files, parameters_given)
        with cli.open() as client:
            found = client.plans.make("install", deployment, parameters=parameters, **own)
        answer_plan(cli, found, tells=tells)
        return
    _raise_if_given(ctx, OF_A_DEPLOYMENT, "only allowed for an existing deployment: omit BLUEPRINT")
    own = {name: value for name, value in words.items() if name not in OF_A_DEPLOYMENT}
    with cli.open() as client:
        found = client.blueprints.plan(file, deployment, inputs=gathered(input_files, inputs_given), **own)
    _warn(cli, found)
    answer_plan(cli, found, tells=tells)


def _warn(cli: CliContext, found: PlanPreview) -> None:
    for warning in found.warnings:
        cli.notice(cli.renderer("problems:problem_text")(warning))


def _raise_if_given(ctx: click.Context, names: AbstractSet[str], why: str) -> None:
    """Raise a usage error if one of these options was given; ``why`` is a part of its message."""
    given = [
        parameter.opts[-1]
        for parameter in ctx.command.params
        if parameter.name in names and ctx.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} {why}.", ctx)


@plan.command(cls=OfDeployment, epilog="Example: phaseline plan uninstall -d shop")
@deployment_needed
@click.option("--ignore-failure", is_flag=True, help="Continue after failed operations as if they had succeeded.")
@stopping_options
@save_option
@plan_options
@json_option
@click.pass_obj
def uninstall(cli: CliContext, /, deployment: str, tells: bool, **words: Any) -> None:
    """Show what "uninstall" would do."""
    with cli.open() as client:
        found = client.plans.uninstall(deployment, **words)
    answer_plan(cli, found, tells=tells)
