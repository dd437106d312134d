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
    *NAMED,
    metavar="NAME",
    required=True,
    shell_complete=completing("deployments"),
    help="Name of the deployment or cluster.",
)
of_any = click.option(
    *NAMED,
    metavar="NAME",
    shell_complete=completing("deployments"),
    help="Only breakpoints of this deployment or cluster.",
)


@click.group(epilog="Example: phaseline breakpoints clear pre-create -d shop")
def breakpoints() -> None:
    """Add, list and clear breakpoints, at which instances wait for a person.

    A breakpoint is set by --break for one execution, or kept by a deployment or cluster for all that follow.
    """


@breakpoints.command(epilog="Example: phaseline breakpoints add 'pre-Acme.Create=node-*' -d night --timeout 2h")
@click.argument("points", metavar="[POINT=NAMES…]", nargs=-1)
@of_one
@click.option("--timeout", metavar="SPAN", help="Fail what is still stopped there after SPAN: 90s, 10m, 2h.")
@json_option
@click.pass_obj
def add(cli: CliContext, points: tuple[str, ...], deployment: str, timeout: str | None) -> None:
    """Add breakpoints for everything that starts from now on.

    A point is before or after an operation or a phase: pre-create, post-PHASE; * matches any part of a name. Work that
    has already started is not affected. Without a point: show the breakpoints of the deployment or cluster.
    """
    from phaseline.cli.shell.run_output import span

    span("--timeout", timeout)
    with cli.open() as client:
        found = client.breakpoints.add(deployment, *points, timeout=timeout)
    cli.answer(found, lambda: "\n".join(found.breakpoints) or f"'{found.deployment}' has no breakpoints")
    if found.begun:
        more = f" and {len(found.begun) - NAMED_FIRST:,} more" if len(found.begun) > NAMED_FIRST else ""
        cli.notice(f"Executions that have started do not stop there: {', '.join(found.begun[:NAMED_FIRST])}{more}.")


breakpoints.add_command(
    command_for(
        "breakpoints.remove",
        click.argument("points", metavar="POINT[=NAMES]…", nargs=-1, required=True),
        of_one,
        render=lambda found: "\n".join(found.breakpoints) or f"'{found.deployment}' has no breakpoints",
        help="Remove breakpoints for everything that starts from now on.\n\nStopped instances wait until they are cleared.",
        example="breakpoints remove pre-Acme.Create -d night",
    )
)


@breakpoints.command("list", epilog="Example: phaseline breakpoints list -d shop")
@of_any
@watchable
@json_option
@click.pass_obj
def list_(cli: CliContext, deployment: str | None) -> None:
    """List stopped instances and resources, and all kept breakpoints."""
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
    """Continue the instances that are stopped at a point, such as pre-create.

    All instances continue, or only those of the given nodes or ids. POINT is written as for --break, so create is
    pre-create; * matches any part of it, and alone every point.
    """
    with cli.open() as client:
        found = client.breakpoints.clear(point, deployment=deployment, instances=instances, detach=detach)
        counts = Counter(one.point for one in found)
        cli.answer({"cleared": found}, lambda: "\n".join(f"{at}: {n:,} cleared" for at, n in counts.items()))
