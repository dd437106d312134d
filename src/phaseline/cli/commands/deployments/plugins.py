"""``phaseline deployments plugins …``."""

from __future__ import annotations

import click

from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import deployment_argument, json_option, pairs

package_argument = click.argument("package", metavar="PACKAGE[==VERSION]")


@click.group(epilog="Example: phaseline deployments plugins enable shop ntp --set server=10.0.0.1")
def plugins() -> None:
    """Packages whose tasks run in the workflows of a deployment."""


@plugins.command("list", epilog="Example: phaseline deployments plugins list shop --all")
@deployment_argument
@click.option("--all", "everything", is_flag=True, help="Also those that it could have, and why it cannot have others.")
@json_option
@click.pass_obj
def list_(desk: Desk, name: str, everything: bool) -> None:
    """List the packages of a deployment with their settings."""
    from phaseline.cli.render.authoring.packages import enabled_list
    from phaseline.use_cases.commands.packages.enable import list_enabled

    with desk.open() as place:
        found = list_enabled(place, name, everything=everything)
    desk.answer(found, lambda: enabled_list(found, name))


@plugins.command(epilog="Example: phaseline deployments plugins enable shop ntp==1.0.2 --set server=10.0.0.1")
@deployment_argument
@package_argument
@click.option(
    "--set", "given", metavar="NAME=VALUE", multiple=True, callback=pairs, help="One setting, read as YAML; repeatable."
)
@click.option("--switch", is_flag=True, help="In the place of another version that is enabled; its settings stay.")
@json_option
@click.pass_obj
def enable(desk: Desk, name: str, package: str, given: dict[str, str], switch: bool) -> None:
    """Have the tasks of a package run in the workflows of a deployment, or change settings of one that is enabled.

    Without VERSION the one that is enabled is meant, otherwise the newest. Where something is installed a package must be
    hot-pluggable.
    """
    from phaseline.cli.render.authoring.packages import enabled_text
    from phaseline.use_cases.commands.packages.enable import enable as put
    from phaseline.use_cases.loading.input_files import read_value

    settings = {key: read_value(text, f"--set {key}") for key, text in given.items()}
    with desk.open() as place:
        found = put(place, name, package, settings=settings, switch=switch)
    desk.answer(found, lambda: enabled_text(found))


@plugins.command(epilog="Example: phaseline deployments plugins disable shop ntp")
@deployment_argument
@package_argument
@json_option
@click.pass_obj
def disable(desk: Desk, name: str, package: str) -> None:
    """Have the tasks of a package run no more. What they have done stays as it is."""
    from phaseline.use_cases.commands.packages.enable import disable as take

    with desk.open() as place:
        found = take(place, name, package)
    desk.answer(found, lambda: f"{found.package}=={found.version} is not enabled for {found.deployment} any more")
