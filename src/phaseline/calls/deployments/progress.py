"""Progress of an execution: counts by node and phase, failing entries, the next wake-up; computed when asked for."""

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
"""The most failing entries that are shown with their last message."""
MAX_NODES_APART = 40
"""With more nodes than this, one row shows a phase for all nodes together."""


@frozen
class ProgressRow:
    """Progress of one phase of one node, or of all nodes if ``node`` is empty. ``counts`` is {status: entries}."""

    node: str
    phase: str
    counts: Mapping[EntryStatus, int]

    @property
    def total(self) -> int:
        """Number of entries."""
        return sum(self.counts.values())

    @property
    def ended(self) -> int:
        """Number of entries that have ended, with or without success."""
        return sum(count for status, count in self.counts.items() if status >= EntryStatus.COMPLETED)


@frozen
class Failing:
    """An entry that failed or is tried again. ``due`` is the time of its next try in ms, or 0 if none is due.

    ``max_retries`` is -1 for unlimited retries. ``interval_ms`` is the time from a failure to the next try, unless the
    operation asked for another.
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
    """Progress of one execution. ``next_wake`` is a time in ms or None. ``failing`` has the first few failing entries,
    ``failing_count`` is the number of all failing entries.
    """

    graph: str
    rows: tuple[ProgressRow, ...]
    failing: tuple[Failing, ...]
    failing_count: int
    next_wake: int | None
    calls: int

    @property
    def total(self) -> int:
        """Number of entries of the present round, without milestones."""
        return sum(row.total for row in self.rows)

    @property
    def ended(self) -> int:
        """Number of entries of the present round that have ended."""
        return sum(row.ended for row in self.rows)


def progress(
    scheduler: Scheduler,
    deployments: DeploymentCache,
    execution: int,
    messages: Mapping[tuple[int, int], str],
    told: tuple[int | None, int],
) -> Progress | None:
    """Return the progress of an execution's present round, or None before the first round and after the end.

    ``messages`` is {(graph, position): last message}; ``told`` is (next wake-up time in ms, number of calls so far).
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
    """Return the progress rows of a loaded graph in the order of its phases, without milestones."""
    arena = scheduler.arena
    low, high = slot.base, slot.end
    return count_rows(slot.steps, arena.subject[low:high], arena.kind[low:high], arena.status[low:high], topology)


def count_rows(
    steps: Sequence[Step], subjects: np.ndarray, kinds: np.ndarray, status: np.ndarray, topology: Topology
) -> tuple[ProgressRow, ...]:
    """Return progress rows from columns of one graph, by position: subject, kind of subject and status."""
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
    """Return the displayed name of a step: "entering STATE" if it enters a state, else its phase or its operation."""
    state = state_entered(step)
    return f"entering {state}" if state is not None else phase_of(step) or step


def _nodes(topology: Topology, subjects: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """Return the node number of each entry; entries of the deployment itself get the number of nodes."""
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
    """Return (the first ``MAX_FAILING`` entries to show, number of all failing entries).

    Failing entries have failed, are unsure or are tried again. Hooks that only wait for their next call are shown, too,
    but not counted. ``messages``: {(graph, position): message}.
    """
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
