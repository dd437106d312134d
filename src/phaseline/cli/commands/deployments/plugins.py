"""``phaseline deployments plugins …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import command_for
from phaseline.cli.shell.options import deployment_named, pairs_of_values

package_argument = click.argument("package", metavar="PACKAGE[==VERSION]")


@click.group(epilog="Example: phaseline deployments plugins enable shop ntp --set server=10.0.0.1")
def plugins() -> None:
    """List, enable and disable packages for a deployment.

    Tasks of enabled packages run in its workflows.
    """


COMMANDS = (
    command_for(
        "plugins.enabled",
        deployment_named,
        click.option("--all", is_flag=True, help="Include packages that can be enabled, and why others cannot."),
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
            help="Setting with its value in YAML. [repeatable]",
        ),
        click.option("--switch", is_flag=True, help="Replace another enabled version, and keep its settings."),
        render="authoring.packages:enabled_text",
        help="""Enable a package for a deployment, or change its settings.

        Without VERSION: the enabled version, otherwise the newest. If the deployment has installed instances, the package
        must be hot-pluggable.
        """,
        example="deployments plugins enable shop ntp==1.0.2 --set server=10.0.0.1",
    ),
    command_for(
        "plugins.disable",
        deployment_named,
        package_argument,
        render=lambda found: f"{found.package}=={found.version} is disabled for {found.deployment}",
        help="Disable a package for a deployment.\n\nWhat its tasks have done is not undone.",
        example="deployments plugins disable shop ntp",
    ),
)
for _command in COMMANDS:
    plugins.add_command(_command)
