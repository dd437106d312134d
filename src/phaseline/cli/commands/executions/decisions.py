"""``phaseline executions resume|follow|retry|complete|wake|rerun|cancel``: decisions of a person about an execution."""

from __future__ import annotations

from typing import Literal

import click

from phaseline.cli.shell.cli_context import CliContext, Words, run_command_for
from phaseline.cli.shell.options import deployment_option, detach_option, execution_argument, json_option

instances_needed = click.option(
    "--instance",
    "instances",
    metavar="ID",
    multiple=True,
    required=True,
    help="Instance whose operations are selected. [repeatable]",
)

resume = run_command_for(
    "executions.resume",
    execution_argument,
    deployment_option,
    detach_option,
    help="Resume an execution that was interrupted or killed.\n\nCompleted calls are not repeated.",
    example="executions resume -d shop",
)

follow = run_command_for(
    "executions.watch",
    execution_argument,
    deployment_option,
    name="follow",
    help="Watch an execution until it ends; run it if no process does.\n\nCtrl-C does not change the execution.",
    example="executions follow install-7",
)


def _raise_if_clean_of_some(words: Words) -> None:
    if words["clean"] and words["instances"]:
        raise click.UsageError("--clean applies to the whole execution; omit --instance")


retry = run_command_for(
    "executions.retry",
    execution_argument,
    deployment_option,
    click.option(
        "--instance", "instances", metavar="ID", multiple=True, help="Only operations of this instance. [repeatable]"
    ),
    click.option("--clean", is_flag=True, help="Stop and delete partly created instances first."),
    detach_option,
    check=_raise_if_clean_of_some,
    help="Call failed, canceled and unsure operations again, then continue.",
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
        help="Only this operation, such as start. [repeatable]",
    ),
    click.option(
        "--reason", metavar="TEXT", required=True, help="Why the operations count as completed; stored with the events."
    ),
    detach_option,
    help="Mark failed or unsure operations as completed, then continue.",
    example='executions complete install-7 --instance db_x1 --reason "started by hand"',
)

wake = run_command_for(
    "executions.wake",
    execution_argument,
    deployment_option,
    instances_needed,
    click.option(
        "--operation", "operations", metavar="NAME", multiple=True, help="Only this operation or phase. [repeatable]"
    ),
    detach_option,
    help="Call sleeping operations and phases now instead of when they are due.",
    example="executions wake install-7 --instance server_x1",
)

rerun = run_command_for(
    "executions.rerun",
    execution_argument,
    deployment_option,
    click.option(
        "--instance",
        "instances",
        metavar="ID",
        multiple=True,
        required=True,
        help="Instance whose phases are selected. [repeatable]",
    ),
    click.option(
        "--phase", "phases", metavar="NAME", multiple=True, required=True, help="Phase to call again. [repeatable]"
    ),
    detach_option,
    help="Call completed phases of instances again, then continue.\n\nThe instances must still be in the state of the phase.",
    example="executions rerun install-7 --instance server_x1 --phase Acme.Tag",
)


@click.command(epilog="Example: phaseline executions cancel install-7")
@execution_argument
@deployment_option
@click.option("--force", "how", flag_value="force", help="Do not wait for running calls.")
@click.option("--kill", "how", flag_value="kill", help="End the processes of running calls instead of waiting.")
@json_option
@click.pass_obj
def cancel(cli: CliContext, id: str | None, deployment: str | None, how: Literal["force", "kill"] | None) -> None:
    """Cancel an open execution: start nothing new, wait for running calls."""
    from phaseline.cli.shell.run_output import progress_watcher

    with cli.open() as client:
        with progress_watcher(cli) as watcher:
            view = client.executions.cancel(
                id, deployment=deployment, force=how == "force", kill=how == "kill", watcher=watcher
            )
        cli.answer(view, lambda: cli.renderer("executions:result_text")(view))
    click.get_current_context().exit(0 if view.status.value == "canceled" else 1)
