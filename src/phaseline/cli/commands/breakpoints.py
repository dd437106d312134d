"""``phaseline breakpoints …``: where instances stop because a person wants to look, and who has stopped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from phaseline.cli.shell import shell_completion as completing
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import detach_option, json_option, watchable

if TYPE_CHECKING:
    from phaseline.use_cases.commands.breakpoints import Kept
    from phaseline.use_cases.queries.breakpoints import StoppedInstance

NAMED = ("-d", "--deployment", "--cluster", "deployment")
NAMED_FIRST = 3
"""So many executions are named; all are counted."""
of_one = click.option(
    *NAMED, metavar="NAME", required=True, shell_complete=completing.deployments, help="The deployment or cluster."
)
of_any = click.option(
    *NAMED, metavar="NAME", shell_complete=completing.deployments, help="Only of this deployment or cluster."
)


@click.group(epilog="Example: phaseline breakpoints clear pre-create -d shop")
def breakpoints() -> None:
    """Where instances and resources stop until a person lets them go on: at a --break, or at a breakpoint of their deployment or cluster."""


@breakpoints.command(epilog="Example: phaseline breakpoints add 'pre-Acme.Create=node-*' -d night --timeout 2h")
@click.argument("points", metavar="[POINT=NAMES…]", nargs=-1)
@of_one
@click.option("--timeout", metavar="SPAN", help="Who is not cleared so long has failed: 90s, 10m, 2h.")
@json_option
@click.pass_obj
def add(desk: Desk, points: tuple[str, ...], deployment: str, timeout: str | None) -> None:
    """Let all that is begun from now on stop there: before or after an operation or a phase; * for any part of a name.

    What is on its way already goes on as it began. Without a point: show those that the deployment or cluster has.
    """
    from phaseline.cli.shell.run_output import span
    from phaseline.use_cases.commands.breakpoints import add as keep

    with desk.open() as place:
        found = keep(place, deployment, points, timeout_s=span("--timeout", timeout))
    desk.answer(found, lambda: "\n".join(found.breakpoints) or f"'{found.deployment}' has no breakpoints")
    if found.begun:
        more = f" and {len(found.begun) - NAMED_FIRST:,} more" if len(found.begun) > NAMED_FIRST else ""
        desk.notice(f"What has begun does not stop there: {', '.join(found.begun[:NAMED_FIRST])}{more}.")


@breakpoints.command(epilog="Example: phaseline breakpoints remove pre-Acme.Create -d night")
@click.argument("points", metavar="POINT[=NAMES]…", nargs=-1, required=True)
@of_one
@json_option
@click.pass_obj
def remove(desk: Desk, points: tuple[str, ...], deployment: str) -> None:
    """Let what is begun from now on stop there no more. Who stands there stays until it is cleared."""
    from phaseline.use_cases.commands.breakpoints import remove as forget

    with desk.open() as place:
        found = forget(place, deployment, points)
    desk.answer(found, lambda: "\n".join(found.breakpoints) or f"'{found.deployment}' has no breakpoints")


@breakpoints.command("list", epilog="Example: phaseline breakpoints list -d shop")
@of_any
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk, deployment: str | None) -> None:
    """List the instances and resources that stand at a breakpoint, and the breakpoints that deployments and clusters keep."""
    from phaseline.use_cases.commands.breakpoints import list_kept
    from phaseline.use_cases.queries.breakpoints import list_breakpoints

    with desk.open(lists=True) as place:
        stopped, kept = list_breakpoints(place, deployment), list_kept(place, deployment)
    desk.answer({"stopped": stopped, "kept": kept}, lambda: _listed(stopped, kept))


def _listed(stopped: Sequence[StoppedInstance], kept: Sequence[Kept]) -> str:
    from phaseline.cli.render.table import table

    rows = [[one.point, one.instance, one.deployment, one.execution] for one in stopped]
    head = ["point", "instance", "deployment", "execution"]
    who = table(head, rows) if rows else "Nobody has stopped at a breakpoint."
    if not kept:
        return who
    kept_rows = [[text, one.deployment] for one in kept for text in one.breakpoints]
    return f"{who}\n\nFor all that is begun from now on:\n\n{table(['breakpoint', 'deployment'], kept_rows)}"


@breakpoints.command(epilog="Example: phaseline breakpoints clear pre-create web -d shop")
@click.argument("point", metavar="POINT[=NAMES]")
@click.argument("instances", nargs=-1)
@of_any
@detach_option
@json_option
@click.pass_obj
def clear(desk: Desk, point: str, instances: tuple[str, ...], deployment: str | None, *, detach: bool) -> None:
    """Let the instances go on that stand at a point, such as pre-create; all of them, or those of a node or with an id.

    The point is written as for --break, so create is pre-create; * stands for any part of it, and alone for every point.
    """
    from collections import Counter

    from phaseline.use_cases.commands.breakpoints import clear as go_on

    with desk.open() as place:
        found = go_on(place, point, deployment=deployment, instances=instances, detach=detach)
        counts = Counter(one.point for one in found)
        desk.answer({"cleared": found}, lambda: "\n".join(f"{at}: {n:,} cleared" for at, n in counts.items()))
