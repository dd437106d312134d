"""``phaseline hooks …``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.shell import shell_completion as completing
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import deployment_option, json_option, watchable

if TYPE_CHECKING:
    from phaseline.use_cases.tools.hook_trial import Method


@click.group(epilog="Example: phaseline hooks list")
def hooks() -> None:
    """Classes that are called before and after every action of a deployment."""


@hooks.command("list", epilog="Example: phaseline hooks list -d shop")
@deployment_option
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk, deployment: str | None) -> None:
    """List hook classes in the order in which they are called, broken ones last. Their code is imported and asked."""
    from phaseline.cli.render.hooks import hook_list
    from phaseline.use_cases.queries.hooks import list_hooks

    with desk.open(lists=True) as place:
        found = list_hooks(place, deployment)
    desk.answer(found, lambda: hook_list(found))


@hooks.command(epilog="Example: phaseline hooks show quota")
@click.argument("name")
@deployment_option
@json_option
@click.pass_obj
def show(desk: Desk, name: str, deployment: str | None) -> None:
    """Show where a hook class comes from, when it is called, and what is wrong with it."""
    from phaseline.cli.render.hooks import hooks_text
    from phaseline.use_cases.queries.hooks import show_hooks

    with desk.open() as place:
        found = show_hooks(place, name, deployment)
    desk.answer(found, lambda: hooks_text(found))


@hooks.command(epilog='Example: phaseline hooks disable quota --reason "being mended"')
@click.argument("name")
@deployment_option
@click.option("--reason", metavar="TEXT", default="", help="Why; shown to everybody who looks.")
@json_option
@click.pass_obj
def disable(desk: Desk, name: str, deployment: str | None, reason: str) -> None:
    """Have a hook class called no more from the next action on: for all deployments, or for one if the class is optional."""
    from phaseline.cli.render.hooks import switched_text
    from phaseline.use_cases.queries.hooks import disable_hook

    with desk.open(makes_store=True) as place:
        done = disable_hook(place, name, deployment=deployment, reason=reason)
    desk.answer(done, lambda: switched_text(done))


@hooks.command(epilog="Example: phaseline hooks enable quota")
@click.argument("name")
@deployment_option
@json_option
@click.pass_obj
def enable(desk: Desk, name: str, deployment: str | None) -> None:
    """Have a hook class called again that was switched off."""
    from phaseline.cli.render.hooks import switched_text
    from phaseline.use_cases.queries.hooks import enable_hook

    with desk.open(makes_store=True) as place:
        done = enable_hook(place, name, deployment=deployment)
    desk.answer(done, lambda: switched_text(done))


@hooks.command(epilog="Example: phaseline hooks reload")
@json_option
@click.pass_context
def reload(ctx: click.Context) -> None:
    """Import hook classes anew, in the engine that runs, too. What has begun goes on with the objects it has.

    Plugins of phases are read anew with them.
    """
    from phaseline.cli.render.hooks import reloaded_text
    from phaseline.embedded.reload_plugins import reload_hooks

    desk: Desk = ctx.obj
    with desk.open() as place:
        done = reload_hooks(place)
    desk.answer(done, lambda: reloaded_text(done))
    if not done.is_good:
        ctx.exit(1)


@hooks.command(epilog="Example: phaseline hooks test acme.hooks:Quota -d shop --workflow scale")
@click.argument("name")
@click.option(
    "-d",
    "--deployment",
    metavar="NAME",
    shell_complete=completing.deployments,
    required=True,
    help="The deployment that it is shown.",
)
@click.option("--workflow", metavar="NAME", default="install", show_default=True, help="The workflow it is told of.")
@click.option(
    "--method", type=click.Choice(["pre", "post", "preview"]), default="pre", show_default=True, help="What is called."
)
@json_option
@click.pass_context
def test(ctx: click.Context, name: str, deployment: str, workflow: str, method: Method) -> None:
    """Call a hook class by hand, by its name or as module:Class, and see what it says. Nothing is done to the deployment.

    What the class itself does elsewhere is done.
    """
    from phaseline.cli.render.hooks import tried_text
    from phaseline.use_cases.tools.hook_trial import try_hook

    desk: Desk = ctx.obj
    with desk.open() as place:
        tried = try_hook(place, name, deployment, workflow=workflow, method=method)
    desk.answer(tried, lambda: tried_text(tried))
    if not tried.is_good:
        ctx.exit(1)
