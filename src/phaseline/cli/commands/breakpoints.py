"""``phaseline breakpoints …``: instances that have stopped where a person wanted to look."""

from __future__ import annotations

import click

from phaseline.cli.desk import Desk
from phaseline.cli.options import json_option


@click.group(epilog="Example: phaseline breakpoints clear pre-create -d shop")
def breakpoints() -> None:
    """Instances that have stopped at a --break, or at a breakpoint of their deployment (its labels csys-breakpoint)."""


@breakpoints.command("list", epilog="Example: phaseline breakpoints list -d shop")
@click.option("-d", "--deployment", metavar="NAME", help="Only of this deployment.")
@json_option
@click.pass_obj
def list_(desk: Desk, deployment: str | None) -> None:
    """List the instances that stand at a breakpoint."""
    from phaseline.cli.render.table import table
    from phaseline.use_cases.breakpoints import list_breakpoints

    with desk.open() as place:
        found = list_breakpoints(place, deployment)
    rows = [[one.point, one.instance, one.deployment, one.execution] for one in found]
    head = ["point", "instance", "deployment", "execution"]
    desk.answer({"stopped": found}, lambda: table(head, rows) if rows else "Nobody has stopped at a breakpoint.")


@breakpoints.command(epilog="Example: phaseline breakpoints clear pre-create web -d shop")
@click.argument("point")
@click.argument("instances", nargs=-1)
@click.option("-d", "--deployment", metavar="NAME", help="Only of this deployment.")
@json_option
@click.pass_obj
def clear(desk: Desk, point: str, instances: tuple[str, ...], deployment: str | None) -> None:
    """Let the instances go on that stand at a point, such as pre-create; all of them, or those of a node or with an id."""
    from phaseline.use_cases.breakpoints import clear as go_on

    with desk.open() as place:
        found = go_on(place, point, deployment=deployment, instances=instances)
        desk.answer({"cleared": found}, lambda: f"{point}: {len(found):,} cleared")
