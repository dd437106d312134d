"""Decide which operations and phases run in each state of a path, for nodes of one type (decision 15, ADR 0014).

Each operation has a home state, in which it is called; the phases of the state run at the same time. Operations keep
the order of the workflow. If a path lacks the home state of an operation, the operation is called in the last state of
the path that comes before its home state, or else in the first state of the path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.problems.problem import Problem
from phaseline.model.resources.path_nodes import STARTED, TERMINATED
from phaseline.plan.graph import operation_names as op
from phaseline.plan.graph.lifecycle_sequence import ALWAYS, Become, Call, Relate
from phaseline.plan.states.state_graph import beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from phaseline.model.blueprint.blueprint import Blueprint, OnPath
    from phaseline.model.blueprint.state_paths import ResourceTypes, StatePath
    from phaseline.model.execution.execution import StatePathIndex
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.plan.graph.lifecycle_sequence import Sequence
    from phaseline.plan.states.state_graph import Beside

ORDER = (
    "Validation",
    "Allocation",
    "Initialization",
    "Configuration",
    "Installation",
    "Deconfiguration",
    "Deallocation",
)
"""The states that are home states of operations, in the order in which paths have them."""
HOMES: Mapping[str, str] = {
    op.VALIDATE_CREATION: "Validation",
    op.PRECREATE: "Allocation",
    op.CREATE: "Allocation",
    op.PRECONFIGURE: "Configuration",
    op.CONFIGURE: "Configuration",
    op.POSTCONFIGURE: "Configuration",
    op.START: "Installation",
    op.GET_STATE: "Installation",
    op.MONITORING_AGENT_INSTALL: "Installation",
    op.MONITORING_AGENT_START: "Installation",
    op.POSTSTART: "Installation",
    op.MONITORING_START: "Installation",
    op.ESTABLISH: "Installation",
    op.VALIDATE_DELETION: "Deconfiguration",
    op.MONITORING_STOP: "Deconfiguration",
    op.PRESTOP: "Deconfiguration",
    op.MONITORING_AGENT_STOP: "Deconfiguration",
    op.MONITORING_AGENT_UNINSTALL: "Deconfiguration",
    op.STOP: "Deconfiguration",
    op.UNLINK: "Deconfiguration",
    op.DELETE: "Deallocation",
    op.POSTDELETE: "Deallocation",
}
"""{operation: its home state, the state in which it is called}"""


@frozen
class StateVisit:
    """The calls in one state: ``operations`` run one after the other, and ``phases`` run at the same time.

    ``state`` is empty if the calls are made in no state, because the path consists of the target only.
    """

    state: str
    operations: tuple[Call | Relate, ...]
    phases: tuple[Beside, ...]


def stays(kind: str, path: StatePath, sequence: Sequence, registry: PhaseRegistry) -> tuple[StateVisit, ...]:
    """Return the states of a path before its target, in order, each with its calls.

    ``sequence`` is what the workflow does with nodes that are not on a path.
    """
    called: dict[str, list[Call | Relate]] = {state: [] for state in path.states[:-1]}
    on_the_way: list[Call | Relate] = []
    for item in sequence:
        if not isinstance(item, Become):
            called.get(_home(item.operation, path), on_the_way).append(_plain(item))
    found = [StateVisit(state, tuple(items), beside(registry, kind, state, path)) for state, items in called.items()]
    return (*found, StateVisit("", tuple(on_the_way), ())) if on_the_way else tuple(found)


def _plain(item: Call | Relate) -> Call | Relate:
    """Return the step without its states: on a path, operations do not set life-cycle states and are never skipped."""
    return (
        altered(item, unless=ALWAYS) if isinstance(item, Relate) else altered(item, unless=ALWAYS, enter=(), leave=())
    )


def _home(operation: str, path: StatePath) -> str:
    """Return the state of the path in which an operation is called; empty if the path consists of the target only.

    >>> from phaseline.model.blueprint.state_paths import StatePath
    >>> short = StatePath("Disk", "Ready", ("Allocation", "Ready"))
    >>> _home(op.START, short), _home(op.VALIDATE_CREATION, short), _home(op.CREATE, StatePath("Disk", "Ready", ("Ready",)))
    ('Allocation', 'Allocation', '')
    """
    states = path.states[:-1]
    place = ORDER.index(HOMES[operation]) if operation in HOMES else len(ORDER)
    known = [state for state in ORDER if state in states]
    before = [state for state in known if ORDER.index(state) <= place]
    return before[-1] if before else known[0] if known else states[0] if states else ""


def target_of(one: OnPath, kind: str, types: ResourceTypes) -> str:
    """Return the target state of nodes of a type: they count as installed when they are in it.

    The text is empty if several states are possible and the blueprint chooses none.
    """
    targets = [path.target for path in types.paths_of(kind) if path.target != TERMINATED]
    if one.target or len(targets) == 1:
        return one.target or targets[0]
    return STARTED if STARTED in targets else ""


def path_to(blueprint: Blueprint, kind: str, known: StatePathIndex, *, downwards: bool) -> StatePath | None:
    """Return the path that nodes of a type take when they are installed, or with ``downwards``, uninstalled."""
    types = known.registry.types
    return types.path(kind, TERMINATED if downwards else target_of(blueprint.on_path[kind], kind, types))


def states_of(blueprint: Blueprint, registry: PhaseRegistry) -> tuple[str, ...]:
    """Return every state that nodes of the blueprint may enter, each once.

    ``registry`` has the phases and resource types known to the blueprint.
    """
    return tuple(dict.fromkeys(state for kind in blueprint.on_path for state in registry.types.states_of(kind)))


def phases_of(blueprint: Blueprint, registry: PhaseRegistry) -> tuple[str, ...]:
    """Return every phase that nodes of the blueprint may run, each once.

    ``registry`` has the phases and resource types known to the blueprint.
    """
    on_the_way = ((state, kind) for kind in blueprint.on_path for state in registry.types.states_of(kind))
    return tuple(dict.fromkeys(phase.name for state, kind in on_the_way for phase in registry.of(state, kind)))


def path_problems(blueprint: Blueprint, registry: PhaseRegistry) -> Iterator[Problem]:
    """Yield problems of a blueprint's state paths: unknown resource types (PL-P020), targets without a path (PL-P021).

    ``registry`` has the phases and resource types known to the blueprint.
    """
    types = registry.types
    for kind, one in blueprint.on_path.items():
        if not any(types.is_known(name) for name in one.line):
            names = {*types.types, *(owner for owner, _ in types.paths)}
            mend = f"{_near(one.line[-1], names)}or load the plugin that defines it, or bring a path with 'state_paths'"
            message = f"the node type '{kind}' is of the resource type '{one.line[-1]}', which is not known"
            yield Problem("PL-P020", message, mend, one.place)
            continue
        targets = [path.target for path in types.paths_of(kind)]
        listed = ", ".join(targets) or "none"
        target = target_of(one, kind, types)
        if not target:
            mend = f"choose one with 'target_state': there are paths to {listed}"
            yield Problem(
                "PL-P021", f"the target state of '{kind}' is not set, and it has several paths", mend, one.place
            )
        for wanted in dict.fromkeys((target, TERMINATED)):
            if wanted and wanted not in targets:
                way = f"state_paths: {{{kind}: {{{wanted}: [..., {wanted}]}}}}"
                mend = f"{_near(wanted, targets)}there are paths to: {listed}; or bring one: {way}"
                yield Problem("PL-P021", f"'{kind}' has no path to '{wanted}'", mend, one.place)


def _near(word: str, known: Iterable[str]) -> str:
    from phaseline.lang.did_you_mean import suggestion  # few blueprints have a mistake

    return suggestion(word, known)
