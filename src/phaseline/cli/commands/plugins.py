"""``phaseline plugins …``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from phaseline.cli.desk import Desk
from phaseline.cli.options import json_option, plugins_option

if TYPE_CHECKING:
    from phaseline.model.blueprint import Value


@click.group(epilog="Example: phaseline plugins try machines:create --properties '{size: small}'")
def plugins() -> None:
    """Code that operations are mapped to, phases of states, and type definitions that blueprints import."""


def _mapping(_ctx: click.Context, parameter: click.Parameter, text: str | None) -> dict[str, Value] | None:
    """The mapping that a text in YAML or JSON means."""
    from phaseline.use_cases.inputs import read_value

    if text is None:
        return None
    found = read_value(text, f"--{parameter.name}")
    if not isinstance(found, dict):
        raise click.BadParameter(f"'{text}' is no mapping, such as '{{size: 10}}'", param=parameter)
    return found


@plugins.command("list", epilog="Example: phaseline plugins list --plugins my-plugins")
@plugins_option
@json_option
@click.pass_obj
def list_(desk: Desk, plugin_folders: tuple[str, ...]) -> None:
    """List plugins with phases, listeners, operations and types, and whether they are sound; none of them is run."""
    from phaseline.cli.render.phases import plugin_list
    from phaseline.use_cases.phases import list_plugins

    with desk.open() as place:
        found = list_plugins(place, plugin_folders)
    desk.answer(found, lambda: plugin_list(found))


@plugins.command("show", epilog="Example: phaseline plugins show acme.create")
@click.argument("name")
@plugins_option
@json_option
@click.pass_obj
def show(desk: Desk, name: str, plugin_folders: tuple[str, ...]) -> None:
    """Show a plugin with phases, listeners, operations or types, and everything that is wrong with it."""
    from phaseline.cli.render.phases import plugin_text
    from phaseline.use_cases.phases import show_plugin

    with desk.open() as place:
        found = show_plugin(place, name, plugin_folders)
    desk.answer(found, lambda: plugin_text(found))


@plugins.command("check", epilog="Example: phaseline plugins check my-plugins/acme")
@click.argument("paths", metavar="[PATH]…", nargs=-1)
@plugins_option
@json_option
@click.pass_obj
def check(desk: Desk, paths: tuple[str, ...], plugin_folders: tuple[str, ...]) -> None:
    """Check plugins with phases and listeners: folders, zip files or single files.

    They are compared with those of the folders of plugins; without PATH these are checked themselves. Nothing is run.
    Exit code 1 if one of them would be refused, or if there is none at a PATH.
    """
    from phaseline.cli.render.phases import checked_text
    from phaseline.use_cases.phases import check_plugins

    with desk.open() as place:
        found = check_plugins(place, paths, plugin_folders)
    desk.answer(found, lambda: checked_text(found))
    click.get_current_context().exit(0 if found.is_good else 1)


@plugins.command("install", epilog="Example: phaseline plugins install --definition-only plugin.yaml")
@click.argument("path")
@click.option(
    "--definition-only",
    is_flag=True,
    help="Just the type definitions, so that blueprints that import them can be read.",
)
@click.option("--name", metavar="NAME", default="", help="Name of the package, for files that do not say it.")
@click.option("--version", metavar="VERSION", default="", help="Version of the package, likewise.")
@json_option
@click.pass_obj
def install(desk: Desk, path: str, definition_only: bool, name: str, version: str) -> None:
    """Put a plugin's definition file into the catalogue that imports resolve to, without a network.

    PATH is the file, a folder, a wheel, a wagon or another archive with plugin.yaml in it. Nothing of the plugin is run.
    """
    from phaseline.cli.render.types import installed_text
    from phaseline.use_cases.type_definitions import install_definitions

    if not definition_only:
        raise click.UsageError("Say --definition-only: so far only type definitions can be installed.")
    with desk.open() as place:
        found = install_definitions(place, path, name=name, version=version)
    desk.answer(found, lambda: installed_text(found))


@plugins.command("remove", epilog="Example: phaseline plugins remove cloudify-aws-plugin --version 3.0.0")
@click.argument("name")
@click.option("--version", metavar="VERSION", default="", help="Which version, if there are several.")
@json_option
@click.pass_obj
def remove(desk: Desk, name: str, version: str) -> None:
    """Take a plugin's type definitions out of the catalogue. Deployments made with them stay as they are."""
    from phaseline.use_cases.type_definitions import remove_definitions

    with desk.open() as place:
        found = remove_definitions(place, name, version)
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
    from phaseline.use_cases.reloading import reload_plugins

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
    from phaseline.cli.render.trying import attempt_text
    from phaseline.use_cases.trying import MadeUp, try_function

    given = MadeUp(properties or {}, inputs or {}, runtime or {}, target, count)
    with desk.open() as place:
        found = try_function(place, function, given, plugin_folders=plugin_folders)
    desk.answer(found, lambda: attempt_text(found))
    click.get_current_context().exit(0 if found.is_good else 1)
