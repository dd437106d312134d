"""``phaseline plans …``: kept plans."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for, list_of, run_command_for
from phaseline.cli.shell.options import completing, detach_option, watchable

id_argument = click.argument("id")


@click.group(epilog="Example: phaseline plans apply plan-7")
def plans() -> None:
    """Plans that were kept with --save, and those of every update; read, then carried out as they were read."""


COMMANDS = (
    command_for(
        "plans.list",
        click.option(
            "-d",
            "--deployment",
            metavar="NAME",
            shell_complete=completing("deployments"),
            help="Only of this deployment.",
        ),
        watchable,
        render="plans:plan_list",
        answer=list_of("plans"),
        help="List plans, the latest first: of what, whether they can still be applied.",
        example="plans list -d shop",
    ),
    command_for(
        "plans.show",
        id_argument,
        render="plans:plan_details",
        help="Show a plan as it was made, by its id or by that of the execution that carries it out, and what has moved since.",
        example="plans show plan-7",
    ),
    run_command_for(
        "plans.apply",
        id_argument,
        detach_option,
        help="Carry a plan out. Refused with what has moved if the deployment is not what it was when the plan was made.",
        example="plans apply plan-7",
    ),
    command_for(
        "plans.delete",
        id_argument,
        render=lambda view: f"{view.id} is forgotten.",
        help="Forget a plan that was not applied.",
        example="plans delete plan-7",
    ),
)
for _command in COMMANDS:
    plans.add_command(_command)
