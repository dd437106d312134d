"""``phaseline plans …``: plans that are kept."""

from __future__ import annotations

import click

from phaseline.cli.shell import shell_completion as completing
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import detach_option, json_option, watchable


@click.group(epilog="Example: phaseline plans apply plan-7")
def plans() -> None:
    """Plans that were kept with --save, and those of every update; read, then carried out as they were read."""


@plans.command("list", epilog="Example: phaseline plans list -d shop")
@click.option(
    "-d", "--deployment", metavar="NAME", shell_complete=completing.deployments, help="Only of this deployment."
)
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk, deployment: str | None) -> None:
    """List plans, the latest first: of what, whether they can still be applied."""
    from phaseline.cli.render.plans import plan_list
    from phaseline.use_cases.commands.apply_plan import list_plans

    with desk.open(lists=True) as place:
        found = list_plans(place, deployment)
    desk.answer({"plans": found}, lambda: plan_list(found))


@plans.command(epilog="Example: phaseline plans show plan-7")
@click.argument("id")
@json_option
@click.pass_obj
def show(desk: Desk, id: str) -> None:
    """Show a plan as it was made, by its id or by that of the execution that carries it out, and what has moved since."""
    from phaseline.cli.render.plans import plan_details
    from phaseline.use_cases.commands.apply_plan import show_plan

    with desk.open() as place:
        found = show_plan(place, id)
    desk.answer(found, lambda: plan_details(found))


@plans.command(epilog="Example: phaseline plans apply plan-7")
@click.argument("id")
@detach_option
@json_option
@click.pass_obj
def apply(desk: Desk, id: str, detach: bool) -> None:
    """Carry a plan out. Refused with what has moved if the deployment is not what it was when the plan was made."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.apply_plan import apply_plan

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = apply_plan(place, id, watcher=watcher, detach=detach)
        print_result(desk, view)


@plans.command(epilog="Example: phaseline plans delete plan-7")
@click.argument("id")
@json_option
@click.pass_obj
def delete(desk: Desk, id: str) -> None:
    """Forget a plan that was not applied."""
    from phaseline.use_cases.commands.apply_plan import delete_plan

    with desk.open() as place:
        view = delete_plan(place, id)
    desk.answer(view, lambda: f"{view.id} is forgotten.")
