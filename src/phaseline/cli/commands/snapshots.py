"""``phaseline snapshots …``: deployments as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.commands.plans.stack import output_option, put
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.deployment_option import OfDeployment
from phaseline.cli.shell.options import (
    deployment_needed,
    deployment_option,
    detach_option,
    json_option,
    running_options,
    watchable,
)

if TYPE_CHECKING:
    from phaseline.use_cases.prepare.options import ExecutionOptions


@click.group(epilog="Example: phaseline snapshots create -d shop monday")
def snapshots() -> None:
    """Deployments as they were; phaseline restore brings one back. To copy a whole store: phaseline store backup."""


@snapshots.command(cls=OfDeployment, epilog="Example: phaseline snapshots create -d shop monday")
@click.argument("name", required=False)
@deployment_needed
@running_options
@detach_option
@json_option
@click.pass_obj
def create(desk: Desk, name: str | None, deployment: str, manner: ExecutionOptions, detach: bool) -> None:
    """Call snapshot.create of whoever has it, then write the deployment down. Without a name it is called by the time."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.snapshots import create_snapshot

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = create_snapshot(place, deployment, name, manner=manner, watcher=watcher, detach=detach)
        print_result(desk, view)


@snapshots.command("list", epilog="Example: phaseline snapshots list -d shop")
@deployment_option
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk, deployment: str | None) -> None:
    """List snapshots, the oldest first."""
    from phaseline.cli.render.stack import snapshot_list
    from phaseline.use_cases.commands.snapshots import list_snapshots

    with desk.open(lists=True) as place:
        found = list_snapshots(place, deployment)
    desk.answer({"snapshots": found}, lambda: snapshot_list(found))


@snapshots.command(cls=OfDeployment, epilog="Example: phaseline snapshots show -d shop monday")
@click.argument("name")
@deployment_needed
@output_option
@json_option
@click.pass_obj
def show(desk: Desk, name: str, deployment: str, output: str | None) -> None:
    """Print the document of a snapshot, which adopt takes, too."""
    from phaseline.use_cases.commands.snapshots import show_snapshot

    with desk.open() as place:
        found = show_snapshot(place, deployment, name)
    put(desk, found, output)


@snapshots.command(cls=OfDeployment, epilog="Example: phaseline snapshots delete -d shop monday")
@click.argument("name")
@deployment_needed
@running_options
@detach_option
@json_option
@click.pass_obj
def delete(desk: Desk, name: str, deployment: str, manner: ExecutionOptions, detach: bool) -> None:
    """Call snapshot.delete of whoever has it, then forget the snapshot."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.snapshots import delete_snapshot

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = delete_snapshot(place, deployment, name, manner=manner, watcher=watcher, detach=detach)
        print_result(desk, view)
