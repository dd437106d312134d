"""The active phase plugins: all valid packages that are found, and the previous versions of packages that became
invalid.

A package is loaded as a whole or not at all. If a phase cannot be used, but was known before or is at least readable,
it stays known with the reason. Resources that need the phase then wait for it, and do not pass it (PD7, PD8).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.catalog.phases.phase_packages import PhasePackage, installed_packages, packages_at
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.state_paths import DEFAULT_TYPES, ResourceType, ResourceTypes, StatePath
from phaseline.model.phases.definitions import PhaseCode, PhaseDefinition, PhasePlugin
from phaseline.model.phases.registry import PhaseRegistry
from phaseline.model.phases.validation import check_plugins, check_types
from phaseline.model.problems.problem import Place, Problem

if TYPE_CHECKING:
    from phaseline.catalog.phases.function_loader import PhaseImporter

Read = Callable[[], Sequence[PhasePackage]]


@frozen
class PackageVerdict:
    """The result of reading one package. ``is_kept``: the package was refused, and its previous version stays active.

    ``package`` is the package as it was read, even if it was refused.
    """

    package: PhasePackage
    problems: tuple[Problem, ...] = ()
    is_kept: bool = False

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems because of which the package is refused; empty if the package is active."""
        return tuple(problem for problem in self.problems if problem.severity == "error")


