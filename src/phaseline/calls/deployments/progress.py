"""How far an execution is: counts by node and phase, what fails, and when something wakes; computed when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import EXIT_PREFIX, SubjectKind, owners_of, phase_of, state_entered
from phaseline.model.graph.status import EntryStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from phaseline.calls.deployments.deployment_cache import DeploymentCache
    from phaseline.engine.arena_layout import GraphSlot
    from phaseline.engine.scheduler import Scheduler
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Step

MAX_FAILING = 5
"""Failing instances shown with their last message."""
MAX_NODES_APART = 40
"""Beyond so many nodes the rows of a phase are shown together."""


@frozen
class ProgressRow:
    """One phase of one node, or of all nodes (``node`` empty). ``counts`` {status: entries}."""

    node: str
    phase: str
    counts: Mapping[EntryStatus, int]

    @property
    def total(self) -> int:
        """How many entries there are."""
        return sum(self.counts.values())

    @property
    def ended(self) -> int:
        """How many have ended, however."""
        return sum(count for status, count in self.counts.items() if status >= EntryStatus.COMPLETED)


@frozen
class Failing:
    """An entry that failed or is tried again. ``due`` in ms, 0: not to be tried. ``max_retries`` -1: without end.

    ``interval_ms``: the time from a failure to the next try, unless the operation has asked for another.
    """

    instance: str
    operation: str
    status: EntryStatus
    attempts: int
    max_retries: int
    due: int
    message: str
    interval_ms: int = 0


@frozen
class Progress:
    """A look at one execution. ``next_wake`` in ms or None; ``failing_count`` counts those not shown as well."""

    graph: str
    rows: tuple[ProgressRow, ...]
    failing: tuple[Failing, ...]
    failing_count: int
    next_wake: int | None
    calls: int

    @property
    def total(self) -> int:
        """Entries of the present round that are calls."""
        return sum(row.total for row in self.rows)

    @property
    def ended(self) -> int:
        """The number of ended entries."""
        return sum(row.ended for row in self.rows)


def progress(
    scheduler: Scheduler,
    deployments: DeploymentCache,
    execution: int,
    messages: Mapping[tuple[int, int], str],
    told: tuple[int | None, int],
) -> Progress | None:
    """A look at the present round of an execution, or None before the first and after the end.

    ``messages`` {(graph, position): last message}; ``told``: the next wake-up time, and the number of calls so far.
    """
    run = scheduler.runs.get(execution)
    if run is None or not run.graphs:
        return None
    arena = scheduler.arena
    moving = (graph for graph in reversed(run.graphs) if arena.moves(arena.slots[graph]))
    slot = arena.slots[next(moving, run.graphs[-1])]
    topology = deployments.loaded(run.deployment).topology
    shown, count = failing(scheduler, slot, topology, messages)
    return Progress(slot.name, progress_rows(scheduler, slot, topology), shown, count, *told)


def progress_rows(scheduler: Scheduler, slot: GraphSlot, topology: Topology) -> tuple[ProgressRow, ...]:
    """Rows in the order in which their phases come; milestones are left out."""
    arena = scheduler.arena
    low, high = slot.base, slot.end
    return count_rows(slot.steps, arena.subject[low:high], arena.kind[low:high], arena.status[low:high], topology)


def count_rows(
    steps: Sequence[Step], subjects: np.ndarray, kinds: np.ndarray, status: np.ndarray, topology: Topology
) -> tuple[ProgressRow, ...]:
    """The same from columns of one graph: subject, kind of subject and status by position."""
    apart = len(topology.nodes) <= MAX_NODES_APART
    phases: dict[str, int] = {}
    numbers = [phases.setdefault(_shown(step.phase), len(phases)) for step in steps]
    phase = np.repeat(np.array(numbers, np.int64), [step.count for step in steps])
    called = kinds != SubjectKind.NONE
    cells = phase[called] * len(EntryStatus) + status[called]
    if apart and len(topology.nodes):
        nodes = _nodes(topology, subjects[called], kinds[called])
        cells = nodes * (len(phases) * len(EntryStatus)) + cells
    counts = np.bincount(cells)
    rows: dict[tuple[int, int], dict[EntryStatus, int]] = {}
    for cell in np.flatnonzero(counts).tolist():
        rest, found = divmod(cell, len(EntryStatus))
        rows.setdefault(divmod(rest, len(phases)), {})[EntryStatus(found)] = int(counts[cell])
    names = list(phases)
    return tuple(
        ProgressRow(topology.nodes[node].name if apart and node < len(topology.nodes) else "", names[number], count)
        for (node, number), count in sorted(rows.items())
        if not names[number].startswith(EXIT_PREFIX)  # the way out of a state is nothing that is done
    )


def _shown(step: str) -> str:
    """The name of a step for people: its phase, the entered state, or its operation."""
    state = state_entered(step)
    return f"entering {state}" if state is not None else phase_of(step) or step


def _nodes(topology: Topology, subjects: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """By entry: the number of its node; behind the last one for the deployment itself."""
    instances = subjects.copy()
    related = (kinds == SubjectKind.SOURCE) | (kinds == SubjectKind.TARGET)
    if related.any():
        instances[related] = topology.source[subjects[related]]
    of_nodes = kinds != SubjectKind.DEPLOYMENT
    if of_nodes.all():
        numbers: np.ndarray = topology.node[instances].astype(np.int64)
        return numbers
    numbers = np.full(len(subjects), len(topology.nodes), np.int64)
    numbers[of_nodes] = topology.node[instances[of_nodes]]
    return numbers


def failing(
    scheduler: Scheduler, slot: GraphSlot, topology: Topology, messages: Mapping[tuple[int, int], str]
) -> tuple[tuple[Failing, ...], int]:
    """(the first few entries that failed or are tried again, and hooks that wait; how many have failed)."""
    arena = scheduler.arena
    low, high = slot.base, slot.end
    status = arena.status[low:high]
    fails = (
        (status == EntryStatus.FAILED)
        | (status == EntryStatus.UNSURE)
        | ((arena.attempts[low:high] > 0) & (status < EntryStatus.COMPLETED))
    )
    waits = (status == EntryStatus.SLEEPING) & (arena.kind[low:high] == SubjectKind.DEPLOYMENT)
    shown = []
    for position in np.flatnonzero(fails | waits)[:MAX_FAILING].tolist():
        subjects = arena.subject[low + position : low + position + 1]
        owner = int(owners_of(topology, SubjectKind(int(arena.kind[low + position])), subjects)[0])
        policy = arena.policies[int(arena.policy[low + position])]
        shown.append(
            Failing(
                topology.ids[owner] if owner >= 0 else "",
                phase_of(policy.lane.phase) or policy.lane.phase,
                EntryStatus(int(status[position])),
                int(arena.attempts[low + position]),
                policy.max_retries,
                int(arena.due[low + position]) if status[position] == EntryStatus.SLEEPING else 0,
                messages.get((slot.graph_id, position), ""),
                policy.wait_ms(int(arena.attempts[low + position])),
            )
        )
    return tuple(shown), int(np.count_nonzero(fails))
