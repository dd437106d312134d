"""``phaseline instances …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import CliContext, Words, command_for, page_of, run_command_for
from phaseline.cli.shell.options import (
    completing,
    data_option,
    deployment_option,
    detach_option,
    json_option,
    limit_option,
    now_too,
    watchable,
)

id_argument = click.argument("id", shell_complete=completing("instances"))


@click.group(epilog="Example: phaseline instances list -d shop")
def instances() -> None:
    """List, explain, signal and restrict node instances."""


@click.command(epilog="Example: phaseline instances why web_k2m9x1")
@click.argument("id", required=False, shell_complete=completing("instances"))
@deployment_option
@limit_option
@json_option
@click.pass_obj
def why(cli: CliContext, id: str | None, deployment: str | None, limit: int) -> None:
    """Explain what an instance is waiting for and how to unblock it.

    Without an ID: list all stuck instances.
    """
    with cli.open() as client:
        if id is None:
            page = client.instances.stuck(deployment=deployment, limit=limit)
        else:
            found = client.instances.why(id, deployment=deployment)
    if id is None:
        cli.answer(page_of("stuck")(page), lambda: cli.renderer("stuck:stuck_text")(page, **now_too({})))
    else:
        cli.answer(found, lambda: cli.renderer("stuck:waiting_text")(found))


def _one_of_three(words: Words) -> None:
    if bool(words["forbid"]) + words["lift"] + words["as_blueprint"] != 1:
        raise click.UsageError("Give --forbid ACTION, --lift or --as-blueprint.")


COMMANDS = (
    command_for(
        "instances.list",
        deployment_option,
        click.option("--node", metavar="NAME", help="Only instances of this node."),
        click.option("--state", metavar="STATE", help="Only instances in this state."),
        limit_option,
        watchable,
        render="listings:instance_list",
        answer=page_of("instances"),
        help="List node instances.",
        example="instances list -d shop --state started",
    ),
    command_for(
        "instances.show",
        id_argument,
        deployment_option,
        render="listings:instance_text",
        help="Show an instance: state, runtime properties, relationships.\n\nA unique beginning of the id is enough.",
        example="instances show web_k2m9x1",
    ),
    why,
    command_for(
        "instances.stuck",
        deployment_option,
        limit_option,
        watchable,
        render="stuck:stuck_text",
        more=now_too,
        answer=page_of("stuck"),
        help="List the stuck instances of all deployments, the oldest first.\n\nThey failed, are retried or unsure, sleep or run for long, or were left waiting.",
        example="instances stuck -d shop",
    ),
    run_command_for(
        "instances.mark_unhealthy",
        click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=completing("instances")),
        deployment_option,
        click.option("--reason", metavar="TEXT", default="", help="Reason, shown with the instance."),
        help="Mark instances as unhealthy, so that the next heal repairs them.\n\nThe mark overrides checks. Refused while the instances are in use.",
        example="instances mark-unhealthy web_k2m9x1 --reason 'disk is slow'",
    ),
    run_command_for(
        "instances.restrict",
        click.argument("names", metavar="NODE|ID...", nargs=-1, required=True),
        click.option(
            "-d",
            "--deployment",
            metavar="NAME",
            required=True,
            shell_complete=completing("deployments"),
            help="Name of the deployment.",
        ),
        click.option(
            "--forbid",
            metavar="ACTION",
            multiple=True,
            help="Action to forbid: update, replace or delete. [repeatable]",
        ),
        click.option("--lift", is_flag=True, help="Allow all actions, even those that the blueprint forbids."),
        click.option("--as-blueprint", is_flag=True, help="Forbid the actions that the blueprint forbids."),
        check=_one_of_three,
        help="Forbid updating, replacing or deleting nodes or instances.\n\nRefused while they are in use.",
        example="instances restrict database -d shop --forbid delete --forbid replace",
    ),
    run_command_for(
        "instances.signal",
        id_argument,
        deployment_option,
        data_option,
        click.option(
            "--operation",
            "operations",
            metavar="NAME",
            multiple=True,
            help="Only this operation, such as start. [repeatable]",
        ),
        detach_option,
        help="Send data to sleeping operations of an instance, and call them now.",
        example="instances signal web_k2m9x1 -d shop --data '{\"ready\": true}'",
    ),
)
for _command in COMMANDS:
    instances.add_command(_command)