@frozen
class LoadedPlugins:
    """The result of reading all plugins. ``gone``: names of phases whose packages were removed."""

    registry: PhaseRegistry
    verdicts: tuple[PackageVerdict, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems of all packages, including warnings."""
        return tuple(dict.fromkeys(problem for verdict in self.verdicts for problem in verdict.problems))

    @property
    def plugins(self) -> tuple[tuple[PhasePlugin, PackageVerdict], ...]:
        """All plugins that were read, each with the verdict on its package."""
        return tuple((plugin, verdict) for verdict in self.verdicts for plugin in verdict.package.plugins)


class PhasePlugins:
    """All phase plugins of some folders and of the installed distributions. ``loaded`` holds those that are active."""

    def __init__(
        self,
        folders: Iterable[str] = (),
        *,
        types: ResourceTypes = DEFAULT_TYPES,
        importer: PhaseImporter | None = None,
        read: Read | None = None,
    ) -> None:
        """Load nothing yet. ``importer``: imports the functions of a package when the package is loaded.

        A package whose functions cannot be imported is refused. Without an importer no code of a plugin is run.
        ``read``: returns the packages, instead of reading them from ``folders`` and distributions.
        """
        self.types = types
        self._importer = importer
        places = tuple(folders)
        self._read: Read = (lambda: read_all(places)) if read is None else read
        self._in_force: dict[str, PhasePackage] = {}
        self._lost: dict[str, PhaseDefinition] = {}
        self.loaded = LoadedPlugins(PhaseRegistry(types=types))

    def remember(self, known: Iterable[PhaseDefinition]) -> None:
        """Add phases that were known before; they stay known even if ``load`` does not find them any more.

        The ``package`` of each phase is the path of its package.
        """
        self._lost = {phase.key: gone(phase, phase.package) for phase in known}

    def load(self) -> LoadedPlugins:
        """Read all plugins again and replace ``loaded``.

        Other threads see either the old or the new value, never a mixture.
        """
        found = {package.place: package for package in self._read()}
        choice = _Choice(found, self._in_force, self.types)
        choice.tell_refused()
        choice.settle()
        if self._importer is not None:
            self._import(choice, self._importer)
        chosen = choice.chosen()
        types = self.types.with_more(*_brought(chosen))
        phases = [phase for package in chosen for phase in _phases(package)]
        known = {phase.key for phase in phases}
        refused = [phase for phase in choice.refused_phases() if phase.key not in known]
        known |= {phase.key for phase in refused}
        lost = self._gone(found, known, choice.refused)
        self._in_force = {package.place: package for package in chosen}
        listeners = [
            plugin.listener for package in chosen for plugin in _active(package) if plugin.listener is not None
        ]
        registry = PhaseRegistry([*phases, *refused, *lost.values()], listeners, types)
        self.loaded = LoadedPlugins(registry, choice.verdicts(), tuple(phase.name for phase in lost.values()))
        return self.loaded

    def _import(self, choice: _Choice, importer: PhaseImporter) -> None:
        """Import the functions of new packages.

        If this fails, refuse the package and check the remaining packages again.
        """
        failed = importer.renew(dict.fromkeys(code for package in choice.fresh() for code in _codes(package)))
        if failed:
            choice.refuse_code(failed)
            choice.settle()

    def _gone(
        self, found: Mapping[str, PhasePackage], known: set[str], refused: set[str]
    ) -> dict[str, PhaseDefinition]:
        """Return the phases of removed packages; they stay known until another package defines them or disables them.

        A package that is present and valid, but lacks a phase it had before, has removed the phase on purpose.
        """
        off = {
            plugin.phase.key for package in found.values() for plugin in package.plugins if plugin.phase is not None
        } - known
        lost = {
            key: phase
            for key, phase in self._lost.items()
            if key not in known | off and (phase.package not in found or phase.package in refused)
        }
        for place, package in self._in_force.items():
            for phase in _phases(package) if place not in found else ():
                if phase.key not in known | off:
                    lost[phase.key] = gone(phase, place)
        self._lost = lost
        return lost


class _Choice:
    """Decides for each package that was found whether its new version, its previous version or neither is active.

    The previous version is active if the new one is refused.
    """

    def __init__(self, found: dict[str, PhasePackage], before: dict[str, PhasePackage], types: ResourceTypes) -> None:
        self.found = found
        self.before = {place: package for place, package in before.items() if place in found}
        self.types = types
        self.problems: dict[str, list[Problem]] = {
            place: list(package.all_problems()) for place, package in found.items()
        }
        # Those that were there first keep their names.
        self.order = sorted(found, key=lambda place: place not in before)
        self.refused = {place for place in found if _has_error(self.problems[place])}

    def tell_refused(self) -> None:
        """Add the remaining problems of packages that are refused already, so that the user sees
        all problems at once.
        """
        plugins = [(place, plugin) for place in self.order for plugin in self.found[place].plugins]
        types = self.types.with_more(*_brought(self.found.values()))
        for finding in check_plugins([plugin for _, plugin in plugins], types):
            places = {plugins[number][0] for number in finding.plugins}
            if places <= self.refused:
                for place in places:
                    self._say(place, [finding.problem])

    def settle(self) -> None:
        """Refuse packages that conflict with one another, and repeat this until the remaining packages have no
        conflict.
        """
        while True:
            taken = [(place, self._taken(place)) for place in self.order]
            plugins = [(place, plugin) for place, package in taken if package is not None for plugin in package.plugins]
            types = self.types.with_more(*_brought([package for _, package in taken if package is not None]))
            news: set[str] = set()
            for place, package in taken:
                if package is not None and place not in self.refused:
                    self._say(place, check_types(package.types, types))
            unusable = {phase.key for phase in self.refused_phases()}
            for finding in check_plugins([plugin for _, plugin in plugins], types, unusable):
                places = dict.fromkeys(plugins[number][0] for number in finding.plugins)
                blamed = [place for place in places if place not in self.refused]
                for place in blamed:
                    self._say(place, [finding.problem])
                if finding.problem.severity == "error":
                    news.update(blamed)
            if not news:
                return
            self.refused |= news

    def _say(self, place: str, problems: Iterable[Problem]) -> None:
        self.problems[place] += [problem for problem in problems if problem not in self.problems[place]]

    def refuse_code(self, failed: Mapping[PhaseCode, BaseException]) -> None:
        """Refuse the packages that have a function whose import failed."""
        for place in [place for place in self.order if place not in self.refused]:
            for code in _codes(self.found[place]):
                if (error := failed.get(code)) is not None:
                    message = f"'{code}' cannot be imported: {type(error).__name__}: {error}"
                    mend = (
                        "correct the module, then reload; until then the version before stays in force, if there is one"
                    )
                    self.problems[place].append(Problem("PL-D005", message, mend, Place(code.file)))
                    self.refused.add(place)

    def fresh(self) -> list[PhasePackage]:
        """Return the packages whose new version is not refused."""
        return [self.found[place] for place in self.order if place not in self.refused]

    def _taken(self, place: str) -> PhasePackage | None:
        return self.before.get(place) if place in self.refused else self.found[place]

    def chosen(self) -> list[PhasePackage]:
        """Return the active version of each package that has one."""
        return [package for place in self.order if (package := self._taken(place)) is not None]

    def refused_phases(self) -> list[PhaseDefinition]:
        """Return the readable phases of refused packages that have no previous version, each with the reason of the
        refusal.
        """
        found = []
        for place in self.order:
            if place in self.refused and place not in self.before:
                first = next(problem for problem in self.problems[place] if problem.severity == "error")
                found += [altered(phase, error=str(first)) for phase in _phases(self.found[place])]
        return found

    def verdicts(self) -> tuple[PackageVerdict, ...]:
        """Return the verdicts on all packages that were found."""
        return tuple(
            PackageVerdict(package, tuple(self.problems[place]), place in self.refused and place in self.before)
            for place, package in self.found.items()
        )


def gone(phase: PhaseDefinition, place: str) -> PhaseDefinition:
    """Return the phase marked as unusable, because its package at this path was removed."""
    return altered(phase, package=place, error=f"its plugin '{phase.plugin}' ({place}) is not there any more")


def read_all(folders: Iterable[str]) -> list[PhasePackage]:
    """Return the packages of the existing folders, then those of installed distributions. Each path occurs once."""
    found: dict[str, PhasePackage] = {}
    for folder in folders:
        for package in packages_at(Path(folder)) if os.path.exists(folder) else ():  # noqa: PTH110 - never raises
            found.setdefault(package.place, package)
    for package in installed_packages():
        found.setdefault(package.place, package)
    return list(found.values())


def _has_error(problems: Iterable[Problem]) -> bool:
    return any(problem.severity == "error" for problem in problems)


def _active(package: PhasePackage) -> list[PhasePlugin]:
    return [plugin for plugin in package.plugins if not plugin.is_disabled]


def _phases(package: PhasePackage) -> list[PhaseDefinition]:
    return [plugin.phase for plugin in _active(package) if plugin.phase is not None]


def _codes(package: PhasePackage) -> list[PhaseCode]:
    """Return all functions of a package that the engine calls."""
    definitions = [one for plugin in _active(package) for one in (plugin.phase, plugin.listener) if one is not None]
    return [one.code for one in definitions if one.code is not None]


def _brought(packages: Iterable[PhasePackage]) -> tuple[list[ResourceType], list[StatePath]]:
    """Return (resource types, state paths) of the packages."""
    known = list(packages)
    return [one for package in known for one in package.types], [path for package in known for path in package.paths]
