"""``phaseline executions resume|follow|retry|complete|wake|rerun|cancel``: what a person decides about an execution."""

from __future__ import annotations

from typing import Literal

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import deployment_option, detach_option, execution_argument, json_option


@click.command(epilog="Example: phaseline executions resume -d shop")
@execution_argument
@deployment_option
@detach_option
@json_option
@click.pass_obj
def resume(desk: Desk, id: str | None, deployment: str | None, detach: bool) -> None:
    """Carry on with an execution that was interrupted or killed. What completed is not called again."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.control import resume as run

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = run(place, id, deployment=deployment, watcher=watcher, detach=detach)
        print_result(desk, view)


@click.command(epilog="Example: phaseline executions follow install-7")
@execution_argument
@deployment_option
@json_option
@click.pass_obj
def follow(desk: Desk, id: str | None, deployment: str | None) -> None:
    """Watch an execution to its end, whoever runs it; carry it on if nobody does. Ctrl-C leaves it as it is."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.control import follow as run

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = run(place, id, deployment=deployment, watcher=watcher)
        print_result(desk, view)


@click.command(epilog="Example: phaseline executions retry install-7 --clean")
@execution_argument
@deployment_option
@click.option(
    "--instance", "instances", metavar="ID", multiple=True, help="Only operations of this instance; repeatable."
)
@click.option("--clean", is_flag=True, help="Stop and delete half-made instances first.")
@detach_option
@json_option
@click.pass_obj
def retry(
    desk: Desk, id: str | None, deployment: str | None, instances: tuple[str, ...], clean: bool, detach: bool
) -> None:
    """Call again what failed, was canceled or is unsure; then go on with what waited for it."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.control import retry as run

    if clean and instances:
        raise click.UsageError("--clean concerns the whole execution; leave --instance out")
    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = run(
                place, id, deployment=deployment, instances=instances, clean=clean, watcher=watcher, detach=detach
            )
        print_result(desk, view)


@click.command(epilog='Example: phaseline executions complete install-7 --instance db_x1 --reason "started by hand"')
@execution_argument
@deployment_option
@click.option(
    "--instance", "instances", metavar="ID", multiple=True, required=True, help="Whose operations; repeatable."
)
@click.option(
    "--operation", "operations", metavar="NAME", multiple=True, help="Only this operation, such as start; repeatable."
)
@click.option("--reason", metavar="TEXT", required=True, help="Why you vouch for it; kept with the events.")
@detach_option
@json_option
@click.pass_obj
def complete(
    desk: Desk,
    id: str | None,
    deployment: str | None,
    instances: tuple[str, ...],
    operations: tuple[str, ...],
    reason: str,
    *,
    detach: bool,
) -> None:
    """Take failed or unsure operations as completed, because you know they are; then go on."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.control import complete as run

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = run(
                place,
                id,
                deployment=deployment,
                instances=instances,
                operations=operations,
                reason=reason,
                watcher=watcher,
                detach=detach,
            )
        print_result(desk, view)


@click.command(epilog="Example: phaseline executions wake install-7 --instance server_x1")
@execution_argument
@deployment_option
@click.option(
    "--instance", "instances", metavar="ID", multiple=True, required=True, help="Whose operations; repeatable."
)
@click.option("--operation", "operations", metavar="NAME", multiple=True, help="Only this one; repeatable.")
@detach_option
@json_option
@click.pass_obj
def wake(
    desk: Desk,
    id: str | None,
    deployment: str | None,
    instances: tuple[str, ...],
    operations: tuple[str, ...],
    *,
    detach: bool,
) -> None:
    """Have operations and phases that sleep called now; then go on."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.control import wake as run

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = run(
                place,
                id,
                deployment=deployment,
                instances=instances,
                operations=operations,
                watcher=watcher,
                detach=detach,
            )
        print_result(desk, view)


@click.command(epilog="Example: phaseline executions rerun install-7 --instance server_x1 --phase Acme.Tag")
@execution_argument
@deployment_option
@click.option("--instance", "instances", metavar="ID", multiple=True, required=True, help="Whose phases; repeatable.")
@click.option("--phase", "phases", metavar="NAME", multiple=True, required=True, help="The phase; repeatable.")
@detach_option
@json_option
@click.pass_obj
def rerun(
    desk: Desk,
    id: str | None,
    deployment: str | None,
    instances: tuple[str, ...],
    phases: tuple[str, ...],
    *,
    detach: bool,
) -> None:
    """Have completed phases of nodes called once more, while these are still in that state; then go on."""
    from phaseline.cli.shell.run_output import print_result, progress_watcher
    from phaseline.use_cases.commands.control import rerun as run

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = run(
                place, id, deployment=deployment, instances=instances, phases=phases, watcher=watcher, detach=detach
            )
        print_result(desk, view)


@click.command(epilog="Example: phaseline executions cancel install-7")
@execution_argument
@deployment_option
@click.option("--force", "how", flag_value="force", help="Do not wait for running calls.")
@click.option("--kill", "how", flag_value="kill", help="Do not wait, and end their processes.")
@json_option
@click.pass_obj
def cancel(desk: Desk, id: str | None, deployment: str | None, how: Literal["force", "kill"] | None) -> None:
    """End an execution that is open: nothing new starts, running calls are awaited."""
    from phaseline.cli.render.executions import result_text
    from phaseline.cli.shell.run_output import progress_watcher
    from phaseline.use_cases.commands.control import cancel as run

    with desk.open() as place:
        with progress_watcher(desk) as watcher:
            view = run(place, id, deployment=deployment, how=how or "wait", watcher=watcher)
        desk.answer(view, lambda: result_text(view))
    click.get_current_context().exit(0 if view.status.value == "canceled" else 1)
