"""``phaseline phases …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for
from phaseline.cli.shell.options import plugins_option, watchable

name_argument = click.argument("name")


@click.group(epilog="Example: phaseline phases list --state Allocation")
def phases() -> None:
    """What is done with resources in a state."""


COMMANDS = (
    command_for(
        "phases.list",
        click.option("--state", default="", metavar="STATE", help="Only phases of this state."),
        click.option("--type", default="", metavar="TYPE", help="Only phases for resources of this type."),
        plugins_option,
        watchable,
        render="phases:phase_list",
        more=lambda words: {"is_part": bool(words["state"] or words["type"])},
        help="List the phases that plugins define, and what is done with each now; nothing of a plugin is run.",
        example="phases list --type Cloud.Node --state Allocation",
    ),
    command_for(
        "phases.show",
        name_argument,
        plugins_option,
        render="phases:phase_text",
        help="Show how a phase is defined, how many resources are in it, and how its latest calls went.",
        example="phases show Acme.CreateInstance --json",
    ),
    command_for(
        "phases.pause",
        name_argument,
        click.option("--reason", metavar="TEXT", default="paused by a user", help="Why; shown to everybody who looks."),
        render="phases:paused_text",
        help="Have a phase called no more: resources that come to it wait, calls that run go on.",
        example='phases pause Acme.CreateInstance --reason "the cloud is down"',
    ),
    command_for(
        "phases.forget",
        name_argument,
        render="phases:forgotten_text",
        help="""Know a phase no more whose plugin is gone for good: resources that wait for it wait on, others go on without it.

        Until then everybody who comes to its state waits, so that no phase is passed over because a plugin is missing.
        For those that wait already: phaseline resources complete.
        """,
        example="phases forget Acme.CreateInstance",
    ),
    command_for(
        "phases.unpause",
        name_argument,
        render="phases:paused_text",
        help="Have a phase called again that was paused, be it by a user or because too much of it had failed.",
        example="phases unpause Acme.CreateInstance",
    ),
)
for _command in COMMANDS:
    phases.add_command(_command)
