"""Plugins and phases for Python programs: two nouns of ``phaseline.open()``, made like those beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.use_cases.phases import Checked, PhaseView, PluginView
    from phaseline.use_cases.reloading import Reloaded
    from phaseline.use_cases.resources.pausing import Paused
    from phaseline.use_cases.type_definitions import TypesView
    from phaseline.use_cases.workplace import Workplace


class Plugins:
    """Code of others: phases, listeners and operations. Nothing but ``reload`` runs any of it."""

    def __init__(self, place: Workplace) -> None:
        """Of the folders of plugins of this place."""
        self._place = place

    def list(self) -> list[PluginView]:
        """Every plugin, by name."""
        from phaseline.use_cases.phases import list_plugins

        return list_plugins(self._place)

    def show(self, name: str) -> PluginView:
        """One plugin with everything that is wrong with it."""
        from phaseline.use_cases.phases import show_plugin

        return show_plugin(self._place, name)

    def check(self, *paths: str) -> Checked:
        """Everything that is wrong with plugins at these paths; without any with those of the folders."""
        from phaseline.use_cases.phases import check_plugins

        return check_plugins(self._place, paths)

    def install_definitions(self, path: str, *, name: str = "", version: str = "") -> Sequence[TypesView]:
        """Put the definition files at a path into the catalogue that imports of blueprints resolve to."""
        from phaseline.use_cases.type_definitions import install_definitions

        return install_definitions(self._place, path, name=name, version=version)

    def remove_definitions(self, name: str, *, version: str = "") -> TypesView:
        """Take a version of a plugin's definitions out of that catalogue."""
        from phaseline.use_cases.type_definitions import remove_definitions

        return remove_definitions(self._place, name, version)

    def reload(self) -> Reloaded:
        """Have the engine read them anew; calls that run keep their code."""
        from phaseline.use_cases.reloading import reload_plugins

        return reload_plugins(self._place)


class Phases:
    """What is done with resources in a state."""

    def __init__(self, place: Workplace) -> None:
        """Of the folders of plugins of this place."""
        self._place = place

    def list(self, *, state: str = "", resource_type: str = "") -> Sequence[PhaseView]:
        """The phases by name; only those of a state, and for resources of a type, if one is given."""
        from phaseline.use_cases.phases import list_phases

        return list_phases(self._place, state=state, resource_type=resource_type)

    def show(self, name: str) -> PhaseView:
        """How one phase is defined, and what is done with it now."""
        from phaseline.use_cases.phases import show_phase

        return show_phase(self._place, name)

    def pause(self, name: str, *, reason: str = "paused by a user") -> Paused:
        """Have it called no more: resources that come to it wait, calls that run go on."""
        from phaseline.use_cases.resources.pausing import pause

        return pause(self._place, name, reason=reason)

    def unpause(self, name: str) -> Paused:
        """Have it called again."""
        from phaseline.use_cases.resources.pausing import unpause

        return unpause(self._place, name)
