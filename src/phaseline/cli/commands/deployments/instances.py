"""``phaseline instances …``."""

from __future__ import annotations

import click

from phaseline.cli.shell import shell_completion as completing
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import (
    data_option,
    deployment_option,
    detach_option,
    json_option,
    limit_option,
    watchable,
)


@click.group(epilog="Example: phaseline instances list -d shop")
def instances() -> None:
    """Node instances: the things a deployment consists of."""


@instances.command("list", epilog="Example: phaseline instances list -d shop --state started")
@deployment_option
@click.option("--node", metavar="NAME", help="Only instances of this node.")
@click.option("--state", metavar="STATE", help="Only those in this state.")
@limit_option
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk, deployment: str | None, node: str | None, state: str | None, limit: int) -> None:
    """List instances."""
    from phaseline.cli.render.listings import instance_list
    from phaseline.use_cases.queries.instances import list_instances

    with desk.open(lists=True) as place:
        page = list_instances(place, deployment=deployment, node=node, state=state, limit=limit)
    desk.answer({"instances": page.items, "total": page.total}, lambda: instance_list(page))


@instances.command(epilog="Example: phaseline instances show web_k2m9x1")
@click.argument("id", shell_complete=completing.instances)
@deployment_option
@json_option
@click.pass_obj
def show(desk: Desk, id: str, deployment: str | None) -> None:
    """Show one instance: state, runtime properties, relationships. A unique beginning of the id is enough."""
    from phaseline.cli.render.listings import instance_text
    from phaseline.use_cases.queries.instances import show_instance

    with desk.open() as place:
        view = show_instance(place, id, deployment=deployment)
    desk.answer(view, lambda: instance_text(view))


@instances.command(epilog="Example: phaseline instances why web_k2m9x1")
@click.argument("id", required=False, shell_complete=completing.instances)
@deployment_option
@limit_option
@json_option
@click.pass_obj
def why(desk: Desk, id: str | None, deployment: str | None, limit: int) -> None:
    """Say what an instance waits for, since when, and what would let it go on. Without an ID: all that is stuck."""
    if id is None:
        tell_stuck(desk, deployment, limit)
        return
    from phaseline.cli.render.wait_reasons import waiting_text
    from phaseline.use_cases.queries.wait_reasons import why as explain

    with desk.open() as place:
        found = explain(place, id, deployment=deployment)
    desk.answer(found, lambda: waiting_text(found))


@instances.command(epilog="Example: phaseline instances stuck -d shop")
@deployment_option
@limit_option
@watchable
@json_option
@click.pass_obj
def stuck(desk: Desk, deployment: str | None, limit: int) -> None:
    """List what is stuck, over all deployments, the oldest first: failed, failing and tried again, unsure, sleeping or running long, left waiting."""
    tell_stuck(desk, deployment, limit)


def tell_stuck(desk: Desk, deployment: str | None, limit: int) -> None:
    """The list of what is stuck, like things together."""
    from phaseline.cli.render.stuck import stuck_text
    from phaseline.use_cases.queries.stuck import list_stuck

    with desk.open(lists=True) as place:
        page = list_stuck(place, deployment=deployment, limit=limit)
        now = place.clock.now()
    desk.answer({"stuck": page.items, "total": page.total}, lambda: stuck_text(page, now))


@instances.command(
    "mark-unhealthy", epilog="Example: phaseline instances mark-unhealthy web_k2m9x1 --reason 'disk is slow'"
)
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=completing.instances)
@deployment_option
@click.option("--reason", metavar="TEXT", default="", help="Shown with the instance.")
@json_option
@click.pass_obj
def mark_unhealthy(desk: Desk, ids: tuple[str, ...], deployment: str | None, reason: str) -> None:
    """Say that instances are ill, whatever checks find: the next heal mends them or makes them anew. Refused while they are in use."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.mark_unhealthy import mark_unhealthy as mark

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = mark(place, ids, deployment=deployment, reason=reason, watcher=watcher)
        print_result(desk, view)


@instances.command(epilog="Example: phaseline instances restrict database -d shop --forbid delete --forbid replace")
@click.argument("names", metavar="NODE|ID...", nargs=-1, required=True)
@click.option(
    "-d", "--deployment", metavar="NAME", required=True, shell_complete=completing.deployments, help="Its name."
)
@click.option("--forbid", "actions", metavar="ACTION", multiple=True, help="update, replace or delete; again for more.")
@click.option("--lift", is_flag=True, help="Nothing is forbidden, whatever the blueprint says.")
@click.option("--as-blueprint", is_flag=True, help="What the blueprint says is forbidden.")
@json_option
@click.pass_obj
def restrict(
    desk: Desk, names: tuple[str, ...], deployment: str, actions: tuple[str, ...], *, lift: bool, as_blueprint: bool
) -> None:
    """Forbid that nodes or instances are updated, replaced or taken away, until that is lifted. Refused while they are in use."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.restrict import restrict as say

    if bool(actions) + lift + as_blueprint != 1:
        raise click.UsageError("Give --forbid ACTION, --lift or --as-blueprint.")
    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = say(place, deployment, names, actions=None if as_blueprint else actions, watcher=watcher)
        print_result(desk, view)


@instances.command(epilog="Example: phaseline instances signal web_k2m9x1 -d shop --data '{\"ready\": true}'")
@click.argument("id", shell_complete=completing.instances)
@deployment_option
@data_option
@click.option(
    "--operation", "operations", metavar="NAME", multiple=True, help="Only this one, such as start; repeatable."
)
@detach_option
@json_option
@click.pass_obj
def signal(
    desk: Desk, id: str, deployment: str | None, data: str, operations: tuple[str, ...], *, detach: bool
) -> None:
    """Say something to operations of an instance that sleep: they are called now, and find it. Then go on."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.signal import signal as give
    from phaseline.use_cases.loading.input_files import read_said

    said = read_said(data)
    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = give(
                place, id, deployment=deployment, data=said, operations=operations, watcher=watcher, detach=detach
            )
        print_result(desk, view)
