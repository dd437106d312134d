"""Build the graph of the next state for resources that take the same path together (ADR 0011).

Resources of one type that enter the same state on the way to the same target are a ``ResourceGroup``. In its graph,
all resources enter the state first; states without phases pass at once (PD25). Then come the phases that may apply to
the type, each after the phases it depends on. Last comes an exit, which passes when all phases are completed.
Whether a phase applies to a resource is evaluated when the needs of the phase are met, and again until the state is
left. So a phase that does not apply still waits for its own needs before it is passed, and so do its dependents (PD29).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.graph.graph import (
    EXIT_PREFIX,
    LANE_PREFIX,
    STATE_PREFIX,
    Graph,
    LaneSpec,
    Policy,
    Step,
    SubjectKind,
)
from phaseline.model.graph.status import Mark
from phaseline.model.phases.definitions import PhasePolicy
from phaseline.plan.graph.dependency_order import depths
from phaseline.plan.states import phase_breakpoints

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from phaseline.model.blueprint.state_paths import StatePath
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.phases.definitions import PhaseDefinition
    from phaseline.model.phases.registry import PhaseRegistry

NO_STATE = ""
"""State of a resource that was never in a state of its path."""


@frozen
class ResourceGroup:
    """Resources of one type that enter ``state`` next, on their way along ``path``.

    ``subjects`` are their instance numbers, int32, ascending.
    """

    resource_type: str
    path: StatePath
    state: str
    subjects: np.ndarray


@frozen
class Beside:
    """A phase of a state, or a breakpoint at a phase (``is_stop``).

    ``needs`` are the names of the phases and breakpoints of the state for which it waits. ``phase`` is None if no phase
    of this name is defined.
    """

    name: str
    phase: PhaseDefinition | None
    needs: tuple[str, ...]
    is_stop: bool = False

    @property
    def step(self) -> str:
        """The name of the step that the phase or breakpoint has in the graph."""
        return self.name if self.is_stop else LANE_PREFIX + self.name


@frozen
class Stops:
    """The breakpoints of a group, and the names of the group's resources, in the order of its subjects."""

    breakpoints: Sequence[Breakpoint] = ()
    names: Sequence[str] = ()

    def passing(self, one: Beside) -> np.ndarray | None:
        """Return the indexes in the group of resources that do not stop at ``one``; None if it is not a breakpoint."""
        if not one.is_stop:
            return None

        return (~np.array(phase_breakpoints.stopping(one.name, self.breakpoints, self.names), bool)).nonzero()[0]


NOWHERE = Stops()


@frozen
class UnreachableTarget:
    """Resources of a type that has no path to the target."""

    resource_type: str
    subjects: np.ndarray


def next_groups(
    standing: Iterable[tuple[str, str, np.ndarray]],
    target: str,
    registry: PhaseRegistry,
    *,
    passed: bool,
) -> tuple[list[ResourceGroup], list[UnreachableTarget]]:
    """Return the groups of resources that enter their next states, and the groups without a path to the target.

    ``standing`` holds (type, state, subjects): resources of this type that are in this state. Resources that have
    reached the target are in no group. With ``passed``, the resources have left their states and enter the following
    ones. Without it they begin, and enter their present state again if it is on their path (PD30).
    """
    groups: dict[tuple[str, str], list[np.ndarray]] = {}
    lost: dict[str, list[np.ndarray]] = {}
    for kind, state, subjects in standing:
        path = registry.types.path(kind, target)
        if path is None:
            lost.setdefault(kind, []).append(subjects)
            continue
        entered = _entered(path, state, passed=passed)
        if entered is not None:
            groups.setdefault((kind, entered), []).append(subjects)
    made = []
    for (kind, state), parts in groups.items():
        path = registry.types.path(kind, target)
        assert path is not None
        made.append(ResourceGroup(kind, path, state, np.sort(np.concatenate(parts)).astype(np.int32)))
    return made, [UnreachableTarget(kind, np.concatenate(parts).astype(np.int32)) for kind, parts in lost.items()]


def _entered(path: StatePath, state: str, *, passed: bool) -> str | None:
    """Return the state of the path that a resource in ``state`` enters next; None if ``state`` is the last one."""
    if state == path.target:
        return None
    if state not in path.states:
        return path.states[0]
    return path.after(state) if passed else state


def state_graph(
    group: ResourceGroup, registry: PhaseRegistry, numbers: Mapping[str, int], stops: Stops = NOWHERE
) -> Graph:
    """Return the graph in which the group enters its next state that has phases, and runs these phases.

    States without phases that come before that state are entered on the way; if no state is left that has phases, the
    group enters all states up to the target. ``numbers`` is {state: its number}.
    """
    entered = [group.state]
    phases = _phases(registry, group.resource_type, group.state, group.path)
    while not phases and entered[-1] != group.path.target:
        following = group.path.after(entered[-1])
        assert following is not None
        entered.append(following)
        phases = _phases(registry, group.resource_type, following, group.path)
    rows = [
        _Row(STATE_PREFIX + state, Policy(LaneSpec(STATE_PREFIX + state), leave=(numbers[state],)), ENTERS)
        for state in entered
    ]
    needs: list[list[int]] = [[row - 1] if row else [] for row in range(len(rows))]
    if phases:
        _append(rows, needs, _beside(registry, phases, entered[-1]), stops, entered[-1])
    return _build_rows(entered[-1], rows, needs, group.subjects)


