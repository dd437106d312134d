"""``phaseline resources …``."""

from __future__ import annotations

from typing import Any

import click

from phaseline.cli.shell.cli_context import CliContext, Option, ask, command_for
from phaseline.cli.shell.options import (
    completing,
    data_option,
    json_option,
    limit_option,
    now_too,
    pairs,
    stopping_options,
    watchable,
)

names_argument = click.argument("names", metavar="[NAME…]", nargs=-1, shell_complete=completing("resources"))
name_argument = click.argument("name", shell_complete=completing("resources"))
cluster_option = click.option(
    "-d", "--cluster", metavar="NAME", shell_complete=completing("clusters"), help="Only resources of this cluster."
)
filter_option = click.option(
    "--filter",
    metavar="EXPRESSION",
    default="",
    help="Only resources for which this is true, such as 'PhaseFailed'.",
)
group_option = click.option(
    "--group", metavar="KEY", default="", help='Only resources of this failure group, as "resources list" shows it.'
)
all_option = click.option("--all", is_flag=True, help="All resources, if no other selection is given.")
phase_option = click.option("--phase", "phases", metavar="NAME", multiple=True, help="Only this phase. [repeatable]")


reason_option = click.option(
    "--reason", metavar="TEXT", required=True, help="Why the phases count as completed; stored with the history."
)
set_option = click.option(
    "--set",
    metavar="NAME=VALUE",
    multiple=True,
    callback=pairs,
    help="Attribute to set first: a number, true, a list a, b or a text; NAME:=VALUE sets an expression, NAME:=undefined removes it. [repeatable]",
)
records_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="File for the records, JSON if it ends in .json. [default: stdout]",
)
SOME: tuple[Option, ...] = (names_argument, cluster_option, filter_option, group_option, all_option)
"""The options of a command that works on selected resources."""


@click.group(epilog="Example: phaseline resources apply nodes.rec -d night")
def resources() -> None:
    """Apply, list, move and explain resources.

    Phases move resources from state to state.
    """


@click.command(epilog="Example: phaseline resources export -d night -o night.rec")
@names_argument
@cluster_option
@filter_option
@group_option
@records_option
@json_option
@click.pass_obj
def export(cli: CliContext, /, output: str | None, **words: Any) -> None:
    """Print resources as records that "resources apply" reads.

    A record has AdType, Name, ClusterName, TargetState and the attributes; states and phase data are left out.
    """
    with cli.open() as client:
        found = ask(client, "resources.export", words)
    if output is not None:
        from phaseline.cli.shell.documents import write_private

        write_private(found.as_json() if output.lower().endswith(".json") else found.text, output)
        cli.notice(f"Written: {output}")
    if output is None or cli.as_json:
        cli.answer({"resources": found.resources, "total": found.total}, lambda: found.text.rstrip("\n"), exactly=True)


def _about_some(
    verb: str,
    *options: Option,
    help: str,  # noqa: A002 - the name in click
    example: str,
    first: tuple[Option, ...] = (),
) -> click.Command:
    render = f"resources:{'moved' if verb in MOVES else 'decided'}_text"
    return command_for(f"resources.{verb}", *first, *SOME, *options, render=render, help=help, example=example)


MOVES = ("target", "cancel", "delete")
"""Commands that move resources: their answer lists the resources. Answers of the other commands list decisions."""

COMMANDS = (
    command_for(
        "resources.apply",
        click.argument("files", metavar="FILE…", nargs=-1, required=True),
        click.option("-d", "--cluster", metavar="NAME", default="", help="Cluster of records that name none."),
        stopping_options,
        render="resources:applied_text",
        help="""Create or change resources from files of records.

        A record has AdType, Name, ClusterName (or -d), and TargetState if it is to move; all other attributes are its own.
        Files are formal text, or JSON if they end in .json. If anything is wrong, nothing is stored.
        """,
        example="resources apply nodes.rec volumes.json -d night",
    ),
    command_for(
        "resources.list",
        names_argument,
        cluster_option,
        filter_option,
        group_option,
        limit_option,
        watchable,
        render="resources:resource_list",
        more=now_too,
        help="List resources: state, target, and the phases that keep them there.\n\nResources that failed alike are shown as one group.",
        example="resources list -d night --filter 'State == \"Allocation\"'",
    ),
    command_for(
        "resources.show",
        name_argument,
        cluster_option,
        render="resources:resource_text",
        exactly=True,
        help="Show the record of a resource: attributes, state and phases.",
        example="resources show node-1 -d night",
    ),
    export,
    _about_some(
        "target",
        click.option(
            "--force", is_flag=True, help="Do not wait for running calls; their outcomes move nothing any more."
        ),
        stopping_options,
        first=(click.argument("state"),),
        help="Give resources another target state, after ending their present work.",
        example="resources target Terminated node-1 node-2",
    ),
    _about_some(
        "retry",
        phase_option,
        set_option,
        help="Call failed phases again, with their phase data cleared.",
        example="resources retry --filter 'PhaseFailed' --set MachineType=small",
    ),
    _about_some(
        "complete",
        phase_option,
        reason_option,
        help="Mark phases as completed; without --phase, those that failed.",
        example='resources complete node-1 --phase Acme.Tag --reason "tagged by hand"',
    ),
    _about_some(
        "rerun",
        click.option(
            "--phase", "phases", metavar="NAME", multiple=True, required=True, help="Phase to call again. [repeatable]"
        ),
        help="Call completed phases again, if resources are still in their state.",
        example="resources rerun node-1 --phase Example.CreateFile",
    ),
    _about_some(
        "wake",
        phase_option,
        help="Call sleeping phases now instead of when they are due.",
        example="resources wake node-1",
    ),
    _about_some(
        "signal",
        phase_option,
        data_option,
        help="Send data to sleeping phases, and call them now.\n\nPhases find it in the list signals of their phase data.",
        example="resources signal --filter 'Rack == 4' --phase Acme.Power --data '{\"on\": true}'",
    ),
    _about_some(
        "cancel",
        help="Stop resources in their present state, after running calls ended.",
        example="resources cancel node-1",
    ),
    _about_some(
        "delete",
        help="""Delete resources with all their data, after running calls ended.

        No phase is undone: give the resources a target such as Terminated before.
        """,
        example="resources delete --filter 'State == \"Terminated\"'",
    ),
    command_for(
        "resources.history",
        name_argument,
        cluster_option,
        phase_option,
        limit_option,
        render="resources:history_text",
        help="Show the last events of a resource: states, calls, users' decisions.",
        example="resources history node-1 --phase Acme.CreateInstance",
    ),
    command_for(
        "resources.why",
        name_argument,
        cluster_option,
        render="resources:why_text",
        more=now_too,
        help="Explain why a resource is in its state.\n\nFor each phase: whether it applies, and what it waits for.",
        example="resources why node-1",
    ),
)
for _command in COMMANDS:
    resources.add_command(_command)
