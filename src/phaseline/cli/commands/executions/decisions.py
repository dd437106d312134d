"""``phaseline executions resume|follow|retry|complete|wake|rerun|cancel``: decisions of a person about an execution."""

from __future__ import annotations

from typing import Literal

import click

from phaseline.cli.shell.cli_context import CliContext, Words, run_command_for
from phaseline.cli.shell.options import deployment_option, detach_option, execution_argument, json_option

instances_needed = click.option(
    "--instance", "instances", metavar="ID", multiple=True, required=True, help="Whose operations; repeatable."
)

resume = run_command_for(
    "executions.resume",
    execution_argument,
    deployment_option,
    detach_option,
    help="Carry on with an execution that was interrupted or killed. What completed is not called again.",
    example="executions resume -d shop",
)

follow = run_command_for(
    "executions.watch",
    execution_argument,
    deployment_option,
    name="follow",
    help="Watch an execution to its end, whoever runs it; carry it on if nobody does. Ctrl-C leaves it as it is.",
    example="executions follow install-7",
)


def _raise_if_clean_of_some(words: Words) -> None:
    if words["clean"] and words["instances"]:
        raise click.UsageError("--clean concerns the whole execution; leave --instance out")


retry = run_command_for(
    "executions.retry",
    execution_argument,
    deployment_option,
    click.option(
        "--instance", "instances", metavar="ID", multiple=True, help="Only operations of this instance; repeatable."
    ),
    click.option("--clean", is_flag=True, help="Stop and delete half-made instances first."),
    detach_option,
    check=_raise_if_clean_of_some,
    help="Call again what failed, was canceled or is unsure; then go on with what waited for it.",
    example="executions retry install-7 --clean",
)

complete = run_command_for(
    "executions.complete",
    execution_argument,
    deployment_option,
    instances_needed,
    click.option(
        "--operation",
        "operations",
        metavar="NAME",
        multiple=True,
        help="Only this operation, such as start; repeatable.",
    ),
    click.option("--reason", metavar="TEXT", required=True, help="Why you vouch for it; kept with the events."),
    detach_option,
    help="Take failed or unsure operations as completed, because you know they are; then go on.",
    example='executions complete install-7 --instance db_x1 --reason "started by hand"',
)

wake = run_command_for(
    "executions.wake",
    execution_argument,
    deployment_option,
    instances_needed,
    click.option("--operation", "operations", metavar="NAME", multiple=True, help="Only this one; repeatable."),
    detach_option,
    help="Have operations and phases that sleep called now; then go on.",
    example="executions wake install-7 --instance server_x1",
)

rerun = run_command_for(
    "executions.rerun",
    execution_argument,
    deployment_option,
    click.option(
        "--instance", "instances", metavar="ID", multiple=True, required=True, help="Whose phases; repeatable."
    ),
    click.option("--phase", "phases", metavar="NAME", multiple=True, required=True, help="The phase; repeatable."),
    detach_option,
    help="Have completed phases of nodes called once more, while these are still in that state; then go on.",
    example="executions rerun install-7 --instance server_x1 --phase Acme.Tag",
)


@click.command(epilog="Example: phaseline executions cancel install-7")
@execution_argument
@deployment_option
@click.option("--force", "how", flag_value="force", help="Do not wait for running calls.")
@click.option("--kill", "how", flag_value="kill", help="Do not wait, and end their processes.")
@json_option
@click.pass_obj
def cancel(cli: CliContext, id: str | None, deployment: str | None, how: Literal["force", "kill"] | None) -> None:
    """End an execution that is open: nothing new starts, running calls are awaited."""
    from phaseline.cli.shell.run_output import progress_watcher

    with cli.open() as client:
        with progress_watcher(cli) as watcher:
            view = client.executions.cancel(
                id, deployment=deployment, force=how == "force", kill=how == "kill", watcher=watcher
            )
        cli.answer(view, lambda: cli.renderer("executions:result_text")(view))
    click.get_current_context().exit(0 if view.status.value == "canceled" else 1)