def late_graph(
    group: ResourceGroup, registry: PhaseRegistry, had: Sequence[str], number: int, stops: Stops = NOWHERE
) -> Graph | None:
    """Return the graph of phases that were loaded after the group had entered its state (PD53); None if there are none.

    ``had`` are the phases that the group has already run in this state. The graph has steps without entries for them,
    so that they count as run when resources leave the state. The group does not enter the state, numbered ``number``,
    again.
    """
    known = {name.lower() for name in had}
    phases = {
        name: phase
        for name, phase in _phases(registry, group.resource_type, group.state, group.path).items()
        if name.lower() not in known
    }
    if not phases:
        return None
    entered = STATE_PREFIX + group.state
    rows = [_Row(entered, Policy(LaneSpec(entered), leave=(number,)), Mark.ABSENT)]
    needs: list[list[int]] = [[]]
    _append(rows, needs, _beside(registry, phases, group.state), stops, group.state)
    graph = _build_rows(group.state, rows, needs, group.subjects)
    way_out = graph.steps[-1]
    before = tuple(Step(LANE_PREFIX + name, SubjectKind.INSTANCE, way_out.first, 0) for name in had)
    return altered(graph, steps=(*graph.steps[:-1], *before, way_out))


def _append(rows: list[_Row], needs: list[list[int]], phases: Sequence[Beside], stops: Stops, state: str) -> None:
    """Append to a state's entrance its phases, their breakpoints, and the exit, which waits for all of these."""
    entered, found = len(rows) - 1, phases
    if stops.breakpoints:
        found = phase_breakpoints.with_stops(phases, stops.breakpoints)
    place = {one.name: len(rows) + row for row, one in enumerate(found)}
    rows += [_Row(one.step, policy_beside(one), mark_of(one.phase), stops.passing(one)) for one in found]
    needs += [[place[name] for name in one.needs] or [entered] for one in found]
    rows.append(_Row(EXIT_PREFIX + state, Policy(LaneSpec(EXIT_PREFIX + state)), Mark.ABSENT | Mark.EXIT))
    needs.append(list(place.values()))


def same_for(graph: Graph, subjects: np.ndarray) -> Graph:
    """Return a copy of the graph for other subjects; there must be as many as in the graph."""
    return altered(graph, subject=np.tile(subjects, len(graph.steps)))


def removal_graph(subjects: np.ndarray, number: int) -> Graph:
    """Return the graph in which all removed resources enter the state with this number."""
    row = _Row(STATE_PREFIX, Policy(LaneSpec(STATE_PREFIX), leave=(number,)), ENTERS)
    return _build_rows("removed", [row], [[]], np.sort(subjects.astype(np.int32)))


ENTERS = Mark.ABSENT | Mark.ANNOUNCE


@frozen
class _Row:
    """One step of the graph, with one entry for each subject.

    ``passing`` holds the indexes of subjects whose entry calls nothing; None if all entries are called.
    """

    name: str
    policy: Policy
    marks: int
    passing: np.ndarray | None = None


def _phases(
    registry: PhaseRegistry, resource_type: str, state: str, path: StatePath
) -> dict[str, PhaseDefinition | None]:
    """Return {name: phase} for a state and a type. A phase that others need but that is not defined is None.

    The state in which a path ends has no phases, because they are never run (PD26).
    """
    if state == path.target:
        return {}
    found: dict[str, PhaseDefinition | None] = {phase.name: phase for phase in registry.of(state, resource_type)}
    for phase in list(found.values()):
        assert phase is not None
        for name in unknown_needs(registry, phase, state, set()):
            found.setdefault(name, None)
    return found


def beside(registry: PhaseRegistry, resource_type: str, state: str, path: StatePath) -> tuple[Beside, ...]:
    """Return the phases of a state for a type, each with the names of the phases for which it waits.

    A phase comes after all phases that it waits for.
    """
    found = _beside(registry, _phases(registry, resource_type, state, path), state)
    place = {one.name: number for number, one in enumerate(found)}
    deep = depths([[place[need] for need in one.needs] for one in found])
    return tuple(found[number] for number in sorted(range(len(found)), key=lambda number: (deep[number], number)))


def _beside(registry: PhaseRegistry, phases: Mapping[str, PhaseDefinition | None], state: str) -> list[Beside]:
    """Return the given phases of a state, each with the names of the given phases for which it waits."""
    names = list(phases)
    place = {name.lower(): number for number, name in enumerate(names)}
    return [
        Beside(name, phase, tuple(names[need] for need in _needs(registry, phase, state, place)))
        for name, phase in phases.items()
    ]


