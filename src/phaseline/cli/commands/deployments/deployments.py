"""``phaseline deployments …``."""

from __future__ import annotations

import click

from phaseline.cli.commands.deployments.plugins import plugins
from phaseline.cli.commands.graphs import of_deployment
from phaseline.cli.commands.plans.update import update
from phaseline.cli.shell.cli_context import CliContext, ask, command_for, counted, page_of
from phaseline.cli.shell.options import (
    completing,
    deployment_argument,
    json_option,
    limit_option,
    order_options,
    row_filter_option,
    rule_option,
    watchable,
    yes_option,
)

DEPLOYMENT_STATUSES = ("adopted", "good", "in_progress", "not_installed", "requires_attention", "suspended")
TREE = "phaseline.tree"
"""Key in a command's ``meta``: whether its list is shown as a tree."""
reveal_option = click.option("--reveal", is_flag=True, help="Show the values of secrets instead of (hidden).")


def remember_tree(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # click's form
    """Keep whether a list is shown as a tree, which only its text needs."""
    ctx.meta[TREE] = value


@click.group(epilog="Example: phaseline deployments show shop")
def deployments() -> None:
    """Create, update, show and delete deployments."""


@click.command(epilog="Example: phaseline deployments create blueprint.yaml -d shop -i port=8080")
@order_options
@json_option
@click.pass_obj
def create(cli: CliContext, /, **words: object) -> None:
    """Create a deployment from a blueprint without installing it.

    To install it: "executions start install".
    """
    from phaseline.cli.shell.run_output import progress_watcher

    with cli.open() as client, progress_watcher(cli) as watcher:
        view = ask(client, "deployments.create", {**words, "watcher": watcher})
    cli.answer(view, lambda: cli.renderer("listings:deployment_text")(view))


@click.command(epilog="Example: phaseline deployments inputs shop --json")
@deployment_argument
@json_option
@click.pass_obj
def inputs(cli: CliContext, name: str) -> None:
    """Show the inputs of a deployment, except hidden ones."""
    with cli.open() as client:
        view = client.deployments.show(name)
    none = f"The blueprint of '{view.name}' has no inputs."
    answer = {"deployment": view.name, "inputs": view.inputs}
    cli.answer(answer, lambda: "\n".join(cli.renderer("listings:values")(view.inputs)) or none)


@click.command(epilog="Example: phaseline deployments capabilities shop --json")
@deployment_argument
@reveal_option
@json_option
@click.pass_obj
def capabilities(cli: CliContext, name: str, reveal: bool) -> None:
    """Compute the capabilities of a deployment."""
    with cli.open() as client:
        found = client.deployments.compute(name, reveal=reveal)
    none = f"The blueprint of '{found.deployment}' has no capabilities."
    answer = {"deployment": found.deployment, "capabilities": found.capabilities}
    cli.answer(answer, lambda: "\n".join(cli.renderer("listings:values")(found.capabilities)) or none)


@click.command(epilog="Example: phaseline deployments dependencies net --on")
@deployment_argument
@click.option("--of", "only_of", is_flag=True, help="Only the deployments that this one reads.")
@click.option("--on", "only_on", is_flag=True, help="Only the deployments that read this one.")
@click.option("--tree", is_flag=True, help="Also what those deployments read or are read by, as a tree.")
@json_option
@click.pass_obj
def dependencies(cli: CliContext, name: str, only_of: bool, only_on: bool, tree: bool) -> None:
    """Show which deployments a deployment reads, and which read it."""
    with cli.open() as client:
        both = only_of == only_on
        found = client.deployments.dependencies(name, of=only_of or both, on=only_on or both, tree=tree)
    cli.answer(found, lambda: cli.renderer("estates:dependencies_text")(found))


@click.command(epilog="Example: phaseline deployments labels shop --add team=web")
@deployment_argument
@click.option("--add", multiple=True, metavar="KEY=VALUE", help="Label to add. [repeatable]")
@click.option("--remove", multiple=True, metavar="KEY[=VALUE]", help="Label to remove. [repeatable]")
@json_option
@click.pass_obj
def labels(cli: CliContext, name: str, add: tuple[str, ...], remove: tuple[str, ...]) -> None:
    """Show or change the labels of a deployment."""
    with cli.open() as client:
        found = client.deployments.labels(name, add=add, remove=remove)
    none = f"'{found.deployment}' has no labels; give it one: phaseline deployments labels {found.deployment} --add KEY=VALUE"
    cli.answer(found, lambda: cli.renderer("listings:labels_line")(found.labels) or none)


@click.command(epilog="Example: phaseline deployments delete shop")
@deployment_argument
@click.option("--force", is_flag=True, help="Delete it even if its instances may still exist.")
@yes_option
@json_option
@click.pass_obj
def delete(cli: CliContext, name: str, force: bool, yes: bool) -> None:
    """Delete a deployment.

    Its executions stay readable; its name is free again.
    """
    with cli.open() as client:
        if cli.asks(yes):
            from phaseline.cli.shell.confirmation import confirm_removal

            although = " although {count} may still exist" if force else ""
            confirm_removal(client, name, f"Delete the deployment '{{name}}'{although}?")
        view = client.deployments.delete(name, force=force)
    cli.answer(view, lambda: f"The deployment '{view.name}' is deleted.")


COMMANDS = (
    *(update, plugins, of_deployment),
    command_for(
        "deployments.list",
        click.option("--status", type=click.Choice(DEPLOYMENT_STATUSES), help="Only deployments of this status."),
        click.option(
            "--text", metavar="TEXT", default="", help="Only deployments with this text in name, description or path."
        ),
        click.option(
            "--label",
            "labels",
            multiple=True,
            metavar="KEY[=VALUE]",
            help="Only deployments with this label. [repeatable]",
        ),
        row_filter_option,
        rule_option,
        click.option("--site", metavar="NAME", default="", help="Only deployments at this site."),
        click.option(
            "--tree",
            is_flag=True,
            expose_value=False,
            callback=remember_tree,
            help="Show each deployment below the one to which it belongs, with the status of all below it.",
        ),
        limit_option,
        watchable,
        render="listings:deployment_list",
        more=lambda _words: {"tree": click.get_current_context().meta.get(TREE, False)},
        answer=page_of("deployments"),
        help="List deployments: status, instances by state, latest execution.",
        example="deployments list --status requires_attention",
    ),
    command_for(
        "deployments.show",
        deployment_argument,
        render="listings:deployment_text",
        help="Show one deployment: status, inputs, nodes.",
        example="deployments show shop",
    ),
    *(create, inputs, capabilities),
    command_for(
        "deployments.tree",
        deployment_argument,
        render="estates:tree_text",
        answer=counted("deployments"),
        help="Show what belongs to a deployment, with statuses.",
        example="deployments tree production",
    ),
    command_for(
        "deployments.drift",
        click.argument("names", metavar="[NAME…]", nargs=-1, shell_complete=completing("deployments")),
        row_filter_option,
        rule_option,
        render="estates:drift_text",
        answer=counted("deployments"),
        help="Show what the latest checks found, without calling anything.",
        example="deployments drift --filter 'labels.env == \"prod\"'",
    ),
    command_for(
        "deployments.compute",
        deployment_argument,
        reveal_option,
        name="outputs",
        render="listings:outputs_text",
        help="Compute the outputs and capabilities of a deployment.",
        example="deployments outputs shop --json",
    ),
    *(dependencies, labels, delete),
    command_for(
        "deployments.history",
        deployment_argument,
        limit_option,
        render="listings:history_text",
        help="Show what happened to a deployment, when, and by which users.",
        example="deployments history shop",
    ),
)
for _command in COMMANDS:
    deployments.add_command(_command)
