"""``phaseline executions …``: queries about executions of workflows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from phaseline.cli.commands.executions.approve import approve
from phaseline.cli.commands.executions.decisions import cancel, complete, follow, rerun, resume, retry, wake
from phaseline.cli.commands.executions.purge import age, purge
from phaseline.cli.commands.executions.start import start
from phaseline.cli.shell.cli_context import CliContext, command_for, page_of
from phaseline.cli.shell.options import (
    deployment_option,
    execution_argument,
    json_option,
    limit_option,
    row_filter_option,
    rule_option,
    watchable,
)
from phaseline.model.graph.status import ExecutionStatus

if TYPE_CHECKING:
    from phaseline.use_cases.queries.events.log_stream import LineStream
    from phaseline.views.views import Line

LEVEL = "info"
"""The lowest level of log lines that are shown without ``--level``."""
F = TypeVar("F", bound=Callable[..., Any])
Wanted = Mapping[str, str]
"""{argument of ``executions.logs`` that selects lines: its value}"""


def line_options(function: F) -> F:
    """Add the options that select lines, limit their number, and follow new lines."""

    @wraps(function)
    def with_filter(
        *args: object,
        node: str,
        phase: str,
        level: str,
        text: str,
        limit: int,
        every: bool,
        follows: bool,
        **others: object,
    ) -> object:
        if not limit and not follows and not every:
            raise click.BadParameter("0 shows only new lines, so it needs --follow.", param_hint="'--limit'")
        wanted = {"node": node, "phase": phase, "level": level, "text": text}
        return function(*args, wanted=wanted, limit=None if every else limit, follows=follows, **others)

    count = click.IntRange(min=0)
    options = (
        click.option("--node", metavar="NAME", default="", help="Only lines about instances of this node."),
        click.option(
            "--phase",
            metavar="NAME",
            default="",
            help="Only lines about this operation or phase; the last part of its name is enough.",
        ),
        click.option(
            "--level",
            metavar="LEVEL",
            default="",
            help="Only lines of this level and above, or events of this type. [default for logs: info]",
        ),
        click.option("--text", metavar="TEXT", default="", help="Only lines with this text, in upper or lower case."),
        click.option(
            "--limit",
            type=count,
            default=10_000,
            show_default=True,
            help="Number of last lines to show; with --follow, 0 shows only new lines.",
        ),
        click.option("--all", "every", is_flag=True, help="Show all lines."),
        click.option(
            "-f", "--follow", "follows", is_flag=True, help="Continue with new lines until the execution has ended."
        ),
    )
    for option in reversed(options):
        with_filter = option(with_filter)
    return cast("F", with_filter)


@click.group(epilog="Example: phaseline executions show -d shop")
def executions() -> None:
    """Start, follow, inspect and control executions of workflows.

    Without an ID: the execution of -d NAME to which the command applies, or the latest one.
    """


COMMANDS = (
    *(resume, follow, retry, complete, approve, wake, rerun, cancel, purge, start),
    command_for(
        "executions.list",
        deployment_option,
        click.option(
            "--status",
            type=click.Choice([status.value for status in ExecutionStatus]),
            help="Only executions of this status.",
        ),
        click.option("--workflow", metavar="NAME", default="", help="Only executions of this workflow."),
        click.option("--by", metavar="USER", default="", help="Only executions requested by this user."),
        click.option(
            "--since",
            metavar="AGE",
            callback=age,
            help="Only executions requested in this last time: 90m, 12h, 30d, 8w.",
        ),
        click.option("--text", metavar="TEXT", default="", help="Only executions with this text in id or reason."),
        row_filter_option,
        rule_option,
        limit_option,
        watchable,
        render="executions:execution_list",
        answer=page_of("executions"),
        help="List executions, the latest first.",
        example="executions list -d shop",
    ),
    command_for(
        "executions.show",
        execution_argument,
        deployment_option,
        render="executions:execution_text",
        help="Show an execution: status, counts, failed operations and causes.",
        example="executions show -d shop",
    ),
    command_for(
        "executions.timeline",
        execution_argument,
        deployment_option,
        render="timeline:timeline_text",
        help="Show when each phase ran, and which calls determined the end.",
        example="executions timeline -d shop",
    ),
)
for _command in COMMANDS:
    executions.add_command(_command)


@executions.command(epilog="Example: phaseline executions logs install-7 --instance web_k2m9x1")
@execution_argument
@deployment_option
@click.option("--instance", metavar="ID", help="Only lines about this instance.")
@line_options
@json_option
@click.pass_obj
def logs(
    cli: CliContext,
    id: str | None,
    deployment: str | None,
    instance: str | None,
    wanted: Wanted,
    limit: int | None,
    follows: bool,
) -> None:
    """Print log lines of scripts and plugins, and of the engine about them.

    With --follow and --json: one JSON document per line. Ctrl-C ends only the output. Exit code 1 if the execution has
    not ended and no process works on it.
    """
    wanted = {**wanted, "level": wanted["level"] or LEVEL}
    log_text = cli.renderer("executions:log_text")
    with cli.open() as client:
        if follows:
            stream = client.executions.stream_logs(id, deployment=deployment, instance=instance, **wanted)
            _follow(cli, stream, limit, log_text, is_named=id is not None)
            return
        found = client.executions.logs(id, deployment=deployment, instance=instance, limit=limit, **wanted)
    cli.answer(
        {"execution": found.execution, "lines": found.lines, "total": found.total}, lambda: log_text(found.lines)
    )
    _report_cut(cli, len(found.lines), found.total)
    if id is None and not cli.as_json:
        cli.notice(f"({found.execution} of '{found.deployment}')")


@executions.command(epilog="Example: phaseline executions events -d shop")
@execution_argument
@deployment_option
@line_options
@json_option
@click.pass_obj
def events(
    cli: CliContext, id: str | None, deployment: str | None, wanted: Wanted, limit: int | None, follows: bool
) -> None:
    """Print events in the words and form of Cloudify's command line.

    With --follow and --json: one JSON document per line. Ctrl-C ends only the output. Exit code 1 if the execution has
    not ended and no process works on it.
    """
    event_text = cli.renderer("executions:event_text")
    with cli.open() as client:
        if follows:
            stream = client.executions.stream_events(id, deployment=deployment, **wanted)
            _follow(cli, stream, limit, event_text, is_named=id is not None)
            return
        found = client.executions.event_pages(id, deployment=deployment, limit=limit, **wanted)
        cli.answer_pages({"execution": found.execution}, "events", found.pages, {"total": found.total}, event_text)
    _report_cut(cli, found.shown, found.total)
    if id is None and not cli.as_json:
        cli.notice(f"({found.execution} of '{found.deployment}')")


def _follow(
    cli: CliContext,
    stream: LineStream,
    limit: int | None,
    text: Callable[[Sequence[Line]], str],
    *,
    is_named: bool,
) -> None:
    from phaseline.cli.shell.watch_and_follow import follow as follow_lines

    if not is_named and not cli.as_json:
        cli.notice(f"({stream.row.id} of '{stream.row.deployment_name}')")
    follow_lines(cli, stream, limit, text)


def _report_cut(cli: CliContext, shown: int, total: int) -> None:
    """Report that there are more lines than are shown."""
    if shown < total:
        cli.notice(f"(the last {shown:,} of {total:,} lines; more: --limit N, everything: --all)")