def unknown_needs(registry: PhaseRegistry, phase: PhaseDefinition, state: str, seen: set[str]) -> Iterable[str]:
    """Yield the undefined names that a phase needs, directly or through phases of other types."""
    for name in registry.needs(phase, state):
        known = registry.get(name)
        if known is None:
            yield name
        elif known.key not in seen:
            seen.add(known.key)
            yield from unknown_needs(registry, known, state, seen)


def _needs(registry: PhaseRegistry, phase: PhaseDefinition | None, state: str, place: Mapping[str, int]) -> list[int]:
    """Return the row numbers (values of ``place``) of the phases for which a phase waits.

    A needed phase that does not apply to the type is replaced by the phases that it needs itself (PD29).
    """
    found: dict[int, None] = {}
    seen: set[str] = set()
    waiting = list(registry.needs(phase, state)) if phase is not None else []
    while waiting:
        key = waiting.pop(0).lower()
        if key in seen:
            continue
        seen.add(key)
        known = registry.get(key)
        if key in place:
            found[place[key]] = None
        elif known is not None:
            waiting += registry.needs(known, state)
    return sorted(found)


def mark_of(phase: PhaseDefinition | None) -> int:
    """Return the mark CONDITIONAL if the phase may not apply, otherwise 0.

    An unusable phase is conditional, because it may be repaired.
    """
    asked = phase is None or bool(phase.constraint or phase.providers or phase.error)
    return Mark.CONDITIONAL if asked else 0


def policy_beside(one: Beside) -> Policy:
    """Return the policy for the entries of a phase, or of a breakpoint at a phase."""
    if not one.is_stop:
        return policy_of(one.name, one.phase)

    return phase_breakpoints.pause_policy(one.name)


def policy_of(name: str, phase: PhaseDefinition | None) -> Policy:
    """Return the policy for the entries of a phase. The phase's code is looked up by name when a call begins (PD43)."""
    policy = phase.policy if phase is not None else PhasePolicy()
    is_each = phase is not None and phase.code is not None and phase.code.form == "handle_one"
    lane = LaneSpec(
        LANE_PREFIX + name,
        form="each" if is_each else "bulk",
        max_batch=policy.max_batch,
        concurrency=0 if is_each and policy.max_concurrency == 1 else policy.max_concurrency,
        key=_key_of(policy) or None,
        interval_ms=round(policy.min_interval_s * 1000),
        limiter="" if policy.batch_key else policy.rate_limit_key,
        rate=policy.rate_limit,
        coalesce_ms=round(policy.coalesce_window_s * 1000),
        burst=policy.rate_limit_burst if policy.rate_limit else 1,
        priority=policy.priority,
    )
    return Policy(
        lane,
        max_retries=policy.retry_limit,
        retry_interval_ms=round(policy.sleep_delay_s * 1000),
        timeout_ms=round(policy.run_timeout_s * 1000),
        repeatable=True,
        cancel_wins=True,
    )


def _key_of(policy: PhasePolicy) -> str:
    """Return an expression whose value is equal for members that may share a call.

    The expression joins the batch key with the key of a rate limit.

    >>> _key_of(PhasePolicy(batch_key="Region", rate_limit=1.0, rate_limit_key="Account"))
    '{Region, Account}'
    """
    limited_by = policy.rate_limit_key if policy.rate_limit else ""
    return (
        f"{{{policy.batch_key}, {limited_by}}}" if policy.batch_key and limited_by else policy.batch_key or limited_by
    )


def _build_rows(name: str, rows: Sequence[_Row], needs: Sequence[Sequence[int]], subjects: np.ndarray) -> Graph:
    """Return a graph with one entry for each row and subject, row by row.

    ``needs`` lists, for each row, the rows it waits for. Edges connect only entries of one subject.
    """
    count = len(subjects)
    places = np.arange(count, dtype=np.int32)
    followers: list[list[int]] = [[] for _ in rows]
    for row, needed in enumerate(needs):
        for need in needed:
            followers[need].append(row)
    blocks = [
        (np.array(behind, np.int32)[None, :] * count + places[:, None]).ravel() if behind else places[:0]
        for behind in followers
    ]
    counts = np.repeat(np.array([len(behind) for behind in followers], np.int32), count)
    marks = np.repeat(np.array([row.marks for row in rows], np.uint8), count)
    for number, one in enumerate(rows):
        if one.passing is not None:
            marks[number * count + one.passing] = Mark.ABSENT
    return Graph(
        name,
        tuple(Step(row.name, SubjectKind.INSTANCE, number * count, count) for number, row in enumerate(rows)),
        tuple(row.policy for row in rows),
        subject=np.tile(subjects.astype(np.int32), len(rows)),
        policy=np.repeat(np.arange(len(rows), dtype=np.uint16), count),
        marks=marks,
        ptr=np.concatenate(([0], np.cumsum(counts))).astype(np.int32),
        idx=np.concatenate(blocks).astype(np.int32),
    )
