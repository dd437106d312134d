"""Check plugins and packages before they are used, and report all their problems. No plugin is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from phaseline.catalog.code import operation_modules as code_operation_modules
from phaseline.catalog.phases import phase_packages, plugin_set
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem
from phaseline.use_cases.loading import package_checks
from phaseline.use_cases.queries import phases as queries_phases

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.catalog.phases.phase_packages import PhasePackage


@frozen
class CheckedPlugins:
    """Result of a check of plugins: ``plugins`` and ``phases`` are counts, ``packages`` are the checked packages.

    ``looked_at`` are the folders that were searched if no path was given. ``is_empty`` is True if they have no plugins,
    resource types or paths to check.
    """

    plugins: int
    phases: int
    problems: Sequence[Problem]
    looked_at: Sequence[str] = ()
    is_empty: bool = False
    packages: Sequence[str] = ()

    @property
    def is_good(self) -> bool:
        """Return True if there are no errors, even if there are warnings."""
        return not any(problem.severity == "error" for problem in self.problems)


def check_plugins(ctx: RequestContext, paths: Sequence[str] = (), plugin_folders: Sequence[str] = ()) -> CheckedPlugins:
    """Check the plugins at the paths, together with those of the plugin folders, and report all problems.

    Without paths, the plugins of the folders themselves are checked. A path without plugins is an error (PL-D050).
    Packages at a path are checked as a whole. If the paths have only packages without phases, no other plugins are read.
    """
    packed = {path: package_checks.check_packages(path) for path in paths}
    packages = [found for found in packed.values() if found is not None]
    titles = [title for found in packages for title in found.titles]
    problems = [problem for found in packages for problem in found.problems]
    brought = [package for found in packages for package in found.phases]
    others = [path for path, found in packed.items() if found is None]
    if paths and not others and not brought and not plugin_folders:
        return CheckedPlugins(0, 0, problems, packages=titles)
    return _beside_others(ctx, others, plugin_folders, CheckedPlugins(0, 0, problems, packages=titles), brought)


def _beside_others(
    ctx: RequestContext,
    paths: Sequence[str],
    plugin_folders: Sequence[str],
    packed: CheckedPlugins,
    brought: Sequence[PhasePackage],
) -> CheckedPlugins:
    """Check the phases at the paths together with those of the plugin folders.

    ``packed`` is the result of checking the packages. Only their phases (``brought``) remain to be checked here.
    """
    folders = queries_phases.folders_of(ctx, plugin_folders)
    around = {package.place: package for package in plugin_set.read_all(folders)}
    given = {package.place: package for package in brought}
    nothing: list[Problem] = []
    for path in paths:
        inside = _inside(around, Path(path).absolute())
        inside = inside or {package.place: package for package in phase_packages.packages_at(Path(path))}
        given.update(inside)
        if not any(map(_has_content, inside.values())):
            nothing.append(_no_plugin(path))
    same = {str(Path(name).absolute()) for name in given}
    is_all = not paths and not packed.packages

    def read() -> list[PhasePackage]:
        return [*(package for name, package in around.items() if name not in same), *given.values()]

    verdicts = [
        verdict
        for verdict in plugin_set.PhasePlugins(read=read).load().verdicts
        if is_all or verdict.package.place in given
    ]
    plugins = [plugin for verdict in verdicts for plugin in verdict.package.plugins]
    phases = [plugin for plugin in plugins if plugin.phase is not None]
    told = dict.fromkeys(
        problem for verdict in verdicts for problem in verdict.problems
    )  # a circle concerns many plugins
    is_empty = not packed.packages and not any(_has_content(verdict.package) for verdict in verdicts)
    problems = [*packed.problems, *nothing, *told]
    return CheckedPlugins(len(plugins), len(phases), problems, folders if is_all else (), is_empty, packed.packages)


def _has_content(package: PhasePackage) -> bool:
    return bool(package.plugins or package.types or package.paths or package.problems)


def _no_plugin(path: str) -> Problem:
    """Return the problem of a path without any definition of phases."""
    mend = (
        "a plugin is a pair Name.cfg and Name.py, a module with @phase, or a file of records (.rec); correct the path"
    )
    module = next(iter(code_operation_modules.operation_modules([path])), None) if Path(path).is_dir() else None
    if module is not None and module.functions:
        call = f"phaseline plugins try {module.name}:{module.functions[0]} --plugins {path}"
        mend = f"it has operations, which are checked by trying them: {call}"
    return Problem("PL-D050", f"there is no plugin with phases, listeners or records in '{path}'", mend, Place(path))


def _inside(packages: Mapping[str, PhasePackage], path: Path) -> dict[str, PhasePackage]:
    """Return {place: package} of those ``packages`` that are at the path or below it.

    If the path is the ``.cfg`` or ``.py`` file of a plugin, return the package of the plugin.
    """
    sought = path.with_suffix(".cfg") if path.suffix == ".py" else path
    return {name: found for name, found in packages.items() if Path(name).is_relative_to(sought) or name == str(path)}
