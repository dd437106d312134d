"""Check phases against one another: names, dependencies, states, types.

Returns problems and has no side effects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from phaseline.lang.did_you_mean import suggestion
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.state_paths import ResourceType, ResourceTypes
from phaseline.model.phases.definitions import PhaseDefinition, PhasePlugin
from phaseline.model.phases.registry import circles
from phaseline.model.problems.problem import Problem

DEPENDENCIES = "Phase.Dependencies"


@frozen
class PhaseFinding:
    """A problem in one or more plugins.

    ``plugins`` are the indices, in the list of checked plugins, of all plugins in which it could be fixed.
    """

    problem: Problem
    plugins: tuple[int, ...]


def check_plugins(
    plugins: Sequence[PhasePlugin], types: ResourceTypes, unusable: Collection[str] = frozenset()
) -> list[PhaseFinding]:
    """Return all problems between these plugins, and between the plugins and the resource types.

    If two plugins define a phase of one name, the problem is reported for the later plugin. Disabled plugins are ignored.
    ``unusable`` are keys of phases of other plugins that are refused; depending on such a phase is no problem.
    """
    phases = [
        (place, plugin.phase)
        for place, plugin in enumerate(plugins)
        if plugin.phase is not None and not plugin.is_disabled
    ]
    known: dict[str, PhaseDefinition] = {}
    owners: dict[str, int] = {}
    found = _names(plugins)
    for place, phase in phases:
        other = known.setdefault(phase.key, phase)
        owners.setdefault(phase.key, place)
        if other is not phase:
            message = (
                f"the phase '{phase.name}' of the plugin '{phase.plugin}' is defined already, "
                f"by the plugin '{other.plugin}' ({str(other.where) or other.package})"
            )
            problem = _problem("PL-D020", message, "give one of them another PhaseName", phase, "PhaseName")
            found.append(PhaseFinding(problem, (place,)))
    for place, phase in phases:
        alone = [*_dependencies(phase, known, unusable), *_states(phase, types), *_types(phase, types)]
        found += [PhaseFinding(problem, (place,)) for problem in alone]
    found += _misplaced(plugins, known)
    for circle in circles(list(known.values())):
        problem = _circle(circle, known)
        found.append(PhaseFinding(problem, tuple(owners[name.lower()] for name in circle)))
    return found


def check_types(new: Iterable[ResourceType], types: ResourceTypes) -> list[Problem]:
    """Return problems with the parents of resource types (PL-D034)."""
    found = []
    for one in new:
        line = types.line(one.name)
        last = types.types.get(line[-1])
        if last is not None and last.parent in line:
            circle = " → ".join((*line[line.index(last.parent) :], last.parent))
            message = f"resource types are parents of one another: {circle}"
            found.append(Problem("PL-D034", message, "take one of the parents away", one.where, "warning"))
        elif one.parent and not types.is_known(one.parent):
            message = f"the parent '{one.parent}' of the resource type '{one.name}' is not known"
            mend = f"{suggestion(one.parent, types.types)}define it, or leave Parent out"
            found.append(Problem("PL-D034", message, mend, one.where, "warning"))
    return found


def _names(plugins: Sequence[PhasePlugin]) -> list[PhaseFinding]:
    seen: dict[str, PhasePlugin] = {}
    found = []
    for place, plugin in enumerate(plugins):
        other = seen.setdefault(plugin.name.lower(), plugin)
        if other is not plugin:
            message = f"there is another plugin '{plugin.name}' ({str(other.where) or other.package})"
            mend = "give one of them another Name, or move its file"
            found.append(PhaseFinding(Problem("PL-D021", message, mend, plugin.place_of("Name")), (place,)))
    return found


def _dependencies(
    phase: PhaseDefinition, known: Mapping[str, PhaseDefinition], unusable: Collection[str]
) -> Iterator[Problem]:
    for name in phase.dependencies:
        other = known.get(name.lower())
        if name.lower() == phase.key:
            mend = "leave it out of Phase.Dependencies"
            yield _problem("PL-D022", f"the phase '{phase.name}' depends on itself", mend, phase, DEPENDENCIES)
        elif other is None and name.lower() in unusable:
            continue
        elif other is None:
            hint = suggestion(name, (one.name for one in known.values()))
            mend = f"{hint}load the plugin that has it; until then resources wait"
            message = f"the phase '{phase.name}' depends on '{name}', which no loaded plugin defines"
            yield _problem("PL-D025", message, mend, phase, DEPENDENCIES, is_warning=True)
        elif not set(phase.states).intersection(other.states):
            message = (
                f"the phase '{phase.name}' ({', '.join(phase.states)}) depends on '{other.name}' "
                f"({', '.join(other.states)}), and they share no state"
            )
            mend = "name phases of the same state in Phase.Dependencies; the order of states is given by their path"
            yield _problem("PL-D024", message, mend, phase, DEPENDENCIES)


def _circle(circle: tuple[str, ...], known: Mapping[str, PhaseDefinition]) -> Problem:
    message = f"phases wait for one another in a circle: {' → '.join([*circle, circle[0]])}"
    mend = "take one of these names out of Phase.Dependencies"
    return _problem("PL-D023", message, mend, known[circle[0].lower()], DEPENDENCIES)


def _states(phase: PhaseDefinition, types: ResourceTypes) -> Iterator[Problem]:
    strangers = [name for name in phase.resource_types if not types.is_known(name)]
    for name in strangers:
        hint = suggestion(name, types.types)
        mend = f"{hint}define it with a record of the type ResourceType, unless a blueprint brings it"
        message = f"the resource type '{name}' is not known"
        yield _problem("PL-D031", message, mend, phase, "ResourceType", is_warning=True)
    familiar = [name for name in phase.resource_types if name not in strangers]
    reachable = {name: {state for one in types.below(name) for state in types.states_of(one)} for name in familiar}
    for state in phase.states if familiar else ():
        without = [name for name in familiar if state not in reachable[name]]
        if without:
            names = ", ".join(f"'{name}'" for name in without)
            every = sorted(set().union(*reachable.values()))
            is_warning = len(without) < len(phase.resource_types)
            hint = "" if state in every else suggestion(state, every)  # another type of the phase may have it
            mend = f"{hint}the states are: {', '.join(every)}"
            yield _problem(
                "PL-D030", f"{names} has no state '{state}'", mend, phase, "HandlesStates", is_warning=is_warning
            )
        elif all(types.is_last(name, state) for name in familiar):
            message = f"'{state}' only ends paths: on arrival everything is done, and '{phase.name}' is never run there"
            yield _problem("PL-D032", message, "handle a state before it", phase, "HandlesStates", is_warning=True)


def _types(phase: PhaseDefinition, types: ResourceTypes) -> Iterator[Problem]:
    familiar = [name for name in phase.resource_types if types.is_known(name)]
    if (
        phase.providers
        and familiar
        and not any(types.uses_provider(one) for name in familiar for one in types.below(name))
    ):
        names = ", ".join(familiar)
        message = f"resources of the type {names} have no provider, so '{phase.name}' applies to all of them"
        mend = "leave HandlesProvider out, or give the type UsesProvider = true"
        yield _problem("PL-D017", message, mend, phase, "HandlesProvider", is_warning=True)
    attributes = [types.attributes_of(name) for name in phase.resource_types]
    declared = frozenset().union(*[one for one in attributes if one is not None])
    if not all(one is not None for one in attributes) or not declared:
        return
    for name in sorted(phase.constraint_names - declared - ENGINE_NAMES):
        message = f"the constraint of '{phase.name}' asks for '{name}', which its resource types do not have"
        mend = f"{suggestion(name, declared)}correct it, or add the name to Attributes of the type"
        yield _problem("PL-D018", message, mend, phase, "ResourceConstraint", is_warning=True)


ENGINE_NAMES = frozenset(
    {"name", "state", "targetstate", "phasefailed", "phasemap", "adtype", "clustername", "provider"}
)
"""Attributes that every resource may have, in lower case."""


def _misplaced(plugins: Sequence[PhasePlugin], known: Mapping[str, PhaseDefinition]) -> Iterator[PhaseFinding]:
    for place, plugin in enumerate(plugins):
        for name in plugin.imports if plugin.phase is not None and not plugin.is_disabled else ():
            if name.lower() in known:
                message = f"'Dependencies' names '{name}', which is a phase; it is for plugins whose code is imported"
                mend = f"did you mean Phase.Dependencies = {name}?"
                problem = Problem("PL-D016", message, mend, plugin.place_of("Dependencies"), "warning")
                yield PhaseFinding(problem, (place,))


def _problem(
    code: str, message: str, mend: str, phase: PhaseDefinition, attribute: str = "", *, is_warning: bool = False
) -> Problem:
    severity: Literal["error", "warning"] = "warning" if is_warning else "error"
    return Problem(code, message, mend, phase.place_of(attribute), severity)
