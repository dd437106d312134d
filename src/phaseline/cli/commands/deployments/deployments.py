"""``phaseline deployments …``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.commands.deployments.plugins import plugins
from phaseline.cli.commands.graphs import of_deployment
from phaseline.cli.commands.plans.update import update
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import (
    deployment_argument,
    json_option,
    limit_option,
    order_options,
    watchable,
    yes_option,
)

if TYPE_CHECKING:
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec

DEPLOYMENT_STATUSES = ("adopted", "good", "in_progress", "not_installed", "requires_attention", "suspended")
reveal_option = click.option("--reveal", is_flag=True, help="Show secrets, too; otherwise they are (hidden).")


@click.group(epilog="Example: phaseline deployments show shop")
def deployments() -> None:
    """What was made of blueprints."""


deployments.add_command(update)
deployments.add_command(plugins)
deployments.add_command(of_deployment)


@deployments.command("list", epilog="Example: phaseline deployments list --status requires_attention")
@click.option("--status", type=click.Choice(DEPLOYMENT_STATUSES), help="Only those of this status.")
@click.option("--text", metavar="TEXT", default="", help="Only those with this text in name, description or path.")
@click.option("--label", "labels", multiple=True, metavar="KEY[=VALUE]", help="Only those with this label. Repeatable.")
@limit_option
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk, status: str | None, text: str, labels: tuple[str, ...], limit: int) -> None:
    """List deployments: status, instances by state, latest execution."""
    from phaseline.cli.render.listings import deployment_list
    from phaseline.use_cases.queries.deployments import list_deployments

    with desk.open(lists=True) as place:
        page = list_deployments(place, status=status, text=text, labels=labels, limit=limit)
    desk.answer({"deployments": page.items, "total": page.total}, lambda: deployment_list(page))


@deployments.command(epilog="Example: phaseline deployments show shop")
@deployment_argument
@json_option
@click.pass_obj
def show(desk: Desk, name: str) -> None:
    """Show one deployment: status, inputs, nodes."""
    from phaseline.cli.render.listings import deployment_text
    from phaseline.use_cases.queries.deployments import show_deployment

    with desk.open() as place:
        view = show_deployment(place, name)
    desk.answer(view, lambda: deployment_text(view))


@deployments.command(epilog="Example: phaseline deployments create blueprint.yaml -d shop -i port=8080")
@order_options
@json_option
@click.pass_obj
def create(desk: Desk, order: DeploymentSpec) -> None:
    """Make a deployment of a blueprint without installing it; "executions start install" does that."""
    from phaseline.cli.render.listings import deployment_text
    from phaseline.cli.shell.run_output import progress_watcher
    from phaseline.use_cases.commands.create_deployment import create as make

    with desk.open(makes_store=True) as place, progress_watcher(desk) as watcher:
        view = make(place, order, watcher=watcher)
    desk.answer(view, lambda: deployment_text(view))


@deployments.command(epilog="Example: phaseline deployments inputs shop --json")
@deployment_argument
@json_option
@click.pass_obj
def inputs(desk: Desk, name: str) -> None:
    """Show the inputs of a deployment; hidden ones stay hidden."""
    from phaseline.cli.render.listings import values
    from phaseline.use_cases.queries.deployments import show_deployment

    with desk.open() as place:
        view = show_deployment(place, name)
    none = f"The blueprint of '{view.name}' has no inputs."
    answer = {"deployment": view.name, "inputs": view.inputs}
    desk.answer(answer, lambda: "\n".join(values(view.inputs, "")) or none)


@deployments.command(epilog="Example: phaseline deployments capabilities shop --json")
@deployment_argument
@reveal_option
@json_option
@click.pass_obj
def capabilities(desk: Desk, name: str, reveal: bool) -> None:
    """Compute the capabilities of a deployment."""
    from phaseline.cli.render.listings import values
    from phaseline.use_cases.queries.deployments import outputs as compute

    with desk.open() as place:
        found = compute(place, name, reveal=reveal)
    none = f"The blueprint of '{found.deployment}' has no capabilities."
    answer = {"deployment": found.deployment, "capabilities": found.capabilities}
    desk.answer(answer, lambda: "\n".join(values(found.capabilities, "")) or none)


@deployments.command(epilog="Example: phaseline deployments outputs shop --json")
@deployment_argument
@reveal_option
@json_option
@click.pass_obj
def outputs(desk: Desk, name: str, reveal: bool) -> None:
    """Compute the outputs and capabilities of a deployment."""
    from phaseline.cli.render.listings import outputs_text
    from phaseline.use_cases.queries.deployments import outputs as compute

    with desk.open() as place:
        found = compute(place, name, reveal=reveal)
    desk.answer(found, lambda: outputs_text(found))


@deployments.command(epilog="Example: phaseline deployments labels shop --add team=web")
@deployment_argument
@click.option("--add", multiple=True, metavar="KEY=VALUE", help="A label that it is to have. Repeatable.")
@click.option("--remove", multiple=True, metavar="KEY[=VALUE]", help="One that it is not to have. Repeatable.")
@json_option
@click.pass_obj
def labels(desk: Desk, name: str, add: tuple[str, ...], remove: tuple[str, ...]) -> None:
    """Show the labels of a deployment, or change them."""
    from phaseline.cli.render.listings import labels_line
    from phaseline.use_cases.commands.labels import change_labels

    with desk.open() as place:
        found = change_labels(place, name, add=add, remove=remove)
    none = f"'{found.deployment}' has no labels; give it one: phaseline deployments labels {found.deployment} --add KEY=VALUE"
    desk.answer(found, lambda: labels_line(found.labels) or none)


@deployments.command(epilog="Example: phaseline deployments delete shop")
@deployment_argument
@click.option("--force", is_flag=True, help="Even while instances of it may still exist: they are forgotten.")
@yes_option
@json_option
@click.pass_obj
def delete(desk: Desk, name: str, force: bool, yes: bool) -> None:
    """Forget a deployment. Its executions stay readable; its name is free again."""
    from phaseline.cli.shell.confirmation import asks, confirm_removal
    from phaseline.use_cases.commands.delete_deployment import delete_deployment

    with desk.open() as place:
        if asks(desk, yes):
            although = " although {count} may still exist" if force else ""
            confirm_removal(place, name, f"Forget the deployment '{{name}}'{although}?")
        view = delete_deployment(place, name, force=force)
    desk.answer(view, lambda: f"The deployment '{view.name}' is forgotten.")


@deployments.command(epilog="Example: phaseline deployments history shop")
@deployment_argument
@limit_option
@json_option
@click.pass_obj
def history(desk: Desk, name: str, limit: int) -> None:
    """Tell what happened to a deployment: what was run, by whom, and what people decided."""
    from phaseline.cli.render.listings import history_text
    from phaseline.use_cases.queries.deployment_history import deployment_history

    with desk.open() as place:
        found = deployment_history(place, name, limit=limit)
    desk.answer(found, lambda: history_text(found))
