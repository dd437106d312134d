"""Read which node types are resources with a path of states (decision 15), and the paths that a blueprint declares.

Types and paths of plugins are not known here. The planner checks later whether a type has a path to its target.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from phaseline.model.blueprint.blueprint import OnPath
from phaseline.model.blueprint.state_paths import NODE, StatePath
from phaseline.model.problems.problem import Place

if TYPE_CHECKING:
    from phaseline.dsl.imports.section_merge import MergedSections
    from phaseline.dsl.text.problem_report import ElementPath, ProblemReport
    from phaseline.model.blueprint.blueprint import Node

RESOURCE_TYPE, TARGET_STATE, STATE_PATHS = "resource_type", "target_state", "state_paths"


def read_on_path(nodes: Mapping[str, Node], sections: MergedSections, report: ProblemReport) -> dict[str, OnPath]:
    """Return {node type: its resource type and target} for types of ``nodes`` that are resources; report errors."""
    raw = cast("Mapping[str, Mapping[str, str]]", sections.of("node_types"))
    found: dict[str, OnPath] = {}
    told: set[frozenset[str]] = set()
    for name, one in raw.items():
        if TARGET_STATE in one and not _line(name, raw)[1:]:
            mend = "name the resource type of its nodes, for example 'resource_type: Cloud.Node'"
            spot = sections.spot("node_types", name).at(TARGET_STATE)
            report.add("PL-B112", f"the node type '{name}' has a target_state and no resource_type", mend, spot)
        if RESOURCE_TYPE in one:
            circle = _circle(name, raw)
            if circle and frozenset(circle) not in told:
                told.add(frozenset(circle))
                message = f"node types are resource types of one another in a circle: {' → '.join(circle)}"
                mend = "name a type that does not derive from this one"
                report.add("PL-B110", message, mend, sections.spot("node_types", name).at(RESOURCE_TYPE))
    for kind in dict.fromkeys(node.type for node in nodes.values()):
        line = _line(kind, raw)
        if len(line) > 1:
            found[kind] = OnPath(_names(line), _target(line[0], raw), _place(line[0], raw, sections))
    return found


def read_state_paths(sections: MergedSections, report: ProblemReport) -> tuple[StatePath, ...]:
    """Return the state paths of the blueprint. Report and omit invalid ones, such as one that repeats a state."""
    raw = cast("Mapping[str, Mapping[str, str]]", sections.of("node_types"))
    known = {NODE, *raw, *(one[RESOURCE_TYPE] for one in raw.values() if RESOURCE_TYPE in one)}
    known |= sections.broken.get("node_types", set())
    found: list[StatePath] = []
    for kind, targets in cast("Mapping[str, Mapping[str, list[str]]]", sections.of(STATE_PATHS)).items():
        spot = sections.spot(STATE_PATHS, kind)
        if kind not in known:
            otherwise = "write the name of a node type, or of the resource_type of one"
            message = f"no node type of the blueprint is called '{kind}', and none is of that resource type"
            report.add("PL-B114", message, report.suggest(kind, known, otherwise), spot, point="key")
        for target, states in targets.items():
            if _can_be_gone(target, states, spot.at(target), report):
                found.append(StatePath(kind, target, tuple(states), where=_point(spot, target)))
    return tuple(found)


def _can_be_gone(target: str, states: list[str], spot: ElementPath, report: ProblemReport) -> bool:
    twice = next((state for place, state in enumerate(states) if state in states[:place]), None)
    if not states or states[-1] != target:
        ends = f"ends in '{states[-1]}'" if states else "is empty"
        mend = f"let '{target}' be its last state"
        report.add("PL-B113", f"the path to '{target}' {ends}", mend, spot)
    elif twice is not None:
        mend = "give the second occurrence another name: a path goes through a state once"
        report.add("PL-B113", f"the path to '{target}' goes in a circle: '{twice}' occurs twice", mend, spot)
    elif not all(states):
        report.add("PL-B113", f"a state on the path to '{target}' has no name", "give it one", spot)
    else:
        return True
    return False


def _line(name: str, raw: Mapping[str, Mapping[str, str]]) -> list[list[str]]:
    """Return the type hierarchies along a chain of resource types.

    The first is the hierarchy of the node type, the next that of the resource type it names, and so on.
    """
    line: list[list[str]] = []
    seen: set[str] = set()
    following: str | None = name
    while following is not None and following not in seen:
        hierarchy = list(_hierarchy(following, raw))
        seen.update(hierarchy)
        line.append(hierarchy or [following])
        following = next((raw[one][RESOURCE_TYPE] for one in hierarchy if RESOURCE_TYPE in raw[one]), None)
    return line


def _hierarchy(name: str | None, raw: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield the type and its parents, nearest first. Stop at a cycle, which is reported elsewhere."""
    seen: set[str] = set()
    while isinstance(name, str) and name in raw and name not in seen:
        seen.add(name)
        yield name
        name = raw[name].get("derived_from")


def _names(line: list[list[str]]) -> tuple[str, ...]:
    """Return all types in the hierarchies from ``_line``, each once, nearest first.

    The last type may be unknown to the blueprint, because a plugin defines it.
    """
    return tuple(dict.fromkeys(name for hierarchy in line for name in hierarchy))


def _target(hierarchy: list[str], raw: Mapping[str, Mapping[str, str]]) -> str:
    return next((raw[one][TARGET_STATE] for one in hierarchy if TARGET_STATE in raw[one]), "")


def _place(hierarchy: list[str], raw: Mapping[str, Mapping[str, str]], sections: MergedSections) -> Place:
    owner = next(one for one in hierarchy if RESOURCE_TYPE in raw[one])
    return _point(sections.spot("node_types", owner), RESOURCE_TYPE)


def _point(spot: ElementPath, key: str) -> Place:
    """Return the place of ``key`` in the element ``spot`` for a problem; its line and column are those where the
    element begins.
    """
    section, name = str(spot.path[0]), str(spot.path[1])
    line, column = spot.document.marks.get(section, {}).get(name, (0, 0))
    return Place(spot.document.name, line, column, f"{section}.{name}.{key}")


def _circle(name: str, raw: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the chain of resource types by which a type leads back to itself, or [] if it does not."""
    walked = [name]
    following = raw[name].get(RESOURCE_TYPE)
    while following is not None and following in raw and following not in walked[1:]:
        own = list(_hierarchy(following, raw))
        walked.append(following)
        if name in own:
            return walked
        following = next((raw[one][RESOURCE_TYPE] for one in own if RESOURCE_TYPE in raw[one]), None)
    return []
