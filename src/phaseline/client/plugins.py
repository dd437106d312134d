"""The methods ``client.plugins`` (code that extends Phaseline) and ``client.phases`` (work on resources in a state)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.client import operations as ops
from phaseline.client.client import Noun, hear_nothing
from phaseline.model.packages.package import NATIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from phaseline.embedded.reload_plugins import Reloaded
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.packages.installed import PackageRow
    from phaseline.use_cases.commands.packages.enable import EnabledView
    from phaseline.use_cases.commands.packages.install import Installed
    from phaseline.use_cases.commands.packages.sync import Synced
    from phaseline.use_cases.commands.resources.pause_phase import Paused
    from phaseline.use_cases.loading.type_catalog import TypesView
    from phaseline.use_cases.lookup.known_phases import ForgottenPhase
    from phaseline.use_cases.queries.packages.listing import PackageView
    from phaseline.use_cases.queries.packages.task_order import TaskOrder
    from phaseline.use_cases.queries.phases import PhaseView, PluginView
    from phaseline.use_cases.tools.build_package import Built, Created
    from phaseline.use_cases.tools.plugin_checks import CheckedPlugins
    from phaseline.use_cases.tools.try_function import Attempt


class PluginsNoun(Noun):
    """Plugins: phases, listeners, operations and packages.

    Only ``reload``, ``build`` and ``try_function`` run code of plugins. A package is named ``NAME==VERSION``, or
    ``NAME`` for the newest version. ``plugins``: folders that are searched before those of the settings.
    """

    def list(self, *, plugins: Sequence[str] = ()) -> list[PluginView]:
        """Return all plugins by name."""
        return self._call(ops.LIST_PLUGINS, plugin_folders=plugins)

    def show(self, name: str, *, plugins: Sequence[str] = ()) -> PluginView:
        """Return one plugin with all its problems."""
        return self._call(ops.SHOW_PLUGIN, name=name, plugin_folders=plugins)

    def show_any(self, name: str, *, plugins: Sequence[str] = ()) -> PackageView | PluginView:
        """Return the package with this name or, if there is none, the other plugin with this name."""
        return self._call(ops.SHOW_ANY_PLUGIN, name=name, plugin_folders=plugins)

    def packages(self) -> Sequence[PackageView]:
        """Return every installed package with its content, by name and version."""
        return self._call(ops.LIST_PACKAGES)

    def show_package(self, name: str) -> PackageView:
        """Return one installed package with its content."""
        return self._call(ops.SHOW_PACKAGE, name=name)

    def create(self, name: str, *, package_version: str = NATIVE, output: str | None = None) -> Created:
        """Write a new package into a folder: a valid skeleton to start from."""
        return self._call(ops.CREATE_PACKAGE, name=name, package_version=package_version, output=output)

    def build(self, folder: str, output: str | None = None) -> Built:
        """Run the package's own build hook, check the package, and pack it with checksums."""
        return self._call(ops.BUILD_PACKAGE, folder=folder, output=output)

    def install(self, path: str, *, force: bool = False, allow_downgrade: bool = False) -> Installed:
        """Install the package in a folder or an archive; installing the same files again changes nothing.

        ``force``: replace an installed version that has other files. ``allow_downgrade``: replace a newer version.
        """
        from phaseline.use_cases.commands.packages.install import PackageInstallation

        wanted = PackageInstallation(force=force, allow_downgrade=allow_downgrade)
        return self._call(ops.INSTALL_PACKAGE, path=path, wanted=wanted)

    def update(self, path: str) -> Installed:
        """Install a package in place of an older version of its line (all versions x.y.*), such as 1.0.2 for 1.0.1."""
        from phaseline.use_cases.commands.packages.install import PackageInstallation

        return self._call(ops.UPDATE_PACKAGE, path=path, wanted=PackageInstallation("update"))

    def remove(self, name: str) -> PackageRow:
        """Remove the package ``NAME==VERSION`` from the store, unless a deployment uses it."""
        return self._call(ops.REMOVE_PACKAGE, name=name)

    def remove_any(self, name: str, *, version: str = "") -> PackageRow | TypesView:
        """Remove the package with this name from the store; if there is none, the type definitions with this name."""
        return self._call(ops.REMOVE_ANY_PLUGIN, name=name, version=version)

    def register(self, name: str, *folders: str) -> PackageRow:
        """Register the package ``NAME==VERSION`` from these folders; without folders, from those of the settings."""
        return self._call(ops.REGISTER_PACKAGE, name=name, folders=folders)

    def sync(self, *folders: str) -> Synced:
        """Update the stored packages from their files in these folders.

        Without folders, search the folders of the settings and the installed distributions.
        """
        return self._call(ops.SYNC_PACKAGES, folders=folders)

    def order(self, deployment: str | None = None, *, workflow: str = "install") -> TaskOrder:
        """Return the tasks of packages in the order in which a workflow runs them.

        ``deployment``: only tasks of its packages; None: tasks of all installed packages.
        """
        return self._call(ops.TASK_ORDER, deployment=deployment, workflow=workflow)

    def enabled(
        self,
        deployment: str,
        *,
        all: bool = False,  # noqa: A002 - the word of the command
    ) -> Sequence[EnabledView]:
        """Return the packages of a deployment.

        ``all``: also return packages that are not enabled; they are ``available``, or ``unfit`` for a given reason.
        """
        return self._call(ops.ENABLED_PACKAGES, name=deployment, everything=all)

    def enable(
        self,
        deployment: str,
        package: str,
        *,
        set: Mapping[str, Value] | None = None,  # noqa: A002 - the word of the command
        switch: bool = False,
    ) -> EnabledView:
        """Enable a package for a deployment, so that its tasks run in workflows. ``switch``: replace another version.

        ``set``: settings of the package, {name: value}.
        """
        return self._call(ops.ENABLE_PACKAGE, name=deployment, package=package, settings=set, switch=switch)

    def disable(self, deployment: str, package: str) -> EnabledView:
        """Disable a package for a deployment: its tasks no longer run in the workflows."""
        return self._call(ops.DISABLE_PACKAGE, name=deployment, package=package)

    def check(self, *paths: str, plugins: Sequence[str] = ()) -> CheckedPlugins:
        """Return the problems of the plugins at these paths; without a path, of all plugins in the folders."""
        return self._call(ops.CHECK_PLUGINS, paths=paths, plugin_folders=plugins)

    def try_function(
        self,
        function: str,
        *,
        properties: Mapping[str, Value] | None = None,
        inputs: Mapping[str, Value] | None = None,
        runtime: Mapping[str, Value] | None = None,
        target: Mapping[str, Value] | None = None,
        count: int = 1,
        plugins: Sequence[str] = (),
    ) -> Attempt:
        """Call a function (``module:function``) with invented items, as an engine would; nothing is stored.

        ``properties``, ``inputs`` and ``runtime`` (initial runtime properties) are those of each of the ``count``
        items. ``target``: properties of the target's node, for an operation of a relationship.
        """
        from phaseline.use_cases.tools.try_function import MadeUp

        given = MadeUp(properties or {}, inputs or {}, runtime or {}, target, count)
        return self._call(ops.TRY_FUNCTION, function=function, given=given, plugin_folders=plugins)

    def install_definitions(
        self,
        path: str,
        *,
        name: str = "",
        version: str = "",
        told: Callable[[Sequence[TypesView]], None] = hear_nothing,
    ) -> Sequence[TypesView]:
        """Add the definition files at a path to the catalogue from which blueprints import types.

        ``told``: receives the accepted definitions if others are refused.
        """
        return self._call(ops.INSTALL_DEFINITIONS, path=path, name=name, version=version, tell=told)

    def remove_definitions(self, name: str, *, version: str = "") -> TypesView:
        """Remove a version of a plugin's definitions from the catalogue from which blueprints import types."""
        return self._call(ops.REMOVE_DEFINITIONS, name=name, version=version)

    def reload(self) -> Reloaded:
        """Let the engine read its plugins again; running calls continue with the code that they have begun."""
        return self._call(ops.RELOAD_PLUGINS)


