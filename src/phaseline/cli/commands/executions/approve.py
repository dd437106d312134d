"""``phaseline executions approve``: agree to what an execution waits for."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import deployment_option, execution_argument, json_option


@click.command(epilog="Example: phaseline executions approve install-7 --plan 3f9a1c22b0de")
@execution_argument
@deployment_option
@click.option("--plan", metavar="DIGEST", help="The plan that you have seen; refused if it waits for another one.")
@click.option("--reason", metavar="TEXT", default="", help="Kept with the execution.")
@json_option
@click.pass_context
def approve(ctx: click.Context, id: str | None, deployment: str | None, plan: str | None, reason: str) -> None:
    """Agree to exactly the plan that a hook waits with; whether you may, the hook decides.

    You are who the operating system says, or LOGNAME or USER of the environment. Exit code 1 if it counts for nothing.
    """
    from phaseline.use_cases.commands.approve import approve as run

    desk: Desk = ctx.obj
    with desk.open() as place:
        found = run(place, id, deployment=deployment, plan=plan, reason=reason)
    text = f"{found.actor} approves plan {found.plan} of {found.execution} ({found.workflow} of '{found.deployment}')."
    if found.objection:
        text += f" It counts for nothing, because {found.actor} may not approve it: {found.objection}."
    idle = f" Nobody runs it now: phaseline executions resume {found.execution}"
    desk.answer(found, lambda: text + ("" if found.runner else idle))
    if found.objection:
        ctx.exit(1)
