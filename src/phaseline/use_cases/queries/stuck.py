"""List the stuck entries of all deployments.

An entry is stuck if it failed, fails and is retried, is unsure, or sleeps or runs for long. It is also stuck if it
waits for such an entry or for an operator's decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.lang.fast_dataclasses import frozen, mutable
from phaseline.model.graph.graph import phase_of
from phaseline.model.graph.status import EntryStatus, ExecutionStatus
from phaseline.model.problems.fingerprint import group_key
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows.details import DetailQuery
from phaseline.use_cases.lookup.entries import GraphEntries, last_own_graph, owners
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.unreadable_rows import Flaws
from phaseline.use_cases.queries import lane_holders, pending_decisions
from phaseline.use_cases.queries.executions import WORTH_TELLING
from phaseline.use_cases.queries.resources.current_paths import only_present
from phaseline.use_cases.queries.retried_failures import FAILURES, ending, failing_calls
from phaseline.use_cases.queries.unfinished import TOLD, UnfinishedExecutions, unfinished_groups
from phaseline.use_cases.queries.unrepaired_failures import has_entries, left_half_way
from phaseline.views.views import Page

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.graph.graph import Graph, Step
    from phaseline.model.rows.rows import BatchRow, ExecutionRow, GraphRow, Owner
    from phaseline.ports.execution_reads import ExecutionReads
    from phaseline.use_cases.lookup.read_ahead import ReadAhead
    from phaseline.use_cases.queries.pending_decisions import PendingDecision
    from phaseline.views.views import FailingCall

SLEEPING_LONG_MS = 10 * 60 * 1000
"""A sleeping entry is listed if its first call was longer ago than this, or its next call is later than this."""
RUNNING_LONG_MS = 60 * 60 * 1000
"""A running entry is listed if its call has been running for longer than this."""
MOVING = (EntryStatus.RUNNING, EntryStatus.SLEEPING, EntryStatus.CANCELING)
"""Statuses of entries that will change without an operator, so that their execution is not stuck."""
NAMED = 3
"""Number of instances, executions and deployments that are named for each group; further ones are only counted."""
NEVER = 2**62
SILENT = (0, "")
"""(due time, message) of an entry without a note."""
Kind = Literal["failed", "unsure", "sleeping", "running", "waiting", "abandoned", "approval", "breakpoint"]
KINDS: dict[EntryStatus, Kind] = {
    EntryStatus.FAILED: "failed",
    EntryStatus.UNSURE: "unsure",
    EntryStatus.SLEEPING: "sleeping",
    EntryStatus.RUNNING: "running",
}


@frozen
class Stuck:
    """Entries that are stuck for the same reason: same kind, operation and message, in any deployment.

    ``count``: number of operations; if they wait for failed entries, number of instances. ``since_at``: since when the
    oldest entry is stuck; if no process runs the executions, when an engine last worked on one of them. ``until_at``:
    earliest time of a next call. ``attempts``: highest number of a next retry, of ``max_retries`` allowed (-1: unlimited);
    0 if no entry is retried. ``is_repeated``: an entry failed twice with the same last line. ``mends``: one command for
    each of ``executions``, which are the first of ``execution_count``.
    """

    kind: Kind
    operation: str
    message: str
    count: int
    since_at: int
    until_at: int
    deployments: Sequence[str]
    deployment_count: int
    executions: Sequence[str]
    execution_count: int
    instances: Sequence[str]
    mends: Sequence[str]
    attempts: int = 0
    max_retries: int = 0
    is_repeated: bool = False


@mutable
class _Group:
    """The data collected for one ``Stuck``."""

    count: int = 0
    since: int = 0
    until: int = 0
    message: str = ""
    deployments: dict[str, None] = field(default_factory=dict)
    executions: dict[str, str] = field(default_factory=dict)
    """{execution: id of its first instance in this group}."""
    instances: list[str] = field(default_factory=list)
    mends: list[str] = field(default_factory=list)
    """Commands that make the awaited decisions, if the entries wait for an operator's decision."""
    attempts: int = 0
    max_retries: int = 0
    is_repeated: bool = False

    def add(self, row: ExecutionRow, count: int, instances: Sequence[str], since: int, until: int = 0) -> None:
        """Add ``count`` entries of an execution.

        ``instances``: the first instances of these entries. ``since``: since when the oldest entry is stuck; ``until``: the
        earliest time of a next call.
        """
        self.count += count
        self.since = min(self.since or since, since or self.since)
        self.until = min(self.until or until, until or self.until)
        self.deployments[row.deployment_name] = None
        self.executions.setdefault(row.id, instances[0] if instances else "")
        self.instances.extend(instances[: NAMED - len(self.instances)])


