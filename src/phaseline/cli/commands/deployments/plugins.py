"""``phaseline deployments plugins …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for
from phaseline.cli.shell.options import deployment_named, pairs_of_values

package_argument = click.argument("package", metavar="PACKAGE[==VERSION]")


@click.group(epilog="Example: phaseline deployments plugins enable shop ntp --set server=10.0.0.1")
def plugins() -> None:
    """Packages whose tasks run in the workflows of a deployment."""


COMMANDS = (
    command_for(
        "plugins.enabled",
        deployment_named,
        click.option("--all", is_flag=True, help="Also those that it could have, and why it cannot have others."),
        name="list",
        render="authoring.packages:enabled_list",
        more=lambda words: {"deployment": words["deployment"]},
        help="List the packages of a deployment with their settings.",
        example="deployments plugins list shop --all",
    ),
    command_for(
        "plugins.enable",
        deployment_named,
        package_argument,
        click.option(
            "--set",
            metavar="NAME=VALUE",
            multiple=True,
            callback=pairs_of_values,
            help="One setting, read as YAML; repeatable.",
        ),
        click.option(
            "--switch", is_flag=True, help="In the place of another version that is enabled; its settings stay."
        ),
        render="authoring.packages:enabled_text",
        help="""Have the tasks of a package run in the workflows of a deployment, or change settings of one that is enabled.

        Without VERSION the one that is enabled is meant, otherwise the newest. Where something is installed a package must be
        hot-pluggable.
        """,
        example="deployments plugins enable shop ntp==1.0.2 --set server=10.0.0.1",
    ),
    command_for(
        "plugins.disable",
        deployment_named,
        package_argument,
        render=lambda found: f"{found.package}=={found.version} is not enabled for {found.deployment} any more",
        help="Have the tasks of a package run no more. What they have done stays as it is.",
        example="deployments plugins disable shop ntp",
    ),
)
for _command in COMMANDS:
    plugins.add_command(_command)
