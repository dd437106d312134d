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
    help="Only those for which it is true, such as 'PhaseFailed'.",
)
group_option = click.option(
    "--group", metavar="KEY", default="", help="Only those of this group of failures, as resources list shows them."
)
all_option = click.option("--all", is_flag=True, help="All resources, where nothing else is said.")
phase_option = click.option("--phase", "phases", metavar="NAME", multiple=True, help="Only this phase; repeatable.")


reason_option = click.option(
    "--reason", metavar="TEXT", required=True, help="Why you vouch for it; kept with the history."
)
set_option = click.option(
    "--set",
    metavar="NAME=VALUE",
    multiple=True,
    callback=pairs,
    help="Set an attribute first: a number, true, a list a, b or a text; NAME:=VALUE sets an expression, NAME:=undefined removes it; repeatable.",
)
records_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write the records there, not to stdout; as JSON if it ends in .json.",
)
SOME: tuple[Option, ...] = (names_argument, cluster_option, filter_option, group_option, all_option)
"""The options of a command that works on selected resources."""


@click.group(epilog="Example: phaseline resources apply nodes.rec -d night")
def resources() -> None:
    """Resources: what phases move from state to state."""


@click.command(epilog="Example: phaseline resources export -d night -o night.rec")
@names_argument
@cluster_option
@filter_option
@group_option
@records_option
@json_option
@click.pass_obj
def export(cli: CliContext, /, output: str | None, **words: Any) -> None:
    """Print resources as the records that resources apply reads.

    A record has AdType, Name, ClusterName, TargetState and the attributes; states and what phases keep are left out.
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
"""Verbs whose answer lists the resources that move; the answer of the others lists decisions."""

COMMANDS = (
    command_for(
        "resources.apply",
        click.argument("files", metavar="FILE…", nargs=-1, required=True),
        click.option("-d", "--cluster", metavar="NAME", default="", help="The cluster of records that name none."),
        stopping_options,
        render="resources:applied_text",
        help="""Put the resources of files of records into the store, or change those that are there.

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
        help="List resources: state, target, and the phases that keep them there. What failed alike is told together.",
        example="resources list -d night --filter 'State == \"Allocation\"'",
    ),
    command_for(
        "resources.show",
        name_argument,
        cluster_option,
        render="resources:resource_text",
        exactly=True,
        help="Show the record of a resource: its attributes, its state, and what each phase says of it.",
        example="resources show node-1 -d night",
    ),
    export,
    _about_some(
        "target",
        click.option(
            "--force", is_flag=True, help="At once: what runs of them is not awaited, and moves nothing any more."
        ),
        stopping_options,
        first=(click.argument("state"),),
        help="Give resources another target: what they do now is ended first, then they go the way to the state.",
        example="resources target Terminated node-1 node-2",
    ),
    _about_some(
        "retry",
        phase_option,
        set_option,
        help="Let phases that failed be called again; what they kept with the resource is cleared.",
        example="resources retry --filter 'PhaseFailed' --set MachineType=small",
    ),
    _about_some(
        "complete",
        phase_option,
        reason_option,
        help="Take phases as completed because you know they are; without --phase those that failed.",
        example='resources complete node-1 --phase Acme.Tag --reason "tagged by hand"',
    ),
    _about_some(
        "rerun",
        click.option("--phase", "phases", metavar="NAME", multiple=True, required=True, help="The phase; repeatable."),
        help="Have completed phases called once more, while their resources are still in that state.",
        example="resources rerun node-1 --phase Example.CreateFile",
    ),
    _about_some(
        "wake",
        phase_option,
        help="Have phases that sleep called now instead of when they are due.",
        example="resources wake node-1",
    ),
    _about_some(
        "signal",
        phase_option,
        data_option,
        help="Say something to phases that sleep: they are called now, and find it in their phase data, in the list signals.",
        example="resources signal --filter 'Rack == 4' --phase Acme.Power --data '{\"on\": true}'",
    ),
    _about_some(
        "cancel",
        help="Leave resources in the state they are in: nothing of them is called any more, running calls are awaited.",
        example="resources cancel node-1",
    ),
    _about_some(
        "delete",
        help="""Remove resources and what is known of them; running calls are awaited first.

        Nothing is called to undo what phases have made: give the resources a target such as Terminated before.
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
        help="Tell what a resource went through: states, calls, what users decided; the last lines of it.",
        example="resources history node-1 --phase Acme.CreateInstance",
    ),
    command_for(
        "resources.why",
        name_argument,
        cluster_option,
        render="resources:why_text",
        more=now_too,
        help="Say why a resource is where it is: each phase of its state, whether it applies or why not, what it waits for.",
        example="resources why node-1",
    ),
)
for _command in COMMANDS:
    resources.add_command(_command)
