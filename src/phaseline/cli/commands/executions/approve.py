"""``phaseline executions approve``: approve the plan for whose approval an execution waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.shell.cli_context import command_for
from phaseline.cli.shell.options import deployment_option, execution_argument

if TYPE_CHECKING:
    from phaseline.use_cases.commands.approve import Approved


def _text(found: Approved) -> str:
    text = f"{found.actor} approves plan {found.plan} of {found.execution} ({found.workflow} of '{found.deployment}')."
    if found.objection:
        text += f" The approval has no effect, because {found.actor} may not approve it: {found.objection}."
    idle = f" No process runs it; resume it: phaseline executions resume {found.execution}"
    return text + ("" if found.runner else idle)


approve = command_for(
    "executions.approve",
    execution_argument,
    deployment_option,
    click.option("--plan", metavar="DIGEST", help="Digest of the plan that you have read; any other plan is refused."),
    click.option("--reason", metavar="TEXT", default="", help="Reason, stored with the execution."),
    render=_text,
    code=lambda found: 1 if found.objection else 0,
    help="""Approve exactly the plan for which an execution waits.

    The hook decides whether you may. Your name is that of the operating system, or LOGNAME or USER of the environment.
    Exit code 1 if the approval has no effect.
    """,
    example="executions approve install-7 --plan 3f9a1c22b0de",
)
