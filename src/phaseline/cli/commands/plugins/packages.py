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
            help="Version of the package format: Fuel's 1.0.0 to 5.0.0, or 10.0.0, our own.",
        ),
        click.option("--output", metavar="FOLDER", help="Folder to write. [default: the package's name]"),
        render="authoring.packages:created_text",
        help="Create a new package that is valid at once.\n\nIts files explain the numbers of stages.",
        example="plugins create ntp --package-version 5.0.0",
    ),
    local_command_for(
        "plugins.build",
        click.argument("folder"),
        click.option("--output", metavar="FILE", help="Archive to write. [default: NAME-VERSION.tar.gz]"),
        render="authoring.packages:built_text",
        help="""Check a package and pack it with checksums.

        Its pre_build_hook is run first, if it is a program. Equal files always make an equal archive.
        """,
        example="plugins build ntp",
    ),
    command_for(
        "plugins.update",
        click.argument("path"),
        render="authoring.packages:installed_package",
        help="""Replace a package by a newer one, such as 1.0.2 by 1.0.3.

        The first two numbers of both versions must be equal. Deployments use the new package from now on; open executions
        keep the old one.
        """,
        example="plugins update ntp-1.0.3.tar.gz",
    ),
    command_for(
        "plugins.register",
        click.argument("name", metavar="NAME==VERSION"),
        folders_argument,
        render=lambda found: f"Registered: {found} ({found.origin})",
        help="Register a package, and leave its files in their folder.\n\nThe package is searched in FOLDER, or in the folders of plugins.",
        example="plugins register ntp==1.0.2",
    ),
    command_for(
        "plugins.sync",
        folders_argument,
        render="authoring.packages:synced_text",
        code=is_good,
        help="""Update package records from the files in folders.

        Without FOLDER: packages in the folders of plugins, and those that installed distributions announce (entry points
        of the group phaseline.packages). A broken package does not stop the others; a package in use by a deployment is
        never removed. Installed packages are left alone. Exit code 1 if a package is broken or its files are missing.
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
            help="Only packages that are enabled for this deployment.",
        ),
        click.option(
            "--workflow", metavar="NAME", default="install", show_default=True, help="Workflow that runs the tasks."
        ),
        render="authoring.plugin_order:order_text",
        help="Show the order in which the tasks of packages would run.\n\nWithout -d: the tasks of all packages.",
        example="plugins order -d shop",
    ),
)
