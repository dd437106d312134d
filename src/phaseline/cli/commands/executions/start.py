"""``phaseline executions start``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import run_command_for
from phaseline.cli.shell.options import OfDeployment, deployment_needed, detach_option, running_options, start_options

start = run_command_for(
    "executions.start",
    click.argument("workflow"),
    deployment_needed,
    start_options,
    running_options,
    detach_option,
    cls=OfDeployment,
    help="Run a workflow on a deployment, given by its name.",
    example="executions start execute_operation -d shop -p operation=backup",
)
