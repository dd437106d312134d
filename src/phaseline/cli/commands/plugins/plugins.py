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
    """Install, check, list and try plugins and packages.

    A plugin has operations, phases or types that blueprints import; a package contains any of these.
    """


def _mapping(_ctx: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, Value] | None:
    """Read a mapping from a text in YAML or JSON."""
    if text is None:
        return None
    from phaseline.client.input_files import read_value

    found = read_value(text, f"--{parameter.name}")
    if not isinstance(found, dict):
        raise click.BadParameter(f"'{text}' is not a mapping, such as '{{size: 10}}'", param=parameter)
    return found


@click.command("install", epilog="Example: phaseline plugins install ntp-1.0.2.tar.gz")
@click.argument("path")
@click.option("--force", is_flag=True, help="Replace the files of a version that is already installed.")
@click.option("--allow-downgrade", is_flag=True, help="Allow an older version, such as 1.0.1, to replace 1.0.2.")
@click.option(
    "--definition-only",
    is_flag=True,
    help="Install only type definitions, so that blueprints can import them.",
)
@click.option("--name", metavar="NAME", default="", help="Name of the plugin, if its type definitions contain none.")
@click.option(
    "--version", metavar="VERSION", default="", help="Version of the plugin, if its type definitions contain none."
)
@json_option
@click.pass_obj
def install(
    cli: CliContext, path: str, force: bool, allow_downgrade: bool, definition_only: bool, name: str, version: str
) -> None:
    """Install a package from a folder or an archive.

    Archives are .tar.gz, .fp, .zip, wheel and rpm. Installing the same files again changes nothing. With
    --definition-only, PATH is plugin.yaml, or a folder, a wheel, a wagon or another archive that contains it. No installed
    code is run.
    """
    if (name or version) and not definition_only:
        raise click.UsageError("--name and --version need --definition-only; a package contains its own.")
    if (force or allow_downgrade) and definition_only:
        raise click.UsageError("--definition-only always replaces definitions; omit --force and --allow-downgrade.")
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
        help="List plugins, and whether they are valid.\n\nPlugins define phases, listeners, operations or types. No code is run.",
        example="plugins list --plugins my-plugins",
    ),
    command_for(
        "plugins.show_any",
        click.argument("name"),
        plugins_option,
        name="show",
        render="phases:package_or_plugin_text",
        help="""Show a package or a plugin, and everything that is wrong with it.

        NAME==VERSION is a version of a package; NAME is its newest version, or a plugin.
        """,
        example="plugins show acme.create",
    ),
    command_for(
        "plugins.check",
        click.argument("paths", metavar="[PATH]…", nargs=-1),
        plugins_option,
        render="phases:checked_text",
        code=is_good,
        help="""Check packages, and plugins with phases and listeners.

        PATH is a folder, an archive or a file, compared with the plugins in the folders of plugins; without PATH, those are
        checked. All faults are reported at once; no code is run. Exit code 1 if one of them would be refused, or if a PATH
        contains none.
        """,
        example="plugins check my-plugins/acme",
    ),
    install,
    command_for(
        "plugins.remove_any",
        click.argument("name", metavar="NAME[==VERSION]"),
        click.option("--version", metavar="VERSION", default="", help="Version, if there are several."),
        name="remove",
        render=lambda found: f"Removed: {found.name} {found.version}",
        help="""Remove a package, or the type definitions of a plugin.

        A package needs its VERSION, and must not be in use by a deployment. Deployments made with the type definitions do
        not change.
        """,
        example="plugins remove ntp==1.0.2",
    ),
    command_for(
        "plugins.reload",
        render="phases:reloaded_text",
        code=is_good,
        help="""Reload the engine's plugins with phases and listeners.

        Running calls keep their code. A refused plugin keeps its previous version. If no engine runs, the plugins are only
        checked. Exit code 1 if a plugin is refused.
        """,
        example="plugins reload",
    ),
    command_for(
        "plugins.try_function",
        click.argument("function", metavar="MODULE:FUNCTION"),
        click.option("--properties", metavar="YAML", callback=_mapping, help="Properties of each item's node."),
        click.option("--inputs", metavar="YAML", callback=_mapping, help="Inputs of the operation."),
        click.option(
            "--runtime", metavar="YAML", callback=_mapping, help="Runtime properties of each item before the call."
        ),
        click.option(
            "--target",
            metavar="YAML",
            callback=_mapping,
            help="Properties of the target's node, for a relationship operation.",
        ),
        click.option(
            "--count",
            type=click.IntRange(1, 10_000),
            default=1,
            show_default=True,
            help="Number of equal items.",
        ),
        plugins_option,
        name="try",
        render="authoring.trial:attempt_text",
        code=is_good,
        help="""Call a plugin function with made-up items, and show the outcomes.

        The function is really called, as an engine would call it, but nothing is stored. Exit code 1 if an item failed.
        """,
        example="plugins try machines:create --properties '{size: small}' --count 3",
    ),
)
for _command in COMMANDS:
    plugins.add_command(_command)
