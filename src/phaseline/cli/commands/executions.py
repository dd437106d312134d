"""``phaseline executions …``: looking at runs of workflows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.commands.deciding import cancel, complete, follow, resume, retry
from phaseline.cli.commands.purging import purge
from phaseline.cli.commands.starting import start
from phaseline.cli.desk import Desk
from phaseline.cli.options import deployment_option, execution_argument, json_option, limit_option
from phaseline.model.status import ExecutionStatus

if TYPE_CHECKING:
    from phaseline.use_cases.history import History


@click.group(epilog="Example: phaseline executions show -d shop")
def executions() -> None:
    """Runs of workflows. Without an ID: the latest of -d NAME."""


for _command in (resume, follow, retry, complete, cancel, purge, start):
    executions.add_command(_command)


@executions.command("list", epilog="Example: phaseline executions list -d shop")
@deployment_option
@click.option(
    "--status", type=click.Choice([status.value for status in ExecutionStatus]), help="Only those of this status."
)
@limit_option
@json_option
@click.pass_obj
def list_(desk: Desk, deployment: str | None, status: str | None, limit: int) -> None:
    """List executions, the latest first."""
    from phaseline.cli.render.executions import execution_list
    from phaseline.use_cases.executions import list_executions

    with desk.open() as place:
        page = list_executions(place, deployment=deployment, status=status, limit=limit)
    desk.answer({"executions": page.items, "total": page.total}, lambda: execution_list(page))


@executions.command(epilog="Example: phaseline executions show -d shop")
@execution_argument
@deployment_option
@json_option
@click.pass_obj
def show(desk: Desk, id: str | None, deployment: str | None) -> None:
    """Show one execution: status, counts, and every failed operation with its cause."""
    from phaseline.cli.render.executions import execution_text
    from phaseline.use_cases.executions import show_execution

    with desk.open() as place:
        view = show_execution(place, id, deployment=deployment)
    desk.answer(view, lambda: execution_text(view))


@executions.command(epilog="Example: phaseline executions logs install-7 --instance web_k2m9x1")
@execution_argument
@deployment_option
@click.option("--instance", metavar="ID", help="Only lines about this instance.")
@click.option("--limit", type=click.IntRange(min=1), default=10_000, show_default=True, help="Show the last so many.")
@click.option("--all", "every", is_flag=True, help="Show all, however many.")
@json_option
@click.pass_obj
def logs(desk: Desk, id: str | None, deployment: str | None, instance: str | None, limit: int, every: bool) -> None:
    """Print what scripts and plugins wrote, and the engine about them."""
    from phaseline.cli.render.executions import log_text
    from phaseline.use_cases.history import logs as read

    with desk.open() as place:
        found = read(place, id, deployment=deployment, instance=instance, limit=None if every else limit)
    desk.answer(
        {"execution": found.execution, "lines": found.lines, "total": found.total}, lambda: log_text(found.lines)
    )
    _tell_cut(desk, found)
    if id is None and not desk.as_json:
        desk.notice(f"({found.execution} of '{found.deployment}')")


@executions.command(epilog="Example: phaseline executions events -d shop")
@execution_argument
@deployment_option
@click.option("--limit", type=click.IntRange(min=1), default=10_000, show_default=True, help="Show the last so many.")
@click.option("--all", "every", is_flag=True, help="Show all, however many.")
@json_option
@click.pass_obj
def events(desk: Desk, id: str | None, deployment: str | None, limit: int, every: bool) -> None:
    """Print what happened, in the words and the form of Cloudify's command line."""
    from phaseline.cli.render.executions import event_text
    from phaseline.use_cases.history import events as read

    with desk.open() as place:
        found = read(place, id, deployment=deployment, limit=None if every else limit)
    desk.answer(
        {"execution": found.execution, "events": found.lines, "total": found.total}, lambda: event_text(found.lines)
    )
    _tell_cut(desk, found)
    if id is None and not desk.as_json:
        desk.notice(f"({found.execution} of '{found.deployment}')")


def _tell_cut(desk: Desk, found: History) -> None:
    """Say that there is more than is shown."""
    if len(found.lines) < found.total:
        desk.notice(f"(the last {len(found.lines):,} of {found.total:,} lines; more: --limit N, everything: --all)")
