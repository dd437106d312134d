"""``phaseline groups …``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from phaseline.cli.shell.cli_context import CliContext, ask, command_for, counted, json_option
from phaseline.cli.shell.options import (
    blueprint_options,
    detach_option,
    gathered,
    label_option,
    limit_option,
    missing_providers_option,
    start_options,
    watchable,
)
from phaseline.cli.shell.run_output import run_watcher

name_argument = click.argument("name")
run_argument = click.argument("run")


@click.group(epilog="Example: phaseline groups list")
def groups() -> None:
    """Create, list, change and run deployment groups: many deployments as one.

    Members made of one blueprint share their calls.
    """


def existing_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name deployments."""
    named = click.option(
        "-d", "--deployment", "deployments", metavar="NAME", multiple=True, help="Deployment. [repeatable]"
    )
    others = click.option(
        "--from-group", "from_groups", metavar="NAME", multiple=True, help="All members of a group. [repeatable]"
    )
    return named(others(function))


def member_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose the members of a group."""

    @wraps(function)
    def with_inputs(
        *args: object, input_files: tuple[str, ...], inputs_given: tuple[str, ...], **others: object
    ) -> object:
        return function(*args, inputs=gathered(input_files, inputs_given) or None, **others)

    options: tuple[Callable[[Any], Any], ...] = (
        click.option("--blueprint", metavar="FILE|ID", help="File or stored blueprint of which new members are made."),
        click.option("--count", type=int, default=0, metavar="N", help="Number of new members with equal inputs."),
        click.option(
            "--each-inputs",
            metavar="FILE",
            default="",
            help="CSV, JSON lines or YAML list: the inputs of one new member in each line; 'id' is its name.",
        ),
    )
    found = blueprint_options(existing_options(label_option(missing_providers_option(with_inputs))))
    for option in reversed(options):
        found = option(found)
    return found


def following_command(operation: str, *options: Callable[[Any], Any], help: str, example: str) -> click.Command:  # noqa: A002
    """Make the command of an operation that follows a run, prints it, and exits with 1 unless all went well."""

    def follow(cli: CliContext, /, **words: object) -> None:
        with cli.open() as client, run_watcher() as watcher:
            view = ask(client, operation, {**words, "watcher": watcher})
        cli.answer(view, lambda: cli.renderer("estates:run_text")(view))
        click.get_current_context().exit(0 if view.is_good or words.get("detach") else 1)

    function: Any = follow
    for option in reversed((*options, json_option, click.pass_obj)):
        function = option(function)
    name = operation.rpartition(".")[2]
    made = click.command(name, help=help, epilog=f"Example: phaseline {example}")(function)
    vars(made)["operation"] = operation
    return made


RUN_OPTIONS = (
    click.option("--each-params", metavar="FILE", help="YAML or JSON mapping of deployments to their parameters."),
    click.option("--concurrency", metavar="N|N%", help="Deployments at a time; 0: none yet. [default: all together]"),
    click.option(
        "--stop-after",
        metavar="N|N%",
        help="Cancel the deployments that have not begun after more than N deployments have failed.",
    ),
    click.option(
        "--if-busy",
        type=click.Choice(["wait", "refuse", "skip", "force"]),
        default="wait",
        show_default=True,
        help="If another execution has claimed the instances of a deployment: wait for it, refuse, leave the deployment "
        "out, or run beside it.",
    ),
    click.option("--order", metavar="name|label:KEY", default="name", show_default=True, help="Order of beginning."),
    click.option("--skip-unavailable", is_flag=True, help="Leave out deployments for which it is not available now."),
    detach_option,
)

COMMANDS = (
    command_for(
        "groups.create",
        name_argument,
        member_options,
        click.option("--description", metavar="TEXT", default="", help="What the group is for."),
        render="estates:group_text",
        help="Store a group and make its new members.\n\nAll inputs are checked before anything is stored. To install "
        'the members: "groups run NAME install".',
        example="groups create shops --blueprint shop/blueprint.yaml --count 1000 -i port=8080",
    ),
    command_for(
        "groups.list",
        watchable,
        render="estates:group_list",
        answer=counted("groups"),
        help="List deployment groups.",
        example="groups list",
    ),
    command_for(
        "groups.show",
        name_argument,
        render="estates:group_text",
        help="Show a deployment group with its members.",
        example="groups show shops",
    ),
    command_for(
        "groups.extend",
        name_argument,
        member_options,
        render="estates:group_text",
        help="Add members to a group.\n\nNew ones are made of the group's blueprint and inputs, unless others are given.",
        example="groups extend shops --count 10",
    ),
    command_for(
        "groups.shrink",
        name_argument,
        existing_options,
        render="estates:group_text",
        help="Remove deployments from a group.\n\nThe deployments stay.",
        example="groups shrink shops -d shop-7",
    ),
    command_for(
        "groups.delete",
        name_argument,
        click.option("--delete-deployments", is_flag=True, help="Delete the members, too; none may be installed."),
        render="estates:deleted_text",
        help="Delete a group.\n\nIts members stay, unless --delete-deployments is given.",
        example="groups delete shops",
    ),
    following_command(
        "groups.run",
        name_argument,
        click.argument("workflow"),
        start_options,
        *RUN_OPTIONS,
        help="Run a workflow of all members of a group.\n\nThere is an execution for each. All begin together, unless "
        "--concurrency limits their number, and members of one blueprint share their calls.",
        example="groups run shops install --concurrency 10% --stop-after 3",
    ),
    command_for(
        "groups.runs",
        name_argument,
        limit_option,
        render="estates:run_list",
        answer=counted("runs"),
        help="List the runs over a group.",
        example="groups runs shops",
    ),
    following_command(
        "groups.follow",
        run_argument,
        help="Follow a run until its end.\n\nRUN is its id, or a group for its latest run.",
        example="groups follow shops",
    ),
    command_for(
        "groups.events",
        run_argument,
        click.option("--limit", type=click.IntRange(1), default=1000, show_default=True, help="Number of last events."),
        render="estates:events_text",
        help="Show the events of all executions of a run.\n\nRUN is its id, or a group for its latest run.",
        example="groups events run-3",
    ),
    command_for(
        "groups.failures",
        run_argument,
        render="estates:failures_text",
        code=lambda found: int(found.failed > 0),
        help="Show the failures of a run, equal ones as one.\n\nRUN is its id, or a group for its latest run.",
        example="groups failures shops",
    ),
    command_for(
        "groups.pause",
        run_argument,
        render="estates:run_text",
        help="Begin no further execution of a run.\n\nWhat is open continues.",
        example="groups pause shops",
    ),
    following_command(
        "groups.resume",
        run_argument,
        detach_option,
        help="End the pause of a run.",
        example="groups resume shops",
    ),
    following_command(
        "groups.cancel",
        run_argument,
        click.option("--force", is_flag=True, help="Do not await running calls."),
        click.option("--kill", is_flag=True, help="End running calls."),
        detach_option,
        help="Cancel all open executions of a run.",
        example="groups cancel shops",
    ),
    following_command(
        "groups.retry",
        run_argument,
        click.option("--only", type=click.Choice(["failed", "canceled", "unsure"]), help="Only these. [default: all]"),
        detach_option,
        help="Retry the failed, canceled and unsure executions of a run.\n\nWhat has completed is not called again.",
        example="groups retry shops --only failed",
    ),
    command_for(
        "groups.set",
        run_argument,
        click.option("--concurrency", metavar="N|N%", required=True, help="Deployments at a time; 0: none."),
        render="estates:run_text",
        help="Change how many executions of a run are open at a time, while it runs.",
        example="groups set shops --concurrency 50",
    ),
)
for _command in COMMANDS:
    groups.add_command(_command)
