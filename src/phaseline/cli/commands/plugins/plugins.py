"""``phaseline plugins …``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.commands.plugins import packages
from phaseline.cli.shell.cli_context import Desk
from phaseline.cli.shell.options import json_option, plugins_option, watchable

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value


@click.group(epilog="Example: phaseline plugins try machines:create --properties '{size: small}'")
def plugins() -> None:
    """Code that operations are mapped to, phases of states, types that blueprints import, and packages of all of these."""


for command in packages.COMMANDS:
    plugins.add_command(command)


def _mapping(_ctx: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, Value] | None:
    """The mapping that a text in YAML or JSON means."""
    from phaseline.use_cases.loading.input_files import read_value

    if text is None:
        return None
    found = read_value(text, f"--{parameter.name}")
    if not isinstance(found, dict):
        raise click.BadParameter(f"'{text}' is no mapping, such as '{{size: 10}}'", param=parameter)
    return found


@plugins.command("list", epilog="Example: phaseline plugins list --plugins my-plugins")
@plugins_option
@watchable
@json_option
@click.pass_obj
def list_(desk: Desk, plugin_folders: tuple[str, ...]) -> None:
    """List plugins with phases, listeners, operations and types, and whether they are sound; none of them is run."""
    from phaseline.cli.render.phases import plugin_list
    from phaseline.use_cases.queries.phases import list_plugins

    with desk.open(lists=True) as place:
        found = list_plugins(place, plugin_folders)
    desk.answer(found, lambda: plugin_list(found))


@plugins.command("show", epilog="Example: phaseline plugins show acme.create")
@click.argument("name")
@plugins_option
@json_option
@click.pass_obj
def show(desk: Desk, name: str, plugin_folders: tuple[str, ...]) -> None:
    """Show a package, or a plugin with phases, listeners, operations or types, and everything that is wrong with it.

    NAME==VERSION means a version of a package; NAME its newest one.
    """
    from phaseline.cli.render.authoring.packages import package_text
    from phaseline.cli.render.phases import plugin_text
    from phaseline.use_cases.queries.packages.listing import PackageView
    from phaseline.use_cases.queries.plugins import show_any

    with desk.open() as place:
        found = show_any(place, name, plugin_folders)
    desk.answer(found, lambda: package_text(found) if isinstance(found, PackageView) else plugin_text(found))


@plugins.command("check", epilog="Example: phaseline plugins check my-plugins/acme")
@click.argument("paths", metavar="[PATH]…", nargs=-1)
@plugins_option
@json_option
@click.pass_obj
def check(desk: Desk, paths: tuple[str, ...], plugin_folders: tuple[str, ...]) -> None:
    """Check packages, and plugins with phases and listeners: folders, archives or single files.

    All that is wrong is told at once. Plugins are compared with those of the folders of plugins; without PATH these are checked themselves. Nothing is run.
    Exit code 1 if one of them would be refused, or if there is none at a PATH.
    """
    from phaseline.cli.render.phases import checked_text
    from phaseline.use_cases.tools.plugin_checks import check_plugins

    with desk.open() as place:
        found = check_plugins(place, paths, plugin_folders)
    desk.answer(found, lambda: checked_text(found))
    click.get_current_context().exit(0 if found.is_good else 1)


@plugins.command("install", epilog="Example: phaseline plugins install ntp-1.0.2.tar.gz")
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
    desk: Desk, path: str, force: bool, allow_downgrade: bool, definition_only: bool, name: str, version: str
) -> None:
    """Install a package: a folder, or an archive (.tar.gz, .fp, .zip, wheel, rpm). The same files again change nothing.

    With --definition-only just the type definitions of a plugin: PATH is then plugin.yaml, or a folder, a wheel, a wagon
    or another archive with it. Nothing of what is installed is run.
    """
    from phaseline.cli.render.authoring.packages import installed_package
    from phaseline.cli.render.authoring.types import installed_text
    from phaseline.use_cases.commands.packages.install import PackageInstallation
    from phaseline.use_cases.commands.packages.install import install as put
    from phaseline.use_cases.loading.type_catalog import install_definitions

    if (name or version) and not definition_only:
        raise click.UsageError("--name and --version belong to --definition-only; a package says them itself.")
    if (force or allow_downgrade) and definition_only:
        raise click.UsageError("--definition-only puts definitions in the place of others anyway.")
    with desk.open(makes_store=True) as place:
        if definition_only:
            types = install_definitions(
                place, path, name=name, version=version, tell=lambda sound: desk.notice(installed_text(sound))
            )
            desk.answer(types, lambda: installed_text(types))
            return
        found = put(place, path, PackageInstallation(force=force, allow_downgrade=allow_downgrade))
    desk.answer(found, lambda: installed_package(found))


@plugins.command("remove", epilog="Example: phaseline plugins remove ntp==1.0.2")
@click.argument("name", metavar="NAME[==VERSION]")
@click.option("--version", metavar="VERSION", default="", help="Which version, if there are several.")
@json_option
@click.pass_obj
def remove(desk: Desk, name: str, version: str) -> None:
    """Take a package out of the store, unless a deployment uses it; or a plugin's type definitions out of the catalogue.

    Of a package the version must be said. Deployments made with type definitions stay as they are.
    """
    from phaseline.use_cases.commands.packages.remove import remove_any

    with desk.open() as place:
        found = remove_any(place, name, version)
    desk.answer(found, lambda: f"Removed: {found.name} {found.version}")


@plugins.command("reload", epilog="Example: phaseline plugins reload")
@json_option
@click.pass_obj
def reload(desk: Desk) -> None:
    """Have the engine read its plugins with phases and listeners anew.

    Calls that run go on with the code they began with. A plugin that is refused keeps its version before. Where no
    engine runs they are only checked. Exit code 1 if one of them is refused.
    """
    from phaseline.cli.render.phases import reloaded_text
    from phaseline.embedded.reload_plugins import reload_plugins

    with desk.open() as place:
        found = reload_plugins(place)
    desk.answer(found, lambda: reloaded_text(found))
    click.get_current_context().exit(0 if found.is_good else 1)


@plugins.command(
    "try",
    epilog="Example: phaseline plugins try machines:create --properties '{size: small}' --count 3",
)
@click.argument("function", metavar="MODULE:FUNCTION")
@click.option("--properties", metavar="YAML", callback=_mapping, help="Properties of each item's node.")
@click.option("--inputs", metavar="YAML", callback=_mapping, help="Inputs of the operation.")
@click.option("--runtime", metavar="YAML", callback=_mapping, help="Runtime properties that each item has before.")
@click.option(
    "--target", metavar="YAML", callback=_mapping, help="A relationship operation: properties of the target's node."
)
@click.option(
    "--count", type=click.IntRange(1, 10_000), default=1, show_default=True, help="How many equal items there are."
)
@plugins_option
@json_option
@click.pass_obj
def try_(
    desk: Desk,
    function: str,
    properties: dict[str, Value] | None,
    inputs: dict[str, Value] | None,
    runtime: dict[str, Value] | None,
    target: dict[str, Value] | None,
    count: int,
    plugin_folders: tuple[str, ...],
) -> None:
    """Call a function of a plugin with made-up items, and show what came of each.

    The function is really called, as an engine would call it; only nothing is stored. Exit code 1 if an item failed.
    """
    from phaseline.cli.render.authoring.trial import attempt_text
    from phaseline.use_cases.tools.try_function import MadeUp, try_function

    given = MadeUp(properties or {}, inputs or {}, runtime or {}, target, count)
    with desk.open() as place:
        found = try_function(place, function, given, plugin_folders=plugin_folders)
    desk.answer(found, lambda: attempt_text(found))
    click.get_current_context().exit(0 if found.is_good else 1)
