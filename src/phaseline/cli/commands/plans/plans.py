"""``phaseline plans …``: stored plans."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for, list_of, run_command_for
from phaseline.cli.shell.options import completing, detach_option, watchable

id_argument = click.argument("id")


@click.group(epilog="Example: phaseline plans apply plan-7")
def plans() -> None:
    """List, show, apply and delete stored plans.

    Plans are stored by --save and by every update.
    """


COMMANDS = (
    command_for(
        "plans.list",
        click.option(
            "-d",
            "--deployment",
            metavar="NAME",
            shell_complete=completing("deployments"),
            help="Only plans of this deployment.",
        ),
        watchable,
        render="plans:plan_list",
        answer=list_of("plans"),
        help="List plans, the latest first, and whether they can still be applied.",
        example="plans list -d shop",
    ),
    command_for(
        "plans.show",
        id_argument,
        render="plans:plan_details",
        help="Show a plan, and what has changed since it was made.\n\nID is that of the plan, or of the execution that carries it out.",
        example="plans show plan-7",
    ),
    run_command_for(
        "plans.apply",
        id_argument,
        detach_option,
        help="Carry out a plan.\n\nRefused with the changes if the deployment has changed since the plan was made.",
        example="plans apply plan-7",
    ),
    command_for(
        "plans.delete",
        id_argument,
        render=lambda view: f"{view.id} is deleted.",
        help="Delete a plan that was not applied.",
        example="plans delete plan-7",
    ),
)
for _command in COMMANDS:
    plans.add_command(_command)