class PhasesNoun(Noun):
    """Phases: the work on resources in a state. ``plugins``: folders that are searched before those of the settings."""

    def list(
        self,
        *,
        state: str = "",
        type: str = "",  # noqa: A002 - the word of the command
        plugins: Sequence[str] = (),
    ) -> Sequence[PhaseView]:
        """Return phases by name. ``state``: only phases of this state; ``type``: only for resources of this type."""
        return self._call(ops.LIST_PHASES, plugin_folders=plugins, state=state, resource_type=type)

    def show(self, name: str, *, plugins: Sequence[str] = ()) -> PhaseView:
        """Return the definition of one phase, and its present activity."""
        return self._call(ops.SHOW_PHASE, name=name, plugin_folders=plugins)

    def pause(self, name: str, *, reason: str = "paused by a user") -> Paused:
        """Pause a phase: resources that reach it wait, running calls continue."""
        return self._call(ops.PAUSE_PHASE, name=name, reason=reason)

    def unpause(self, name: str) -> Paused:
        """Let a paused phase be called again."""
        return self._call(ops.UNPAUSE_PHASE, name=name)

    def forget(self, name: str) -> ForgottenPhase:
        """Forget a phase whose plugin was removed permanently: resources continue without the phase."""
        return self._call(ops.FORGET_PHASE, name=name)
