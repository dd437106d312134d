"""``phaseline resources …``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from phaseline.cli.shell import shell_completion as completing
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import data_option, json_option, limit_option, pairs, stopping_options, watchable

if TYPE_CHECKING:
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.use_cases.queries.resources.selection import ResourceSelector

F = TypeVar("F", bound=Callable[..., Any])
names_argument = click.argument("names", metavar="[NAME…]", nargs=-1, shell_complete=completing.resources)
name_argument = click.argument("name", shell_complete=completing.resources)
cluster_option = click.option(
    "-d", "--cluster", metavar="NAME", shell_complete=completing.clusters, help="Only resources of this cluster."
)
filter_option = click.option(
    "--filter",
    "where",
    metavar="EXPRESSION",
    default="",
    help="Only those for which it is true, such as 'PhaseFailed'.",
)
group_option = click.option(
    "--group", metavar="KEY", default="", help="Only those of this group of failures, as resources list shows them."
)
all_option = click.option("--all", "is_all", is_flag=True, help="All resources, where nothing else is said.")
phase_option = click.option("--phase", "phases", metavar="NAME", multiple=True, help="Only this phase; repeatable.")


reason_option = click.option(
    "--reason", metavar="TEXT", required=True, help="Why you vouch for it; kept with the history."
)
set_option = click.option(
    "--set",
    "changes",
    metavar="NAME=VALUE",
    multiple=True,
    callback=pairs,
    help="Set an attribute first: a number, true, a list a, b or a text; NAME:=VALUE sets an expression, NAME:=undefined removes it; repeatable.",
)


def asking(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """A command with these options in this order, then ``--json``; it is given the desk."""

    def decorate(function: F) -> F:
        for option in reversed((*options, json_option, click.pass_obj)):
            function = option(function)
        return function

    return decorate


def about_some(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """A command that is about some resources, with more options of its own."""
    return asking(names_argument, cluster_option, filter_option, group_option, all_option, *options)


def about_one(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """A command that is about one resource, with more options of its own."""
    return asking(name_argument, cluster_option, *options)


def choice(options: dict[str, Any]) -> ResourceSelector:
    """Whom these options mean."""
    from phaseline.use_cases.queries.resources.selection import ResourceSelector

    return ResourceSelector(
        options["names"], options["where"], options["group"], options["cluster"], is_all=options.get("is_all", False)
    )


@click.group(epilog="Example: phaseline resources apply nodes.rec -d night")
def resources() -> None:
    """Resources: what phases move from state to state."""


@resources.command(epilog="Example: phaseline resources apply nodes.rec volumes.json -d night")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option("-d", "--cluster", metavar="NAME", default="", help="The cluster of records that name none.")
@stopping_options
@json_option
@click.pass_obj
def apply(desk: Desk, files: tuple[str, ...], cluster: str, breakpoints: tuple[Breakpoint, ...]) -> None:
    """Put the resources of files of records into the store, or change those that are there.

    A record has AdType, Name, ClusterName (or -d), and TargetState if it is to move; all other attributes are its own.
    Files are formal text, or JSON if they end in .json. If anything is wrong, nothing is stored.
    """
    from phaseline.cli.render.resources import applied_text
    from phaseline.use_cases.commands.resources.apply import apply as run

    with desk.open(makes_store=True) as place:
        found = run(place, files, cluster=cluster, breakpoints=breakpoints)
    desk.answer(found, lambda: applied_text(found))


@resources.command("list", epilog="Example: phaseline resources list -d night --filter 'State == \"Allocation\"'")
@asking(names_argument, cluster_option, filter_option, group_option, limit_option, watchable)
def list_(desk: Desk, /, limit: int, **options: Any) -> None:
    """List resources: state, target, and the phases that keep them there. What failed alike is told together."""
    from phaseline.cli.render.resources import resource_list
    from phaseline.use_cases.queries.resources.resources import list_resources

    with desk.open(lists=True) as place:
        found = list_resources(place, choice(options), limit=limit)
        now = place.clock.now()
    desk.answer(found, lambda: resource_list(found, now))


@resources.command(epilog="Example: phaseline resources show node-1 -d night")
@about_one()
def show(desk: Desk, name: str, cluster: str | None) -> None:
    """Show the record of a resource: its attributes, its state, and what each phase says of it."""
    from phaseline.cli.render.resources import resource_text
    from phaseline.use_cases.queries.resources.resources import show_resource

    with desk.open() as place:
        found = show_resource(place, name, cluster=cluster)
    desk.answer(found, lambda: resource_text(found), exactly=True)


@resources.command(epilog="Example: phaseline resources export -d night -o night.rec")
@asking(
    names_argument,
    cluster_option,
    filter_option,
    group_option,
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help="Write the records there, not to stdout; as JSON if it ends in .json.",
    ),
)
def export(desk: Desk, /, output: str | None, **options: Any) -> None:
    """Print resources as the records that resources apply reads.

    A record has AdType, Name, ClusterName, TargetState and the attributes; states and what phases keep are left out.
    """
    from phaseline.use_cases.queries.resources.export import export as run

    with desk.open() as place:
        found = run(place, choice(options))
    if output is not None:
        from phaseline.cli.commands.plans.stack import write_private

        write_private(found.as_json() if output.lower().endswith(".json") else found.text, output)
        desk.notice(f"Written: {output}")
    if output is None or desk.as_json:
        desk.answer({"resources": found.resources, "total": found.total}, lambda: found.text.rstrip("\n"), exactly=True)


@resources.command(epilog="Example: phaseline resources target Terminated node-1 node-2")
@click.argument("state")
@about_some(
    click.option(
        "--force", is_flag=True, help="At once: what runs of them is not awaited, and moves nothing any more."
    ),
    stopping_options,
)
def target(desk: Desk, /, state: str, force: bool, breakpoints: tuple[Breakpoint, ...], **options: Any) -> None:
    """Give resources another target: what they do now is ended first, then they go the way to the state."""
    from phaseline.cli.render.resources import moved_text
    from phaseline.use_cases.commands.resources.set_target import target as run

    with desk.open() as place:
        found = run(place, state, choice(options), force=force, breakpoints=breakpoints)
    desk.answer(found, lambda: moved_text(found))


@resources.command(epilog="Example: phaseline resources retry --filter 'PhaseFailed' --set MachineType=small")
@about_some(phase_option, set_option)
def retry(desk: Desk, /, phases: tuple[str, ...], changes: dict[str, str], **options: Any) -> None:
    """Let phases that failed be called again; what they kept with the resource is cleared."""
    from phaseline.cli.render.resources import decided_text
    from phaseline.use_cases.commands.resources.control import retry as run

    with desk.open() as place:
        found = run(place, choice(options), phases=phases, changes=changes)
    desk.answer(found, lambda: decided_text(found))


@resources.command(epilog='Example: phaseline resources complete node-1 --phase Acme.Tag --reason "tagged by hand"')
@about_some(phase_option, reason_option)
def complete(desk: Desk, /, phases: tuple[str, ...], reason: str, **options: Any) -> None:
    """Take phases as completed because you know they are; without --phase those that failed."""
    from phaseline.cli.render.resources import decided_text
    from phaseline.use_cases.commands.resources.control import complete as run

    with desk.open() as place:
        found = run(place, choice(options), reason=reason, phases=phases)
    desk.answer(found, lambda: decided_text(found))


@resources.command(epilog="Example: phaseline resources rerun node-1 --phase Example.CreateFile")
@about_some(
    click.option("--phase", "phases", metavar="NAME", multiple=True, required=True, help="The phase; repeatable.")
)
def rerun(desk: Desk, /, phases: tuple[str, ...], **options: Any) -> None:
    """Have completed phases called once more, while their resources are still in that state."""
    from phaseline.cli.render.resources import decided_text
    from phaseline.use_cases.commands.resources.control import rerun as run

    with desk.open() as place:
        found = run(place, choice(options), phases=phases)
    desk.answer(found, lambda: decided_text(found))


@resources.command(epilog="Example: phaseline resources wake node-1")
@about_some(phase_option)
def wake(desk: Desk, /, phases: tuple[str, ...], **options: Any) -> None:
    """Have phases that sleep called now instead of when they are due."""
    from phaseline.cli.render.resources import decided_text
    from phaseline.use_cases.commands.resources.control import wake as run

    with desk.open() as place:
        found = run(place, choice(options), phases=phases)
    desk.answer(found, lambda: decided_text(found))


@resources.command(
    epilog="Example: phaseline resources signal --filter 'Rack == 4' --phase Acme.Power --data '{\"on\": true}'"
)
@about_some(phase_option, data_option)
def signal(desk: Desk, /, phases: tuple[str, ...], data: str, **options: Any) -> None:
    """Say something to phases that sleep: they are called now, and find it in their phase data, in the list signals."""
    from phaseline.cli.render.resources import decided_text
    from phaseline.use_cases.commands.resources.control import signal as run
    from phaseline.use_cases.loading.input_files import read_said

    said = read_said(data)
    with desk.open() as place:
        found = run(place, choice(options), data=said, phases=phases)
    desk.answer(found, lambda: decided_text(found))


@resources.command(epilog="Example: phaseline resources cancel node-1")
@about_some()
def cancel(desk: Desk, /, **options: Any) -> None:
    """Leave resources in the state they are in: nothing of them is called any more, running calls are awaited."""
    from phaseline.cli.render.resources import moved_text
    from phaseline.use_cases.commands.resources.set_target import cancel as run

    with desk.open() as place:
        found = run(place, choice(options))
    desk.answer(found, lambda: moved_text(found))


@resources.command(epilog="Example: phaseline resources delete --filter 'State == \"Terminated\"'")
@about_some()
def delete(desk: Desk, /, **options: Any) -> None:
    """Remove resources and what is known of them; running calls are awaited first.

    Nothing is called to undo what phases have made: give the resources a target such as Terminated before.
    """
    from phaseline.cli.render.resources import moved_text
    from phaseline.use_cases.commands.resources.set_target import delete as run

    with desk.open() as place:
        found = run(place, choice(options))
    desk.answer(found, lambda: moved_text(found))


@resources.command(epilog="Example: phaseline resources history node-1 --phase Acme.CreateInstance")
@about_one(phase_option, limit_option)
def history(desk: Desk, name: str, cluster: str | None, phases: tuple[str, ...], limit: int) -> None:
    """Tell what a resource went through: states, calls, what users decided; the last lines of it."""
    from phaseline.cli.render.resources import history_text
    from phaseline.use_cases.queries.resources.history import history as run

    with desk.open() as place:
        found = run(place, name, cluster=cluster, phases=phases, limit=limit)
    desk.answer(found, lambda: history_text(found))


@resources.command(epilog="Example: phaseline resources why node-1")
@about_one()
def why(desk: Desk, name: str, cluster: str | None) -> None:
    """Say why a resource is where it is: each phase of its state, whether it applies or why not, what it waits for."""
    from phaseline.cli.render.resources import why_text
    from phaseline.use_cases.queries.resources.wait_reasons import why as run

    with desk.open() as place:
        found = run(place, name, cluster=cluster)
        now = place.clock.now()
    desk.answer(found, lambda: why_text(found, now))
