"""``phaseline hooks …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for, is_good
from phaseline.cli.shell.options import completing, deployment_option, watchable

name_argument = click.argument("name")


@click.group(epilog="Example: phaseline hooks list")
def hooks() -> None:
    """Classes that are called before and after every action of a deployment."""


COMMANDS = (
    command_for(
        "hooks.list",
        deployment_option,
        watchable,
        render="hooks:hook_list",
        help="List hook classes in the order in which they are called, broken ones last. Their code is imported and asked.",
        example="hooks list -d shop",
    ),
    command_for(
        "hooks.show",
        name_argument,
        deployment_option,
        render="hooks:hooks_text",
        help="Show where a hook class comes from, when it is called, and what is wrong with it.",
        example="hooks show quota",
    ),
    command_for(
        "hooks.disable",
        name_argument,
        deployment_option,
        click.option("--reason", metavar="TEXT", default="", help="Why; shown to everybody who looks."),
        render="hooks:switched_text",
        help="Have a hook class called no more from the next action on: for all deployments, or for one if the class is optional.",
        example='hooks disable quota --reason "being mended"',
    ),
    command_for(
        "hooks.enable",
        name_argument,
        deployment_option,
        render="hooks:switched_text",
        help="Have a hook class called again that was switched off.",
        example="hooks enable quota",
    ),
    command_for(
        "hooks.reload",
        render="hooks:reloaded_text",
        code=is_good,
        help="""Import hook classes anew, in the engine that runs, too. What has begun goes on with the objects it has.

        Plugins of phases are read anew with them.
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
            help="The deployment that it is shown.",
        ),
        click.option(
            "--workflow", metavar="NAME", default="install", show_default=True, help="The workflow it is told of."
        ),
        click.option(
            "--method",
            type=click.Choice(["pre", "post", "preview"]),
            default="pre",
            show_default=True,
            help="What is called.",
        ),
        render="hooks:tried_text",
        code=is_good,
        help="""Call a hook class by hand, by its name or as module:Class, and see what it says. Nothing is done to the deployment.

        What the class itself does elsewhere is done.
        """,
        example="hooks test acme.hooks:Quota -d shop --workflow scale",
    ),
)
for _command in COMMANDS:
    hooks.add_command(_command)