Groups = dict[tuple[Kind, str, str], _Group]
"""{(kind, operation, common message or cause): group}."""


def list_stuck(ctx: RequestContext, *, deployment: str | None = None, limit: int | None = None) -> Page[Stuck]:
    """Return the groups of stuck entries, oldest first.

    ``deployment``: return only its entries; None: those of all deployments that are not deleted.
    """
    store, now = ctx.store, ctx.clock.now()
    groups: Groups = {}
    flaws = Flaws()
    with store.at_once():
        only = find_deployment(store, deployment).number if deployment else None
        owner = store.owner()
        for found in unfinished_groups(store, only, lambda found: _to_read(found, owner)):
            _read_more(found, owner)
            for row in found.rows:
                with flaws.of(row.deployment_name):
                    _gather(found, row, owner, now, groups)
    stuck = [_stuck(key, group) for key, group in groups.items()]
    stuck.sort(key=lambda one: (one.since_at or now, one.kind, one.operation, one.message))
    return Page(stuck[:limit], len(stuck), flaws.told)


def _to_read(found: UnfinishedExecutions, owner: Owner | None) -> DetailQuery:
    """Return what explains executions that may be unfinished: entries, notes and calls of graphs with open work."""
    reads = found.reads
    shown = {row.number: _telling_graphs(found, row) for row in found.rows}
    graphs = [graph.id for some in shown.values() for graph in some]
    alone = [row.number for row in found.rows if _is_abandoned(row, owner)]
    return DetailQuery(
        columns_of=graphs,
        notes_of=graphs,
        topologies_of={row.deployment for row in found.rows if shown[row.number]},
        batches_of=reads.ranges_of({*alone, *(number for number, some in shown.items() if some)}),
        requests_of=alone,
    )


def _telling_graphs(found: UnfinishedExecutions, row: ExecutionRow) -> list[GraphRow]:
    return [graph for graph in found.shown_graphs(row) if has_entries(found.reads, graph, TOLD)]


def _is_abandoned(row: ExecutionRow, owner: Owner | None) -> bool:
    """Return True if the execution could continue, and no process runs it."""
    return not row.status.is_ended and owner is None and row.status is not ExecutionStatus.ATTENTION


def _read_more(found: UnfinishedExecutions, owner: Owner | None) -> None:
    """Read ahead the failures of calls that are tried again, and the running calls for which idle executions may wait."""
    reads = found.reads
    retried: list[int] = []
    idle: list[int] = []
    phases: set[str] = set()
    for row in found.rows if any(not row.status.is_ended for row in found.rows) else ():
        with Flaws().of(row.deployment_name):
            for graph in [] if row.status.is_ended else _telling_graphs(found, row):
                if any(note.retries > 1 for note in reads.notes(graph.id)):
                    retried.append(row.number)
                if owner is not None and _is_idle(row, reads.entry_statuses(graph.id).now):
                    idle.append(graph.id)
                    phases.update(policy.lane.phase for policy in reads.graph(graph.id).policies)
    running = {
        graph
        for batch in (reads.batches(only_open=True) if phases else ())
        for graph in batch.places.graphs
        if batch.phase in phases
    }
    reads.read(DetailQuery(events_of=retried, event_types=FAILURES, contexts_of=[*idle, *running] if running else ()))


def _is_idle(row: ExecutionRow, statuses: np.ndarray) -> bool:
    """Return True if an execution runs and none of its entries will change by itself."""
    is_running = row.status is ExecutionStatus.RUNNING and row.request.workflow != REACH_WORKFLOW
    return is_running and not np.isin(statuses, MOVING).any()


