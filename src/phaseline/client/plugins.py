"""Plugins and phases for Python programs: two nouns of ``phaseline.open()``, made like those beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.client.argument_checks import checked
from phaseline.model.packages.package import NATIVE

if TYPE_CHECKING:
    from phaseline.app.app_context import Workplace
    from phaseline.embedded.reload_plugins import Reloaded
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.installed import PackageRow
    from phaseline.use_cases.commands.packages.enable import EnabledView
    from phaseline.use_cases.commands.packages.install import Installed
    from phaseline.use_cases.commands.packages.sync import Synced
    from phaseline.use_cases.commands.resources.pause_phase import Paused
    from phaseline.use_cases.loading.type_catalog import TypesView
    from phaseline.use_cases.queries.packages.listing import PackageView
    from phaseline.use_cases.queries.packages.task_order import TaskOrder
    from phaseline.use_cases.queries.phases import PhaseView, PluginView
    from phaseline.use_cases.tools.build_package import Built, Created
    from phaseline.use_cases.tools.plugin_checks import Checked


@checked("plugins")
class Plugins:
    """Code of others: phases, listeners, operations and packages. Nothing but ``reload`` and ``build`` runs any of it.

    A package is named ``NAME==VERSION``, or ``NAME`` for the newest version.
    """

    def __init__(self, place: Workplace) -> None:
        """Of the folders of plugins of this place."""
        self._place = place

    def list(self) -> list[PluginView]:
        """Every plugin, by name."""
        from phaseline.use_cases.queries.phases import list_plugins

        return list_plugins(self._place)

    def show(self, name: str) -> PluginView:
        """One plugin with everything that is wrong with it."""
        from phaseline.use_cases.queries.phases import show_plugin

        return show_plugin(self._place, name)

    def packages(self) -> Sequence[PackageView]:
        """Every installed package with everything in it, by name and version."""
        from phaseline.use_cases.queries.packages.listing import list_packages

        return list_packages(self._place)

    def show_package(self, name: str) -> PackageView:
        """One installed package with everything in it."""
        from phaseline.use_cases.queries.packages.listing import show_package

        return show_package(self._place, name)

    def create(self, name: str, *, package_version: str = NATIVE, output: str | None = None) -> Created:
        """Write a new package into a folder, to begin with."""
        from phaseline.use_cases.tools.build_package import create

        return create(name, package_version=package_version, output=output)

    def build(self, folder: str, output: str | None = None) -> Built:
        """Check a package and pack it with checksums, after its own hook has run."""
        from phaseline.use_cases.tools.build_package import build

        return build(folder, output)

    def install(self, path: str, *, force: bool = False, allow_downgrade: bool = False) -> Installed:
        """Install the package of a folder or an archive; the same files again change nothing.

        ``force``: other files in the place of the same version. ``allow_downgrade``: in the place of a newer one.
        """
        from phaseline.use_cases.commands.packages.install import Wanted, install

        return install(self._place, path, Wanted(force=force, allow_downgrade=allow_downgrade))

    def update(self, path: str) -> Installed:
        """Install a package in the place of an older one of the same line, such as 1.0.2 for 1.0.1."""
        from phaseline.use_cases.commands.packages.install import Wanted, install

        return install(self._place, path, Wanted("update"))

    def remove(self, name: str) -> PackageRow:
        """Take the package ``NAME==VERSION`` out of the store, unless a deployment uses it."""
        from phaseline.use_cases.commands.packages.remove import remove

        return remove(self._place, name)

    def register(self, name: str, *folders: str) -> PackageRow:
        """Register the package ``NAME==VERSION`` that lies in one of the folders, or of those of the settings."""
        from phaseline.use_cases.commands.packages.sync import register

        return register(self._place, name, folders)

    def sync(self, *folders: str) -> Synced:
        """Bring the records of packages in these folders up to their files; without any: those of the settings and of distributions."""
        from phaseline.use_cases.commands.packages.sync import sync

        return sync(self._place, folders)

    def order(self, deployment: str | None = None, *, workflow: str = "install") -> TaskOrder:
        """The tasks of packages in the order in which they run: of a deployment, otherwise of all that are installed."""
        from phaseline.use_cases.queries.packages.task_order import order

        return order(self._place, deployment, workflow=workflow)

    def enabled(
        self,
        deployment: str,
        *,
        all: bool = False,  # noqa: A002 - the word of the command
    ) -> Sequence[EnabledView]:
        """The packages of a deployment; ``all``: also those that it could have, or why it cannot."""
        from phaseline.use_cases.commands.packages.enable import list_enabled

        return list_enabled(self._place, deployment, everything=all)

    def enable(
        self,
        deployment: str,
        package: str,
        *,
        set: Mapping[str, Value] | None = None,  # noqa: A002 - the word of the command
        switch: bool = False,
    ) -> EnabledView:
        """Have a package's tasks run in the workflows of a deployment; ``switch``: in the place of another version.

        ``set``: its settings, {name: value}.
        """
        from phaseline.use_cases.commands.packages.enable import enable

        return enable(self._place, deployment, package, settings=set, switch=switch)

    def disable(self, deployment: str, package: str) -> EnabledView:
        """Have them run no more."""
        from phaseline.use_cases.commands.packages.enable import disable

        return disable(self._place, deployment, package)

    def check(self, *paths: str) -> Checked:
        """Everything that is wrong with plugins at these paths; without any with those of the folders."""
        from phaseline.use_cases.tools.plugin_checks import check_plugins

        return check_plugins(self._place, paths)

    def install_definitions(self, path: str, *, name: str = "", version: str = "") -> Sequence[TypesView]:
        """Put the definition files at a path into the catalogue that imports of blueprints resolve to."""
        from phaseline.use_cases.loading.type_catalog import install_definitions

        return install_definitions(self._place, path, name=name, version=version)

    def remove_definitions(self, name: str, *, version: str = "") -> TypesView:
        """Take a version of a plugin's definitions out of that catalogue."""
        from phaseline.use_cases.loading.type_catalog import remove_definitions

        return remove_definitions(self._place, name, version)

    def reload(self) -> Reloaded:
        """Have the engine read them anew; calls that run keep their code."""
        from phaseline.embedded.reload_plugins import reload_plugins

        return reload_plugins(self._place)


@checked("phases")
class Phases:
    """What is done with resources in a state."""

    def __init__(self, place: Workplace) -> None:
        """Of the folders of plugins of this place."""
        self._place = place

    def list(self, *, state: str = "", type: str = "") -> Sequence[PhaseView]:  # noqa: A002 - the word of the command
        """The phases by name; only those of a state, and for resources of a type, if one is given."""
        from phaseline.use_cases.queries.phases import list_phases

        return list_phases(self._place, state=state, resource_type=type)

    def show(self, name: str) -> PhaseView:
        """How one phase is defined, and what is done with it now."""
        from phaseline.use_cases.queries.phases import show_phase

        return show_phase(self._place, name)

    def pause(self, name: str, *, reason: str = "paused by a user") -> Paused:
        """Have it called no more: resources that come to it wait, calls that run go on."""
        from phaseline.use_cases.commands.resources.pause_phase import pause

        return pause(self._place, name, reason=reason)

    def unpause(self, name: str) -> Paused:
        """Have it called again."""
        from phaseline.use_cases.commands.resources.pause_phase import unpause

        return unpause(self._place, name)
