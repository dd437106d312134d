"""``phaseline snapshots …``: earlier states of deployments."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import CliContext, command_for, list_of, run_command_for
from phaseline.cli.shell.documents import output_option, put
from phaseline.cli.shell.options import (
    OfDeployment,
    deployment_needed,
    deployment_option,
    detach_option,
    json_option,
    running_options,
    watchable,
)


@click.group(epilog="Example: phaseline snapshots create -d shop monday")
def snapshots() -> None:
    """Create, list, show and delete snapshots of deployments.

    To restore a snapshot: phaseline restore. To copy a whole store: phaseline store backup.
    """


@click.command(cls=OfDeployment, epilog="Example: phaseline snapshots show -d shop monday")
@click.argument("name")
@deployment_needed
@output_option
@json_option
@click.pass_obj
def show(cli: CliContext, name: str, deployment: str, output: str | None) -> None:
    """Print the document of a snapshot, which adopt also accepts."""
    with cli.open() as client:
        found = client.snapshots.show(deployment, name)
    put(cli, found, output)


COMMANDS = (
    run_command_for(
        "snapshots.create",
        click.argument("name", required=False),
        deployment_needed,
        running_options,
        detach_option,
        cls=OfDeployment,
        help="Create a snapshot of a deployment.\n\nThe operation snapshot.create is called where it is defined. The default NAME is the time.",
        example="snapshots create -d shop monday",
    ),
    command_for(
        "snapshots.list",
        deployment_option,
        watchable,
        render="stack:snapshot_list",
        answer=list_of("snapshots"),
        help="List snapshots, the oldest first.",
        example="snapshots list -d shop",
    ),
    show,
    run_command_for(
        "snapshots.delete",
        click.argument("name"),
        deployment_needed,
        running_options,
        detach_option,
        cls=OfDeployment,
        help="Delete a snapshot.\n\nThe operation snapshot.delete is called first, where it is defined.",
        example="snapshots delete -d shop monday",
    ),
)
for _command in COMMANDS:
    snapshots.add_command(_command)