def _gather(found: UnfinishedExecutions, row: ExecutionRow, owner: Owner | None, now: int, groups: Groups) -> None:
    store = found.reads
    graphs, last = store.graphs(row.number), last_own_graph(store, row)
    waits = awaited_in(store, row)
    _gather_awaited(waits, groups)
    statuses = store.statuses(last.id) if last is not None else np.zeros(0, np.uint8)
    if _is_abandoned(row, owner):
        left = int((statuses < EntryStatus.COMPLETED).sum())
        group = groups.setdefault(("abandoned", "", ""), _Group(message="no process runs it"))
        group.add(row, max(1, left), (), _last_sign_of_life(store, row))
    others = [graph.id for graph in graphs[:-1]] if row.request.workflow == REACH_WORKFLOW else []
    for graph in [*others, *([] if last is None else [last.id])]:
        told = [position for one in waits if one.graph == graph for position in one.positions]
        _gather_graph(found, row, graph, owner, now, groups, told)


def awaited_in(store: ExecutionReads, row: ExecutionRow) -> Sequence[PendingDecision]:
    """Return the decisions for which an execution waits.

    Most executions cannot wait for any; for them ``pending_decisions`` is not even imported.
    """
    if row.status.is_ended or not (row.request.is_surrounded or row.request.breakpoints):
        return ()

    return list(pending_decisions.awaited(store, row))


def _gather_awaited(waits: Sequence[PendingDecision], groups: Groups) -> None:
    """Add entries that wait for a decision, grouped by deployment and decision."""
    for one in waits:
        row = one.execution
        group = groups.setdefault((one.kind, "", f"{row.deployment_name} {one.name}"), _Group(message=one.message))
        group.add(row, len(one.positions), one.instances, 0)
        group.mends.append(one.mend)


def _gather_graph(
    found: UnfinishedExecutions,
    row: ExecutionRow,
    graph: int,
    owner: Owner | None,
    now: int,
    groups: Groups,
    told: Sequence[int],
) -> None:
    """Add the stuck entries of one graph to ``groups``.

    ``told``: positions of sleeping entries that are already listed because they wait for a decision.
    """
    store = found.reads
    statuses = store.entry_statuses(graph).now
    is_quiet = row.status.is_ended or owner is None
    if row.request.workflow == REACH_WORKFLOW:
        statuses = only_present(store, row, graph, statuses)
    if told:
        statuses = statuses.copy()
        statuses[told] = EntryStatus.COMPLETED
    if row.status.is_ended and row.request.workflow != REACH_WORKFLOW and not found.is_latest(row):
        is_over = np.isin(statuses, WORTH_TELLING) & ~left_half_way(
            store, row, graph, statuses
        )  # others were repaired since
        statuses = np.where(is_over, np.uint8(EntryStatus.COMPLETED), statuses)
    calls = failing_calls(store, row, {graph: statuses}, but=told)
    if calls:
        _Case(store, row, graph, statuses).gather_failing(calls, groups)
        statuses = statuses.copy()
        statuses[[call.position for call in calls]] = EntryStatus.COMPLETED  # already listed
    stuck = [EntryStatus.FAILED, EntryStatus.UNSURE, EntryStatus.SLEEPING, *([] if is_quiet else [EntryStatus.RUNNING])]
    if np.isin(statuses, [*stuck, EntryStatus.SKIPPED]).any():
        _Case(store, row, graph, statuses).gather(stuck, now, groups)
    if not (calls or told or is_quiet) and _is_idle(row, statuses):
        _gather_held(store, row, graph, statuses, groups)


