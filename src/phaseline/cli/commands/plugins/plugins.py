"""``phaseline plugins …``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.commands.plugins import packages
from phaseline.cli.shell.cli_context import CliContext, command_for, is_good
from phaseline.cli.shell.options import json_option, plugins_option, watchable

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value


@click.group(epilog="Example: phaseline plugins try machines:create --properties '{size: small}'")
def plugins() -> None:
    """Code that operations are mapped to, phases of states, types that blueprints import, and packages of all of these."""


def _mapping(_ctx: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, Value] | None:
    """Read a mapping from a text in YAML or JSON."""
    if text is None:
        return None
    from phaseline.client.input_files import read_value

    found = read_value(text, f"--{parameter.name}")
    if not isinstance(found, dict):
        raise click.BadParameter(f"'{text}' is no mapping, such as '{{size: 10}}'", param=parameter)
    return found


@click.command("install", epilog="Example: phaseline plugins install ntp-1.0.2.tar.gz")
@click.argument("path")
@click.option("--force", is_flag=True, help="Put other files of a version that is installed in their place.")
@click.option("--allow-downgrade", is_flag=True, help="Put an older version, such as 1.0.1, in the place of 1.0.2.")
@click.option(
    "--definition-only",
    is_flag=True,
    help="Just the type definitions, so that blueprints that import them can be read.",
)
@click.option("--name", metavar="NAME", default="", help="With --definition-only: for files that do not say the name.")
@click.option("--version", metavar="VERSION", default="", help="With --definition-only: likewise the version.")
@json_option
@click.pass_obj
def install(
    cli: CliContext, path: str, force: bool, allow_downgrade: bool, definition_only: bool, name: str, version: str
) -> None:
    """Install a package: a folder, or an archive (.tar.gz, .fp, .zip, wheel, rpm). The same files again change nothing.

    With --definition-only just the type definitions of a plugin: PATH is then plugin.yaml, or a folder, a wheel, a wagon
    or another archive with it. Nothing of what is installed is run.
    """
    if (name or version) and not definition_only:
        raise click.UsageError("--name and --version belong to --definition-only; a package says them itself.")
    if (force or allow_downgrade) and definition_only:
        raise click.UsageError("--definition-only puts definitions in the place of others anyway.")
    with cli.open() as client:
        if definition_only:
            text = cli.renderer("authoring.types:installed_text")
            types = client.plugins.install_definitions(
                path, name=name, version=version, told=lambda sound: cli.notice(text(sound))
            )
            cli.answer(types, lambda: text(types))
            return
        found = client.plugins.install(path, force=force, allow_downgrade=allow_downgrade)
    cli.answer(found, lambda: cli.renderer("authoring.packages:installed_package")(found))


COMMANDS = (
    *packages.COMMANDS,
    command_for(
        "plugins.list",
        plugins_option,
        watchable,
        render="phases:plugin_list",
        help="List plugins with phases, listeners, operations and types, and whether they are sound; none of them is run.",
        example="plugins list --plugins my-plugins",
    ),
    command_for(
        "plugins.show_any",
        click.argument("name"),
        plugins_option,
        name="show",
        render="phases:package_or_plugin_text",
        help="""Show a package, or a plugin with phases, listeners, operations or types, and everything that is wrong with it.

        NAME==VERSION means a version of a package; NAME its newest one.
        """,
        example="plugins show acme.create",
    ),
    command_for(
        "plugins.check",
        click.argument("paths", metavar="[PATH]…", nargs=-1),
        plugins_option,
        render="phases:checked_text",
        code=is_good,
        help="""Check packages, and plugins with phases and listeners: folders, archives or single files.

        All that is wrong is told at once. Plugins are compared with those of the folders of plugins; without PATH these are checked themselves. Nothing is run.
        Exit code 1 if one of them would be refused, or if there is none at a PATH.
        """,
        example="plugins check my-plugins/acme",
    ),
    install,
    command_for(
        "plugins.remove_any",
        click.argument("name", metavar="NAME[==VERSION]"),
        click.option("--version", metavar="VERSION", default="", help="Which version, if there are several."),
        name="remove",
        render=lambda found: f"Removed: {found.name} {found.version}",
        help="""Take a package out of the store, unless a deployment uses it; or a plugin's type definitions out of the catalogue.

        Of a package the version must be said. Deployments made with type definitions stay as they are.
        """,
        example="plugins remove ntp==1.0.2",
    ),
    command_for(
        "plugins.reload",
        render="phases:reloaded_text",
        code=is_good,
        help="""Have the engine read its plugins with phases and listeners anew.

        Calls that run go on with the code they began with. A plugin that is refused keeps its version before. Where no
        engine runs they are only checked. Exit code 1 if one of them is refused.
        """,
        example="plugins reload",
    ),
    command_for(
        "plugins.try_function",
        click.argument("function", metavar="MODULE:FUNCTION"),
        click.option("--properties", metavar="YAML", callback=_mapping, help="Properties of each item's node."),
        click.option("--inputs", metavar="YAML", callback=_mapping, help="Inputs of the operation."),
        click.option(
            "--runtime", metavar="YAML", callback=_mapping, help="Runtime properties that each item has before."
        ),
        click.option(
            "--target",
            metavar="YAML",
            callback=_mapping,
            help="A relationship operation: properties of the target's node.",
        ),
        click.option(
            "--count",
            type=click.IntRange(1, 10_000),
            default=1,
            show_default=True,
            help="How many equal items there are.",
        ),
        plugins_option,
        name="try",
        render="authoring.trial:attempt_text",
        code=is_good,
        help="""Call a function of a plugin with made-up items, and show what came of each.

        The function is really called, as an engine would call it; only nothing is stored. Exit code 1 if an item failed.
        """,
        example="plugins try machines:create --properties '{size: small}' --count 3",
    ),
)
for _command in COMMANDS:
    plugins.add_command(_command)
