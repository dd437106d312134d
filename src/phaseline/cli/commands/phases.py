"""``phaseline phases …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for
from phaseline.cli.shell.options import plugins_option, watchable

name_argument = click.argument("name")


@click.group(epilog="Example: phaseline phases list --state Allocation")
def phases() -> None:
    """List, show, pause and forget phases.

    A phase is one kind of work on the resources in a state.
    """


COMMANDS = (
    command_for(
        "phases.list",
        click.option("--state", default="", metavar="STATE", help="Only phases of this state."),
        click.option("--type", default="", metavar="TYPE", help="Only phases for resources of this type."),
        plugins_option,
        watchable,
        render="phases:phase_list",
        more=lambda words: {"is_part": bool(words["state"] or words["type"])},
        help="List the phases that plugins define, and their present activity.\n\nNo code of a plugin is run.",
        example="phases list --type Cloud.Node --state Allocation",
    ),
    command_for(
        "phases.show",
        name_argument,
        plugins_option,
        render="phases:phase_text",
        help="Show the definition of a phase, its resources and its latest calls.",
        example="phases show Acme.CreateInstance --json",
    ),
    command_for(
        "phases.pause",
        name_argument,
        click.option("--reason", metavar="TEXT", default="paused by a user", help="Reason, shown with the phase."),
        render="phases:paused_text",
        help="Pause a phase: resources that reach it wait, running calls continue.",
        example='phases pause Acme.CreateInstance --reason "the cloud is down"',
    ),
    command_for(
        "phases.forget",
        name_argument,
        render="phases:forgotten_text",
        help="""Forget a phase whose plugin was removed for good.

        Until then, all resources that reach its state wait, so that a missing plugin never skips a phase. Afterwards,
        resources pass without the phase; for those that already wait: phaseline resources complete.
        """,
        example="phases forget Acme.CreateInstance",
    ),
    command_for(
        "phases.unpause",
        name_argument,
        render="phases:paused_text",
        help="Call a paused phase again.\n\nIt was paused by a user, or because too many of its resources failed.",
        example="phases unpause Acme.CreateInstance",
    ),
)
for _command in COMMANDS:
    phases.add_command(_command)