def _gather_held(store: ReadAhead, row: ExecutionRow, graph: int, statuses: np.ndarray, groups: Groups) -> None:
    """Add ready entries of an idle execution that wait for a running call of another execution."""
    whole, topology = store.graph(graph), store.topology(row.deployment)
    found = lane_holders.first_held(store, row, whole, topology, statuses)
    if found is not None:
        step, positions, other = found
        message = f"waits for the running call of {other.id} of '{other.deployment_name}'"
        key: tuple[Kind, str, str] = ("waiting", phase_of(step.phase) or step.phase, message)
        entries = GraphEntries(whole)
        names = [entries.subject(topology, at)[0] for at in positions[:NAMED].tolist()]
        group = groups.setdefault(key, _Group(message=message))
        group.add(row, len(positions), names, 0)
        group.mends.append(f"phaseline executions follow {other.id}")


def _last_sign_of_life(store: ExecutionReads, row: ExecutionRow) -> int:
    """Return the last stored time at which an engine worked on an execution.

    This is the best known time of an engine's death, because a process cannot store its own death.
    """
    times = [row.created_at, row.started_at]
    times += [max(batch.started_at, batch.closed_at) for batch in store.batches(execution=row.number)]
    times += [request.answered_at for request in store.requests_of(row.number)]
    return max(times)


class _Case:
    """One graph of an execution, from which stuck entries are collected."""

    def __init__(self, store: ExecutionReads, row: ExecutionRow, graph: int, statuses: np.ndarray) -> None:
        self._row = row
        self._statuses = statuses
        self._graph: Graph = store.graph(graph)
        self._entries = GraphEntries(self._graph)
        self._topology: Topology = store.topology(row.deployment)
        self._messages = store.messages(graph)
        self._begun, self._ended = call_times(store.batches(execution=row.number), graph, len(statuses))

    def gather(self, stuck: Sequence[EntryStatus], now: int, groups: Groups) -> None:
        """Add all stuck entries of the graph to ``groups``. ``stuck``: statuses in which an entry may be stuck."""
        firsts = np.fromiter((step.first for step in self._graph.steps), np.int64, len(self._graph.steps))
        for status in stuck:
            positions = self._long(status, np.flatnonzero(self._statuses == status), now)
            steps = np.searchsorted(firsts, positions, side="right") - 1
            for place in np.unique(steps).tolist():
                self._gather_step(self._graph.steps[place], status, positions[steps == place], groups)
        self._gather_waiting(groups)

    def gather_failing(self, calls: Sequence[FailingCall], groups: Groups) -> None:
        """Add failed calls that are being tried again, however recent.

        If a call fails in the same way again, its group gets the command that ends the retries.
        """
        for call in calls:
            operation, name = call.operation, call.instance
            alike = f"again {group_key(operation, call.message, name)}"
            group = groups.setdefault(("sleeping", operation, alike), _Group(message=call.message))
            group.add(self._row, 1, [name] if name else [], int(self._begun[call.position]), call.due_at)
            group.attempts, group.max_retries = max(group.attempts, call.attempts), call.max_retries
            if call.is_repeated:
                group.is_repeated = True
                group.mends.append(f"end the retries: {ending(call.execution)}")

    def _long(self, status: EntryStatus, positions: np.ndarray, now: int) -> np.ndarray:
        """Return those of the positions whose entries are stuck; sleeping or running entries are stuck only after a long time."""
        age = now - self._begun[positions]
        found: np.ndarray = positions
        if status is EntryStatus.RUNNING:
            found = positions[age >= RUNNING_LONG_MS]
        elif status is EntryStatus.SLEEPING:
            late = np.fromiter((self._due(position) - now for position in positions.tolist()), np.int64, len(positions))
            age[self._begun[positions] == 0] = 0
            found = positions[np.maximum(age, late) >= SLEEPING_LONG_MS]
        return found

    def _gather_step(self, step: Step, status: EntryStatus, positions: np.ndarray, groups: Groups) -> None:
        """Add entries of one step with one status, grouped by message."""
        kind = KINDS[status]
        operation = phase_of(step.phase) or step.phase
        said: dict[str, list[int]] = {}
        first: dict[str, str] = {}
        for position in positions.tolist():
            message = "" if kind == "running" else self._messages.get(position, SILENT)[1]
            alike = group_key(operation, message, self._instance(position)) if message else ""
            first.setdefault(alike, message)
            said.setdefault(alike, []).append(position)
        times = self._ended if status in {EntryStatus.FAILED, EntryStatus.UNSURE} else self._begun
        for alike, found in said.items():
            since = times[found]
            oldest = int(since[since > 0].min(initial=NEVER)) if since.any() else self._row.ended_at
            until = min(map(self._due, found)) if status is EntryStatus.SLEEPING else 0
            names = [self._instance(position) for position in found[:NAMED]]
            group = groups.setdefault((kind, operation, alike), _Group(message=first[alike]))
            group.add(self._row, len(found), [name for name in names if name], oldest, until)

    def _due(self, position: int) -> int:
        return self._messages.get(position, SILENT)[0]

    def _instance(self, position: int) -> str:
        return self._entries.subject(self._topology, position)[0]

    def _gather_waiting(self, groups: Groups) -> None:
        """Add instances that cannot continue because entries of other instances failed or are unsure."""
        bad = np.isin(self._statuses, [EntryStatus.FAILED, EntryStatus.UNSURE])
        if not bad.any():
            return
        is_unsure = self._row.status is ExecutionStatus.ATTENTION
        lost = self._statuses == EntryStatus.SKIPPED
        if is_unsure:
            lost |= self._statuses == EntryStatus.BLOCKED
        owner = owners(self._graph, self._topology)
        numbers = np.setdiff1d(owner[lost], owner[bad])
        numbers = numbers[numbers >= 0]
        if len(numbers):
            since = self._ended[bad]
            oldest = int(since[since > 0].min(initial=NEVER)) if since.any() else self._row.ended_at
            message = f"waits for what {'is unsure' if is_unsure else 'failed'} in {self._row.id}"
            names = [self._topology.ids[number] for number in numbers[:NAMED].tolist()]
            group = groups.setdefault(("waiting", "", message), _Group(message=message))
            group.add(self._row, len(numbers), names, oldest)


