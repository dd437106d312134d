"""``phaseline engine …``: the process that carries out the executions of all users."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from types import FrameType
from typing import TYPE_CHECKING

import click

from phaseline.cli.shell.cli_context import CliContext, command_for
from phaseline.cli.shell.options import json_option

if TYPE_CHECKING:
    from phaseline.embedded.run_execution import LeaveRequest


@click.group(epilog="Example: phaseline engine run --until-idle")
def engine() -> None:
    """Run, show or stop the process that carries out executions.

    Commands start it when they need it.
    """


@engine.command(epilog="Example: phaseline engine run --until-idle")
@click.option("--until-idle", is_flag=True, help="Stop when all open executions wait for a person.")
@click.option(
    "--due", is_flag=True, help="Start what schedules have due, stop when idle or if another engine runs; for timers."
)
@click.option("--awaits-approvals", is_flag=True, hidden=True)
@json_option
@click.pass_obj
def run(cli: CliContext, until_idle: bool, due: bool, awaits_approvals: bool) -> None:
    """Run the engine until Ctrl-C or "engine stop".

    It first waits while another process is the engine. With --until-idle: exit code 1 if an execution still waits for a
    person, such as for an approval.
    """
    from phaseline.cli.shell.run_output import hearing

    def begun(leave: LeaveRequest) -> None:
        def on_signal(_number: int, _frame: FrameType | None) -> None:
            if leave.is_wanted:
                raise KeyboardInterrupt
            leave()
            stop = (
                "Open executions stay open; end one with: phaseline executions cancel ID; add --kill if a call hangs."
            )
            cli.notice(f"Interrupted: waiting for the running calls. Ctrl-C again leaves at once. {stop}")

        heard.enter_context(hearing((signal.SIGINT, signal.SIGTERM), on_signal))

    with ExitStack() as heard, cli.open() as client:
        found = client.engine.run(
            until_idle=until_idle, due=due, awaits_approvals=awaits_approvals, begun=begun, say=cli.notice
        )
    cli.answer(found, lambda: cli.renderer("engine:run_text")(found))
    click.get_current_context().exit(0 if due or found.is_good else 1)


engine.add_command(
    command_for(
        "engine.status",
        render="engine:status_text",
        help="Show the engine's process, its waiting successor and open executions.",
        example="engine status --json",
    )
)
engine.add_command(
    command_for(
        "engine.stop",
        click.option(
            "--drain",
            type=click.FloatRange(min=0),
            metavar="S",
            help="Longest time in seconds to wait for running calls.",
        ),
        render="engine:stop_text",
        help="""Stop the engine after its running calls have returned.

        Open executions stay open. Calls that were not awaited are listed with what becomes of them.
        """,
        example="engine stop --drain 30",
    )
)
