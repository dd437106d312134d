"""``phaseline hooks …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for, is_good
from phaseline.cli.shell.options import completing, deployment_option, watchable

name_argument = click.argument("name")


@click.group(epilog="Example: phaseline hooks list")
def hooks() -> None:
    """List, test, disable and reload hook classes.

    Hook classes are called before and after every action of a deployment.
    """


COMMANDS = (
    command_for(
        "hooks.list",
        deployment_option,
        watchable,
        render="hooks:hook_list",
        help="List hook classes in the order of their calls, broken ones last.\n\nTheir code is imported, and called for the ordinal.",
        example="hooks list -d shop",
    ),
    command_for(
        "hooks.show",
        name_argument,
        deployment_option,
        render="hooks:hooks_text",
        help="Show the origin of a hook class, when it is called, and its faults.",
        example="hooks show quota",
    ),
    command_for(
        "hooks.disable",
        name_argument,
        deployment_option,
        click.option("--reason", metavar="TEXT", default="", help="Reason, shown with the hook class."),
        render="hooks:switched_text",
        help="Disable a hook class from the next action on.\n\nFor all deployments, or for one if the class is optional.",
        example='hooks disable quota --reason "being mended"',
    ),
    command_for(
        "hooks.enable",
        name_argument,
        deployment_option,
        render="hooks:switched_text",
        help="Enable a disabled hook class from the next action on.",
        example="hooks enable quota",
    ),
    command_for(
        "hooks.reload",
        render="hooks:reloaded_text",
        code=is_good,
        help="""Reload hook classes and phase plugins, also in a running engine.

        Actions that have started keep the objects that they have.
        """,
        example="hooks reload",
    ),
    command_for(
        "hooks.test",
        name_argument,
        click.option(
            "-d",
            "--deployment",
            metavar="NAME",
            shell_complete=completing("deployments"),
            required=True,
            help="Deployment to pass to the hook class.",
        ),
        click.option(
            "--workflow",
            metavar="NAME",
            default="install",
            show_default=True,
            help="Workflow to pass to the hook class.",
        ),
        click.option(
            "--method",
            type=click.Choice(["pre", "post", "preview"]),
            default="pre",
            show_default=True,
            help="Method to call.",
        ),
        render="hooks:tried_text",
        code=is_good,
        help="""Call a hook class by hand and show its answer.

        NAME is its name, or module:Class. The deployment does not change, but what the class itself does is real.
        """,
        example="hooks test acme.hooks:Quota -d shop --workflow scale",
    ),
)
for _command in COMMANDS:
    hooks.add_command(_command)
