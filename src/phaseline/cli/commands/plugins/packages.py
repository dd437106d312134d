"""``phaseline plugins …`` for packages: commands for their authors and for operators."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for, is_good, local_command_for
from phaseline.cli.shell.options import completing

folders_argument = click.argument("folders", metavar="[FOLDER]…", nargs=-1)

COMMANDS = (
    local_command_for(
        "plugins.create",
        click.argument("name"),
        click.option(
            "--package-version",
            metavar="FORMAT",
            default="10.0.0",
            show_default=True,
            help="Version of the format: 1.0.0 to 5.0.0 are Fuel's, 10.0.0 is our own.",
        ),
        click.option("--output", metavar="FOLDER", help="Where it is written; otherwise into a folder of its name."),
        render="authoring.packages:created_text",
        help="Write a new package to begin with: it is good at once, and says which numbers of stages are for what.",
        example="plugins create ntp --package-version 5.0.0",
    ),
    local_command_for(
        "plugins.build",
        click.argument("folder"),
        click.option("--output", metavar="FILE", help="The archive; otherwise NAME-VERSION.tar.gz in this folder."),
        render="authoring.packages:built_text",
        help="""Check a package and pack it with checksums. Its pre_build_hook is run first, if it is a program.

        The same files make the same archive, whoever builds it and whenever.
        """,
        example="plugins build ntp",
    ),
    command_for(
        "plugins.update",
        click.argument("path"),
        render="authoring.packages:installed_package",
        help="""Put a package in the place of an older one whose version begins with the same two numbers: 1.0.3 for 1.0.2.

        Deployments that use the older one use this one from now on. Executions that are open go on with what they began with.
        """,
        example="plugins update ntp-1.0.3.tar.gz",
    ),
    command_for(
        "plugins.register",
        click.argument("name", metavar="NAME==VERSION"),
        folders_argument,
        render=lambda found: f"Registered: {found} ({found.origin})",
        help="Register a package that lies in a FOLDER, or in one of the folders of plugins; its files are left where they are.",
        example="plugins register ntp==1.0.2",
    ),
    command_for(
        "plugins.sync",
        folders_argument,
        render="authoring.packages:synced_text",
        code=is_good,
        help="""Bring records of packages up to the files in FOLDERs: new, changed and vanished ones.

        Without FOLDER: those in the folders of plugins, and those that installed distributions announce (entry points of the group phaseline.packages).
        One that is broken does not stop the others; one that a deployment uses is never removed. Packages that were installed
        are left alone. Exit code 1 if one is broken, or its files are missed.
        """,
        example="plugins sync /srv/plugins",
    ),
    command_for(
        "plugins.order",
        click.option(
            "-d",
            "--deployment",
            metavar="NAME",
            shell_complete=completing("deployments"),
            help="Of the packages that are enabled for it alone.",
        ),
        click.option("--workflow", metavar="NAME", default="install", show_default=True, help="For which workflow."),
        render="authoring.plugin_order:order_text",
        help="Show the tasks of packages in the order in which they run, before anything runs; without -d those of all packages.",
        example="plugins order -d shop",
    ),
)