def call_times(batches: Sequence[BatchRow], graph: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two int64 arrays by position: the time (ms) of an entry's first call, and the end of its last call.

    If the last call still runs, its start is returned instead of its end. 0: the entry was never called.
    """
    begun, ended = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for batch in batches:
        for of, positions in batch.segments:
            if of == graph:
                fresh = positions[begun[positions] == 0]
                begun[fresh] = batch.started_at
                ended[positions] = batch.closed_at or batch.started_at
    return begun, ended


def _stuck(key: tuple[Kind, str, str], group: _Group) -> Stuck:
    kind, operation, _ = key
    executions = list(group.executions)
    return Stuck(
        kind=kind,
        operation=operation,
        message=group.message,
        count=group.count,
        since_at=group.since,
        until_at=group.until,
        deployments=list(group.deployments)[:NAMED],
        deployment_count=len(group.deployments),
        executions=executions[:NAMED],
        execution_count=len(executions),
        instances=group.instances,
        mends=list(dict.fromkeys(group.mends))[:NAMED] or _mends(kind, group.executions),
        attempts=group.attempts,
        max_retries=group.max_retries,
        is_repeated=group.is_repeated,
    )


def _mends(kind: Kind, executions: Mapping[str, str]) -> list[str]:
    """Return for each of the first ``NAMED`` executions the command that an operator should try first.

    ``executions``: {execution: id of its first stuck instance, or ""}. If ``kind`` is "abandoned" and there are
    several, return one command: a new engine runs them all.
    """
    if kind == "abandoned" and len(executions) > 1:
        return ["phaseline engine run"]
    return [mend_of(kind, execution, instance or "ID") for execution, instance in list(executions.items())[:NAMED]]


def mend_of(kind: Kind, execution: str, instance: str) -> str:
    """Return the command that an operator should try first for stuck entries of this kind."""
    return {
        "failed": f"phaseline executions retry {execution}",
        "unsure": f"look at {instance}, then: phaseline executions retry {execution}, or executions complete {execution}",
        "sleeping": f"phaseline executions logs {execution} --instance {instance}",
        "running": f"phaseline executions logs {execution} --instance {instance}",
        "waiting": f"phaseline executions show {execution}",
        "abandoned": f"phaseline executions resume {execution}",
    }[kind]
