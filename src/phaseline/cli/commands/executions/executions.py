"""``phaseline executions …``: looking at runs of workflows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from phaseline.cli.commands.executions.approve import approve
from phaseline.cli.commands.executions.control import cancel, complete, follow, rerun, resume, retry, wake
from phaseline.cli.commands.executions.purge import age, purge
from phaseline.cli.commands.executions.start import start
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import deployment_option, execution_argument, json_option, limit_option, watchable
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.graph.status import ExecutionStatus

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.cli.shell.watch_and_follow import LineSource
    from phaseline.use_cases.queries.events.line_filter import LineFilter
    from phaseline.views.views import Line


LEVEL = "info"
"""Lines of logs below this level are for those who look closely."""
F = TypeVar("F", bound=Callable[..., Any])


def line_options(function: F) -> F:
    """Which lines are wanted, how many of them at most, and whether to go on with those that come."""

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
        from phaseline.use_cases.queries.events.line_filter import LineFilter

        if not limit and not follows and not every:
            raise click.BadParameter("0 shows what comes from now on, and so needs --follow.", param_hint="'--limit'")
        wanted = LineFilter(node, phase, level, text)
        return function(*args, wanted=wanted, limit=None if every else limit, follows=follows, **others)

    count = click.IntRange(min=0)
    options = (
        click.option("--node", metavar="NAME", default="", help="Only about instances of this node."),
        click.option(
            "--phase", metavar="NAME", default="", help="Only about this operation or phase; its last part will do."
        ),
        click.option(
            "--level",
            metavar="LEVEL",
            default="",
            help="Only lines of this level and above (of logs: info, unless you say debug), or events of this type.",
        ),
        click.option(
            "--text", metavar="TEXT", default="", help="Only those with this text, upper and lower case alike."
        ),
        click.option(
            "--limit",
            type=count,
            default=10_000,
            show_default=True,
            help="Show the last so many; with --follow and 0 only what comes from now on.",
        ),
        click.option("--all", "every", is_flag=True, help="Show all, however many."),
        click.option(
            "-f", "--follow", "follows", is_flag=True, help="Go on with lines as they come, until it has ended."
        ),
    )
    for option in reversed(options):
        with_filter = option(with_filter)
    return cast("F", with_filter)


@click.group(epilog="Example: phaseline executions show -d shop")
def executions() -> None:
    """Runs of workflows. Without an ID: the latest of -d NAME."""


for _command in (resume, follow, retry, complete, approve, wake, rerun, cancel, purge, start):
    executions.add_command(_command)


@executions.command("list", epilog="Example: phaseline executions list -d shop")
@deployment_option
@click.option(
    "--status", type=click.Choice([status.value for status in ExecutionStatus]), help="Only those of this status."
)
@click.option("--workflow", metavar="NAME", help="Only runs of this workflow.")
@click.option("--by", "actor", metavar="USER", help="Only those that this user asked for.")
@click.option("--since", metavar="AGE", callback=age, help="Only those asked for since then: 90m, 12h, 30d, 8w.")
@click.option("--text", metavar="TEXT", help="Only those with this text in the id or the reason.")
@limit_option
@watchable
@json_option
@click.pass_obj
def list_(
    desk: Desk,
    deployment: str | None,
    status: str | None,
    workflow: str | None,
    actor: str | None,
    since: int,
    text: str | None,
    limit: int,
) -> None:
    """List executions, the latest first."""
    from phaseline.cli.render.executions import execution_list
    from phaseline.use_cases.queries.executions import ExecutionFilter, list_executions

    with desk.open(lists=True) as place:
        begin = place.clock.now() - since if since else 0
        wanted = ExecutionFilter(status or "", workflow or "", actor or "", begin, text or "")
        page = list_executions(place, deployment=deployment, wanted=wanted, limit=limit)
    desk.answer({"executions": page.items, "total": page.total}, lambda: execution_list(page))


@executions.command(epilog="Example: phaseline executions show -d shop")
@execution_argument
@deployment_option
@json_option
@click.pass_obj
def show(desk: Desk, id: str | None, deployment: str | None) -> None:
    """Show one execution: status, counts, and every failed operation with its cause."""
    from phaseline.cli.render.executions import execution_text
    from phaseline.use_cases.queries.executions import show_execution

    with desk.open() as place:
        view = show_execution(place, id, deployment=deployment)
    desk.answer(view, lambda: execution_text(view))


@executions.command(epilog="Example: phaseline executions logs install-7 --instance web_k2m9x1")
@execution_argument
@deployment_option
@click.option("--instance", metavar="ID", help="Only lines about this instance.")
@line_options
@json_option
@click.pass_obj
def logs(
    desk: Desk,
    id: str | None,
    deployment: str | None,
    instance: str | None,
    wanted: LineFilter,
    limit: int | None,
    follows: bool,
) -> None:
    """Print what scripts and plugins wrote, and the engine about them.

    With --follow and --json: a JSON document a line. Ctrl-C ends it, and nothing else; exit code 1 if no process
    works on what has not ended.
    """
    from phaseline.cli.render.executions import log_text
    from phaseline.use_cases.queries.events.events_and_logs import logs as read

    wanted = altered(wanted, level=wanted.level or LEVEL)
    if follows:
        from phaseline.use_cases.queries.events.log_tail import LogTail

        with desk.open() as place:
            tail = LogTail(place, id, deployment=deployment, instance=instance, wanted=wanted)
            _follow(desk, place, tail, limit, log_text, is_named=id is not None)
        return
    with desk.open() as place:
        found = read(place, id, deployment=deployment, instance=instance, wanted=wanted, limit=limit)
    desk.answer(
        {"execution": found.execution, "lines": found.lines, "total": found.total}, lambda: log_text(found.lines)
    )
    _tell_cut(desk, len(found.lines), found.total)
    if id is None and not desk.as_json:
        desk.notice(f"({found.execution} of '{found.deployment}')")


@executions.command(epilog="Example: phaseline executions events -d shop")
@execution_argument
@deployment_option
@line_options
@json_option
@click.pass_obj
def events(
    desk: Desk, id: str | None, deployment: str | None, wanted: LineFilter, limit: int | None, follows: bool
) -> None:
    """Print what happened, in the words and the form of Cloudify's command line.

    With --follow and --json: a JSON document a line. Ctrl-C ends it, and nothing else; exit code 1 if no process
    works on what has not ended.
    """
    from phaseline.cli.render.executions import event_text

    with desk.open() as place:
        if follows:
            from phaseline.use_cases.queries.events.log_tail import EventTail

            tail = EventTail(place, id, deployment=deployment, wanted=wanted)
            _follow(desk, place, tail, limit, event_text, is_named=id is not None)
            return
        from phaseline.use_cases.queries.events.events_and_logs import event_pages

        found = event_pages(place, id, deployment=deployment, wanted=wanted, limit=limit)
        desk.answer_pages({"execution": found.execution}, "events", found.pages, {"total": found.total}, event_text)
    _tell_cut(desk, found.shown, found.total)
    if id is None and not desk.as_json:
        desk.notice(f"({found.execution} of '{found.deployment}')")


@executions.command(epilog="Example: phaseline executions timeline -d shop")
@execution_argument
@deployment_option
@json_option
@click.pass_obj
def timeline(desk: Desk, id: str | None, deployment: str | None) -> None:
    """Show which phase ran when, and the chain of calls that decided when it was done."""
    from phaseline.cli.render.timeline import timeline_text
    from phaseline.use_cases.queries.events.timeline import timeline as read

    with desk.open() as place:
        found = read(place, id, deployment=deployment)
    desk.answer(found, lambda: timeline_text(found))


def _follow(
    desk: Desk,
    place: RequestContext,
    tail: LineSource,
    limit: int | None,
    text: Callable[[Sequence[Line]], str],
    *,
    is_named: bool,
) -> None:
    from phaseline.cli.shell.watch_and_follow import follow as follow_lines

    if not is_named and not desk.as_json:
        desk.notice(f"({tail.row.id} of '{tail.row.deployment_name}')")
    follow_lines(desk, place, tail, limit, text)


def _tell_cut(desk: Desk, shown: int, total: int) -> None:
    """Say that there is more than is shown."""
    if shown < total:
        desk.notice(f"(the last {shown:,} of {total:,} lines; more: --limit N, everything: --all)")
