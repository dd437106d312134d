"""Plugins and phases: code of others, and what is done with resources in a state."""

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
    """Code of others: phases, listeners, operations and packages. Only ``reload``, ``build`` and ``try_function`` run any of it.

    A package is named ``NAME==VERSION``, or ``NAME`` for the newest version. ``plugins``: folders that are searched before those of the settings.
    """

    def list(self, *, plugins: Sequence[str] = ()) -> list[PluginView]:
        """Every plugin, by name."""
        return self._call(ops.LIST_PLUGINS, plugin_folders=plugins)

    def show(self, name: str, *, plugins: Sequence[str] = ()) -> PluginView:
        """One plugin with everything that is wrong with it."""
        return self._call(ops.SHOW_PLUGIN, name=name, plugin_folders=plugins)

    def show_any(self, name: str, *, plugins: Sequence[str] = ()) -> PackageView | PluginView:
        """A package, or else the plugin of this name."""
        return self._call(ops.SHOW_ANY_PLUGIN, name=name, plugin_folders=plugins)

    def packages(self) -> Sequence[PackageView]:
        """Every installed package with everything in it, by name and version."""
        return self._call(ops.LIST_PACKAGES)

    def show_package(self, name: str) -> PackageView:
        """One installed package with everything in it."""
        return self._call(ops.SHOW_PACKAGE, name=name)

    def create(self, name: str, *, package_version: str = NATIVE, output: str | None = None) -> Created:
        """Write a new package into a folder, to begin with."""
        return self._call(ops.CREATE_PACKAGE, name=name, package_version=package_version, output=output)

    def build(self, folder: str, output: str | None = None) -> Built:
        """Check a package and pack it with checksums, after its own hook has run."""
        return self._call(ops.BUILD_PACKAGE, folder=folder, output=output)

    def install(self, path: str, *, force: bool = False, allow_downgrade: bool = False) -> Installed:
        """Install the package of a folder or an archive; the same files again change nothing.

        ``force``: other files in the place of the same version. ``allow_downgrade``: in the place of a newer one.
        """
        from phaseline.use_cases.commands.packages.install import PackageInstallation

        wanted = PackageInstallation(force=force, allow_downgrade=allow_downgrade)
        return self._call(ops.INSTALL_PACKAGE, path=path, wanted=wanted)

    def update(self, path: str) -> Installed:
        """Install a package in the place of an older one of the same line, such as 1.0.2 for 1.0.1."""
        from phaseline.use_cases.commands.packages.install import PackageInstallation

        return self._call(ops.UPDATE_PACKAGE, path=path, wanted=PackageInstallation("update"))

    def remove(self, name: str) -> PackageRow:
        """Take the package ``NAME==VERSION`` out of the store, unless a deployment uses it."""
        return self._call(ops.REMOVE_PACKAGE, name=name)

    def remove_any(self, name: str, *, version: str = "") -> PackageRow | TypesView:
        """Take a package, or else a plugin's definitions, of this name out of the store."""
        return self._call(ops.REMOVE_ANY_PLUGIN, name=name, version=version)

    def register(self, name: str, *folders: str) -> PackageRow:
        """Register the package ``NAME==VERSION`` that lies in one of the folders, or of those of the settings."""
        return self._call(ops.REGISTER_PACKAGE, name=name, folders=folders)

    def sync(self, *folders: str) -> Synced:
        """Bring the records of packages in these folders up to their files; without any: those of the settings and of distributions."""
        return self._call(ops.SYNC_PACKAGES, folders=folders)

    def order(self, deployment: str | None = None, *, workflow: str = "install") -> TaskOrder:
        """The tasks of packages in the order in which they run: of a deployment, otherwise of all that are installed."""
        return self._call(ops.TASK_ORDER, deployment=deployment, workflow=workflow)

    def enabled(
        self,
        deployment: str,
        *,
        all: bool = False,  # noqa: A002 - the word of the command
    ) -> Sequence[EnabledView]:
        """The packages of a deployment; ``all``: also those that it could have, or why it cannot."""
        return self._call(ops.ENABLED_PACKAGES, name=deployment, everything=all)

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
        return self._call(ops.ENABLE_PACKAGE, name=deployment, package=package, settings=set, switch=switch)

    def disable(self, deployment: str, package: str) -> EnabledView:
        """Have them run no more."""
        return self._call(ops.DISABLE_PACKAGE, name=deployment, package=package)

    def check(self, *paths: str, plugins: Sequence[str] = ()) -> CheckedPlugins:
        """Everything that is wrong with plugins at these paths; without any with those of the folders."""
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
        """Call a function (``module:function``) with made-up items, as an engine would; nothing is stored.

        ``runtime``: runtime properties that each of the ``count`` items has before. ``target``: properties of the target's node,
        for an operation of a relationship.
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
        """Put the definition files at a path into the catalogue that imports of blueprints resolve to.

        ``told``: receives those that were put in, where others are refused.
        """
        return self._call(ops.INSTALL_DEFINITIONS, path=path, name=name, version=version, tell=told)

    def remove_definitions(self, name: str, *, version: str = "") -> TypesView:
        """Take a version of a plugin's definitions out of that catalogue."""
        return self._call(ops.REMOVE_DEFINITIONS, name=name, version=version)

    def reload(self) -> Reloaded:
        """Have the engine read them anew; calls that run keep their code."""
        return self._call(ops.RELOAD_PLUGINS)


class PhasesNoun(Noun):
    """What is done with resources in a state. ``plugins``: folders that are searched before those of the settings."""

    def list(
        self,
        *,
        state: str = "",
        type: str = "",  # noqa: A002 - the word of the command
        plugins: Sequence[str] = (),
    ) -> Sequence[PhaseView]:
        """The phases by name; only those of a state, and for resources of a type, if one is given."""
        return self._call(ops.LIST_PHASES, plugin_folders=plugins, state=state, resource_type=type)

    def show(self, name: str, *, plugins: Sequence[str] = ()) -> PhaseView:
        """How one phase is defined, and what is done with it now."""
        return self._call(ops.SHOW_PHASE, name=name, plugin_folders=plugins)

    def pause(self, name: str, *, reason: str = "paused by a user") -> Paused:
        """Have it called no more: resources that come to it wait, running calls continue."""
        return self._call(ops.PAUSE_PHASE, name=name, reason=reason)

    def unpause(self, name: str) -> Paused:
        """Have it called again."""
        return self._call(ops.UNPAUSE_PHASE, name=name)

    def forget(self, name: str) -> ForgottenPhase:
        """Forget a phase whose plugin was removed for good: resources continue without it."""
        return self._call(ops.FORGET_PHASE, name=name)
