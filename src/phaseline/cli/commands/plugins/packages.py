"""``phaseline plugins …`` of packages: those who make them, and those who keep them up to date."""

from __future__ import annotations

import click

from phaseline.cli.shell import shell_completion as completing
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option


@click.command(epilog="Example: phaseline plugins create ntp --package-version 5.0.0")
@click.argument("name")
@click.option(
    "--package-version",
    metavar="FORMAT",
    default="10.0.0",
    show_default=True,
    help="Version of the format: 1.0.0 to 5.0.0 are Fuel's, 10.0.0 is our own.",
)
@click.option("--output", metavar="FOLDER", help="Where it is written; otherwise into a folder of its name.")
@json_option
@click.pass_obj
def create(desk: Desk, name: str, package_version: str, output: str | None) -> None:
    """Write a new package to begin with: it is good at once, and says which numbers of stages are for what."""
    from phaseline.cli.render.authoring.packages import created_text
    from phaseline.use_cases.tools.build_package import create as make

    found = make(name, package_version=package_version, output=output)
    desk.answer(found, lambda: created_text(found))


@click.command(epilog="Example: phaseline plugins build ntp")
@click.argument("folder")
@click.option("--output", metavar="FILE", help="The archive; otherwise NAME-VERSION.tar.gz in this folder.")
@json_option
@click.pass_obj
def build(desk: Desk, folder: str, output: str | None) -> None:
    """Check a package and pack it with checksums. Its pre_build_hook is run first, if it is a program.

    The same files make the same archive, whoever builds it and whenever.
    """
    from phaseline.cli.render.authoring.packages import built_text
    from phaseline.use_cases.tools.build_package import build as pack

    found = pack(folder, output)
    desk.answer(found, lambda: built_text(found))


@click.command(epilog="Example: phaseline plugins update ntp-1.0.3.tar.gz")
@click.argument("path")
@json_option
@click.pass_obj
def update(desk: Desk, path: str) -> None:
    """Put a package in the place of an older one whose version begins with the same two numbers: 1.0.3 for 1.0.2.

    Deployments that use the older one use this one from now on. Executions that are open go on with what they began with.
    """
    from phaseline.cli.render.authoring.packages import installed_package
    from phaseline.use_cases.commands.packages.install import PackageInstallation, install

    with desk.open() as place:
        found = install(place, path, PackageInstallation("update"))
    desk.answer(found, lambda: installed_package(found))


@click.command(epilog="Example: phaseline plugins register ntp==1.0.2")
@click.argument("name", metavar="NAME==VERSION")
@click.argument("folders", metavar="[FOLDER]…", nargs=-1)
@json_option
@click.pass_obj
def register(desk: Desk, name: str, folders: tuple[str, ...]) -> None:
    """Register a package that lies in a FOLDER, or in one of the folders of plugins; its files are left where they are."""
    from phaseline.use_cases.commands.packages.sync import register as note

    with desk.open(makes_store=True) as place:
        found = note(place, name, folders)
    desk.answer(found, lambda: f"Registered: {found} ({found.origin})")


@click.command(epilog="Example: phaseline plugins sync /srv/plugins")
@click.argument("folders", metavar="[FOLDER]…", nargs=-1)
@json_option
@click.pass_obj
def sync(desk: Desk, folders: tuple[str, ...]) -> None:
    """Bring records of packages up to the files in FOLDERs: new, changed and vanished ones.

    Without FOLDER: those in the folders of plugins, and those that installed distributions announce (entry points of the group phaseline.packages).
    One that is broken does not stop the others; one that a deployment uses is never removed. Packages that were installed
    are left alone. Exit code 1 if one is broken, or its files are missed.
    """
    from phaseline.cli.render.authoring.packages import synced_text
    from phaseline.use_cases.commands.packages.sync import sync as compare

    with desk.open(makes_store=True) as place:
        found = compare(place, folders)
    desk.answer(found, lambda: synced_text(found))
    click.get_current_context().exit(0 if found.is_good else 1)


@click.command(epilog="Example: phaseline plugins order -d shop")
@click.option(
    "-d",
    "--deployment",
    "deployment",
    metavar="NAME",
    shell_complete=completing.deployments,
    help="Of the packages that are enabled for it alone.",
)
@click.option("--workflow", metavar="NAME", default="install", show_default=True, help="For which workflow.")
@json_option
@click.pass_obj
def order(desk: Desk, deployment: str | None, workflow: str) -> None:
    """Show the tasks of packages in the order in which they run, before anything runs; without -d those of all packages."""
    from phaseline.cli.render.authoring.plugin_order import order_text
    from phaseline.use_cases.queries.packages.task_order import order as put

    with desk.open() as place:
        found = put(place, deployment, workflow=workflow)
    desk.answer(found, lambda: order_text(found))


COMMANDS = (create, build, update, register, sync, order)
