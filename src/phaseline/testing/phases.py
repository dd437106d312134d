"""The phase of a plugin without an engine: read and imported as by an engine, and called by ``call`` and ``crash_points``.

A pair of ``.cfg`` and ``.py``, a module with ``@phase``, a package or a zip file is loaded by its path; a decorated
function can be passed to both directly.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from phaseline.calls.protocol.phase_view import PhaseContext
from phaseline.catalog.code.function_loader import Loader
from phaseline.catalog.phases.decorated_phases import marked
from phaseline.catalog.phases.function_loader import PhaseImporter
from phaseline.catalog.phases.phase_packages import packages_at
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.operation_declaration import as_phase
from phaseline.model.phases.decorator import PHASE_ATTRIBUTE
from phaseline.model.problems.problem import ProblemsError, problem_error

if TYPE_CHECKING:
    from os import PathLike

    from phaseline.catalog.phases.phase_packages import PhasePackage
    from phaseline.model.phases.definitions import PhaseDefinition


@frozen
class LoadedPhase:
    """A loaded phase: its ``definition``, its ``function``, and its ``module``, in which a test can replace names by fakes.

    ``state`` is the state that its resources have in the test.
    """

    definition: PhaseDefinition
    function: Callable[..., object]
    module: ModuleType
    state: str


@frozen
class Target:
    """A function to call, and its phase, which is None for a function that belongs to no phase."""

    function: Callable[..., object]
    phase: PhaseContext | None = None


@cache
def _loader() -> Loader:
    return Loader()


def load_phase(place: str | PathLike[str], name: str = "", *, state: str = "") -> LoadedPhase:
    """Return the phase of a plugin from a file, folder or zip file; ``name`` selects it if there are several.

    ``state`` is one of its states, by default the first. Each call imports the code again. Raises: ``ProblemsError``
    with all findings of ``plugins check`` in its package, PL-D053 for a missing phase; exceptions of importing the module.
    """
    packages = packages_at(Path(place).resolve())
    package, definition = _chosen(packages, str(place), name)
    _refuse(package)
    code = definition.code
    if code is None:  # a definition without code is an error of its package, which was refused
        raise problem_error(
            "PL-D001", f"the phase '{definition.name}' has no code", "put its module beside its definition"
        )
    importer = PhaseImporter(_loader())
    failed = importer.renew([code])
    if code in failed:
        raise failed[code]
    if state and state not in definition.states:
        known = ", ".join(definition.states)
        raise problem_error(
            "PL-D053", f"the phase '{definition.name}' is not for the state '{state}'", f"it is for {known}"
        )
    function = as_phase(importer.load(code), code.form)
    module = _loader().module(code.module, code.folders)
    return LoadedPhase(definition, function, module, state or definition.states[0])


def _chosen(packages: list[PhasePackage], place: str, name: str) -> tuple[PhasePackage, PhaseDefinition]:
    """Return (package, definition) of the selected phase. Raises: PL-D053, or the problems of the packages that were found."""
    found = [
        (package, plugin.phase)
        for package in packages
        for plugin in package.plugins
        if plugin.phase is not None and not plugin.is_disabled
    ]
    fits = [one for one in found if not name or one[1].key == name.lower()]
    if len(fits) == 1:
        return fits[0]
    for package in packages:
        _refuse(package)
    known = ", ".join(sorted(phase.name for _, phase in found))
    if fits:
        raise problem_error("PL-D053", f"'{place}' has several phases", f"name one: {known}")
    wanted = f"no phase '{name}'" if name else "no phase"
    raise problem_error(
        "PL-D053", f"there is {wanted} in '{place}'", f"there are: {known}" if known else "correct the path"
    )


def _refuse(package: PhasePackage) -> None:
    """Raise the problems for which a package would be refused."""
    errors = tuple(problem for problem in package.all_problems() if problem.severity == "error")
    if errors:
        raise ProblemsError(errors)


def target_of(given: Callable[..., object] | LoadedPhase) -> Target:
    """Return the function to call. Raises: ``ProblemsError`` for a decorated function whose phase would be refused."""
    if isinstance(given, LoadedPhase):
        return Target(given.function, PhaseContext.of(given.definition, given.state))
    mark = getattr(given, PHASE_ATTRIBUTE, None)
    if mark is None:
        return Target(given)
    plugin = marked(mark, getattr(given, "__module__", None) or "plugin")
    if plugin.errors or plugin.phase is None:
        raise ProblemsError(plugin.errors)
    return Target(given, PhaseContext.of(plugin.phase, plugin.phase.states[0]))
