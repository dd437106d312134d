"""``phaseline uninstall``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.shell.cli_context import Words, run_command_for
from phaseline.cli.shell.options import OfDeployment, deployment_needed, detach_option, running_options, yes_option

if TYPE_CHECKING:
    from phaseline.cli.shell.cli_context import CliContext
    from phaseline.client.client import Client


def _ask_first(cli: CliContext, client: Client, words: Words) -> None:
    if cli.asks(words.pop("yes")):
        from phaseline.cli.shell.confirmation import confirm_removal

        confirm_removal(client, words["deployment"], "Uninstall '{name}': stop and delete {count}?")


uninstall = run_command_for(
    "executions.uninstall",
    deployment_needed,
    click.option("--ignore-failure", is_flag=True, help="Continue after failed operations as if they had succeeded."),
    click.option(
        "--recursive",
        is_flag=True,
        help="First uninstall the deployments whose label csys-obj-parent names this one.",
    ),
    click.option("--force", is_flag=True, help="Uninstall it although other deployments read it."),
    running_options,
    yes_option,
    detach_option,
    confirm=_ask_first,
    hints=lambda view: [f"delete it: phaseline deployments delete {view.deployment}"],
    cls=OfDeployment,
    help="""Stop and delete every instance of a deployment.

    The deployment's record stays; "deployments delete" removes it.
    """,
    example="uninstall -d shop",
)
