"""``phaseline breakpoints …``: where instances stop so that a person can inspect them, and which have stopped."""

from __future__ import annotations

from collections import Counter

import click

from phaseline.cli.shell.cli_context import CliContext, command_for
from phaseline.cli.shell.options import completing, detach_option, json_option, watchable

NAMED = ("-d", "--deployment", "--cluster", "deployment")
NAMED_FIRST = 3
"""The largest number of executions that are named; all are counted."""
of_one = click.option(
    *NAMED, metavar="NAME", required=True, shell_complete=completing("deployments"), help="The deployment or cluster."
)
of_any = click.option(
    *NAMED, metavar="NAME", shell_complete=completing("deployments"), help="Only of this deployment or cluster."
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
def add(cli: CliContext, points: tuple[str, ...], deployment: str, timeout: str | None) -> None:
    """Let all that is begun from now on stop there: before or after an operation or a phase; * for any part of a name.

    What is on its way already goes on as it began. Without a point: show those that the deployment or cluster has.
    """
    from phaseline.cli.shell.run_output import span

    span("--timeout", timeout)
    with cli.open() as client:
        found = client.breakpoints.add(deployment, *points, timeout=timeout)
    cli.answer(found, lambda: "\n".join(found.breakpoints) or f"'{found.deployment}' has no breakpoints")
    if found.begun:
        more = f" and {len(found.begun) - NAMED_FIRST:,} more" if len(found.begun) > NAMED_FIRST else ""
        cli.notice(f"What has begun does not stop there: {', '.join(found.begun[:NAMED_FIRST])}{more}.")


breakpoints.add_command(
    command_for(
        "breakpoints.remove",
        click.argument("points", metavar="POINT[=NAMES]…", nargs=-1, required=True),
        of_one,
        render=lambda found: "\n".join(found.breakpoints) or f"'{found.deployment}' has no breakpoints",
        help="Let what is begun from now on stop there no more. Who stands there stays until it is cleared.",
        example="breakpoints remove pre-Acme.Create -d night",
    )
)


@breakpoints.command("list", epilog="Example: phaseline breakpoints list -d shop")
@of_any
@watchable
@json_option
@click.pass_obj
def list_(cli: CliContext, deployment: str | None) -> None:
    """List the instances and resources that stand at a breakpoint, and the breakpoints that deployments and clusters keep."""
    with cli.open() as client:
        stopped, kept = client.breakpoints.list(deployment), client.breakpoints.kept(deployment)
    cli.answer({"stopped": stopped, "kept": kept}, lambda: cli.renderer("breakpoints:listed_text")(stopped, kept))


@breakpoints.command(epilog="Example: phaseline breakpoints clear pre-create web -d shop")
@click.argument("point", metavar="POINT[=NAMES]")
@click.argument("instances", nargs=-1)
@of_any
@detach_option
@json_option
@click.pass_obj
def clear(cli: CliContext, point: str, instances: tuple[str, ...], deployment: str | None, *, detach: bool) -> None:
    """Let the instances go on that stand at a point, such as pre-create; all of them, or those of a node or with an id.

    The point is written as for --break, so create is pre-create; * stands for any part of it, and alone for every point.
    """
    with cli.open() as client:
        found = client.breakpoints.clear(point, deployment=deployment, instances=instances, detach=detach)
        counts = Counter(one.point for one in found)
        cli.answer({"cleared": found}, lambda: "\n".join(f"{at}: {n:,} cleared" for at, n in counts.items()))
