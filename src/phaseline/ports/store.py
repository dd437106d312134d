"""The store: all that is kept, with the reads, the requests of any process and the writes of the owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from phaseline.model.rows.shelves import Shelves

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np

    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.pre_post import PrePost
    from phaseline.model.graph.graph import Graph
    from phaseline.model.graph.status import EntryStatus
    from phaseline.model.health.checks import CheckResults
    from phaseline.model.resources.resources import ResourceAddition
    from phaseline.model.rows.incarnations import Incarnation
    from phaseline.model.rows.maintenance import Compacted, Purged, StoreFinding
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import (
        Actor,
        BatchRow,
        ConcurrencyRule,
        DeploymentRow,
        EntryStatuses,
        EventRow,
        ExecutionRow,
        GraphRow,
        LaneStatistics,
        LogLine,
        Metric,
        NewDeployment,
        NewExecution,
        NoteRow,
        Owner,
        PausedRow,
        RequestKind,
        RequestRow,
        Turn,
    )


class IncarnationShelf(Protocol):
    """Incarnations of a store (BK4): after a restore tokens are new, and open executions wait for an operator (BK5)."""

    def all(self) -> Sequence[Incarnation]:
        """Those after the first, oldest first; none if the store was never restored."""
        ...

    def held(self) -> int:
        """Open executions up to this number, and requests from before the restore, wait for ``go_on``; 0: none does."""
        ...

    def go_on(self, actor: Actor, now: int) -> Sequence[ExecutionRow]:
        """Continue the waiting executions, with a request to start each; returns them, oldest first."""
        ...


class Store(Shelves, Protocol):
    """Stores everything. Every method is one transaction; reads see committed data.

    Errors: a damaged, newer, locked or full store raises ``ProblemsError`` (PL-S...).
    """

    def own(self, command: str) -> AbstractContextManager[int]:
        """Become the one process that writes; yields the epoch. Refused (PL-S004) naming pid and command of the owner."""
        ...

    def owner(self) -> Owner | None:
        """The process that owns the store at this moment, or None."""
        ...

    def identity(self) -> str:
        """The store's random name, part of every token together with its incarnation."""
        ...

    def at_once(self) -> AbstractContextManager[object]:
        """A context in which all reads of this thread see the same moment; nothing is written in it."""
        ...

    def counters(self) -> tuple[int, int]:
        """(next graph id, next batch id)."""
        ...

    @property
    def incarnations(self) -> IncarnationShelf:
        """Incarnations of the store since its first restore, and executions that wait since then."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """Messages for the user from opening the store, such as an upgrade and the path of the copy made before it."""
        ...

    # -- requests: from any process, not only the owner of the store (ADR 0008)

    def as_one(self, order: NewOrder | None = None) -> AbstractContextManager[dict[str, Value]]:
        """A context in which all writes of this thread are one transaction, stored at its end, all or nothing; reads within it
        need not see the writes.

        With an ``order`` its row is part of the transaction: with the executions and requests made within, and as its
        ``answer`` the final content of the yielded mapping. Raises: ``GivenBeforeError`` at once if the order exists.
        """
        ...

    def create_deployment(
        self,
        new: NewDeployment,
        request: NewExecution | None = None,
        *,
        replaces: int = 0,
        asks: bool | None = None,
    ) -> tuple[int, ExecutionRow | None]:
        """(deployment number, the execution stored with it). ``request.deployment`` is ignored.

        ``replaces``: number of a deployment that gives its name to this one in the same transaction. ``asks``: store a
        ``start`` request with the execution; None: unless this process owns the store, and so begins it itself.
        Raises: PL-S010 if the name is taken, PL-C016 if an execution of the replaced deployment is open.
        """
        ...

    def delete_deployment(self, deployment: int, actor: Actor | None = None) -> None:
        """Free the name; history of executions stays. PL-C016 if an execution is open."""
        ...

    def deleted(self, deployments: Collection[int], since: int = 0) -> tuple[int, Sequence[int]]:
        """(how many deployments were deleted so far, those of the given ones that were, if that is not ``since``)."""
        ...

    def create_execution(
        self, new: NewExecution, *, asks: bool | None = None, beside: ConcurrencyRule | None = None
    ) -> ExecutionRow:
        """The stored execution, status queued; ``asks`` as for ``create_deployment``.

        Raises: PL-C016 if an execution of the deployment is open or about to continue that ``beside`` does not allow (None:
        unless both bring resources to a target); PL-C010 if the deployment was deleted.
        """
        ...

    def grow(
        self, deployment: int, growth: ResourceAddition, actor: Actor, *, asks: bool | None = None
    ) -> Sequence[ExecutionRow]:
        """Add resources to a deployment of them, and store the executions that ``growth`` asks for, all or nothing.

        Raises: ``OutgrownError`` if another process has added resources meanwhile, PL-C010, PL-C016 as for ``create_execution``.
        """
        ...

    def pause_phase(self, name: str, actor: Actor, reason: str) -> bool:
        """Stop calls of a phase, from the owner's next read of ``paused_phases`` on; False if it was paused already."""
        ...

    def unpause_phase(self, name: str) -> bool:
        """Allow calls of a phase again; False if it was not paused."""
        ...

    def paused_phases(self) -> Mapping[str, PausedRow]:
        """{name of the phase in lower case: the pause}."""
        ...

    def know_phases(self, known: Mapping[str, str]) -> None:
        """Replace the known phases by these, {name in lower case: description}."""
        ...

    def known_phases(self) -> Mapping[str, str]:
        """The phases known to the last engine, so that none is skipped because its plugin was removed (PD8)."""
        ...

    def measures(self) -> Mapping[str, Metric]:
        """{name: measurement by engines} as of the latest turn that reported it."""
        ...

    def ask(
        self,
        kind: RequestKind,
        execution: int,
        body: Mapping[str, Value],
        actor: Actor,
        *,
        beside: ConcurrencyRule | None = None,
        answer: Mapping[str, Value] | None = None,
    ) -> int:
        """Store a request to the owner, present or next, and return its number. ``execution`` 0: it concerns none.

        ``answer``: it is stored with this answer, because it needs no owner.
        From a request to retry or complete an execution that has ended until its answer, it counts as open. Raises:
        PL-C016 if there is an open one already that ``beside`` does not let be.
        """
        ...

    def last_reload(self) -> int:
        """The number of the latest request to reload plugins and hook classes, answered or not; 0: there is none."""
        ...

    def requests(self, after: int = 0) -> Sequence[RequestRow]:
        """At most 1,000 unanswered requests with higher numbers, oldest first. Cheap while nothing is written."""
        ...

    def answer_of(self, request: int) -> Mapping[str, Value] | None:
        """The answer to a request; None while there is none."""
        ...

    def requests_of(self, execution: int) -> Sequence[RequestRow]:
        """All requests about an execution, answered or not, oldest first, with their actors."""
        ...

    def changed(self, since: int = 0) -> int:
        """0 if nothing was written since the call that returned ``since``; otherwise a new mark, which is not 0.

        Nearly free: ``if now := store.changed(seen): seen = now`` and read on. Each follower keeps its own mark.
        """
        ...

    def waiting(self) -> AbstractContextManager[None]:
        """A context in which this process is registered as waiting to take over from the owner, while it lives."""
        ...

    def somebody_waits(self) -> bool:
        """True while another process is in ``waiting``."""
        ...

    # -- the owner

    def commit(self, turn: Turn) -> None:
        """Write one turn of the loop. The only write of the hot path; checks the epoch."""
        ...

    def deployments(self) -> Sequence[DeploymentRow]:
        """All that are not deleted, by name."""
        ...

    def deployment(self, name: str) -> DeploymentRow | None:
        """The one that is not deleted, or None."""
        ...

    def blueprint(self, deployment: int) -> Blueprint:
        """The blueprint as it was stored."""
        ...

    def inputs(self, deployment: int) -> Mapping[str, Value]:
        """The inputs of a deployment, defaults included."""
        ...

    def topology(self, deployment: int) -> Topology:
        """Instances and relationship instances; a deployment of resources has another topology after it has grown."""
        ...

    def states(self, deployment: int) -> np.ndarray:
        """Instance states, uint8 by instance number."""
        ...

    def state_names(self, deployment: int) -> tuple[str, ...]:
        """The names of states of resources, by number from ``state_steps.FIRST_NAMED`` on."""
        ...

    def name_states(self, deployment: int, names: Sequence[str]) -> tuple[str, ...]:
        """Append missing names of states and return all. Raises: PL-S011 if there are too many."""
        ...

    def checks(self, deployment: int, *, only_results: bool = False) -> CheckResults:
        """The results of a deployment's checks; a copy. ``only_results``: without their messages, which may be long."""
        ...

    def documents(self, deployment: int, instances: Sequence[int] | None = None) -> Mapping[int, dict[str, Value]]:
        """{instance number: runtime properties}, only those that have any; None: all."""
        ...

    def executions(self, deployment: int | None = None, *, only_open: bool = False) -> Sequence[ExecutionRow]:
        """By number, oldest first; open ones are those not ended."""
        ...

    def execution(self, id: str) -> ExecutionRow | None:
        """By its id, or None."""
        ...

    def around(self, execution: int) -> PrePost:
        """The hooks and tasks around an execution; empty if none were stored with it."""
        ...

    def graphs(self, execution: int) -> Sequence[GraphRow]:
        """In the order of their rounds."""
        ...

    def graph(self, graph: int) -> Graph:
        """One graph with its columns."""
        ...

    def statuses(self, graph: int) -> np.ndarray:
        """Stored statuses by position, uint8; entries never written are blocked, those in calls have their former status."""
        ...

    def entry_statuses(self, graph: int, calls: Sequence[BatchRow] | None = None) -> EntryStatuses:
        """Statuses by position, running ones included.

        ``calls``: open batches with members of the graph, from a caller that has read them; None: all, or none if the
        execution of the graph has ended.
        """
        ...

    def step_counts(self, graph: int) -> Mapping[int, Mapping[EntryStatus, int]]:
        """{place of the step in the graph: {status: number of its entries}}; statuses without entries are left out."""
        ...

    def notes(self, graph: int, *, among: Collection[int] | None = None) -> Sequence[NoteRow]:
        """By position; only those ``among`` these positions, if they are given."""
        ...

    def messages(self, graph: int) -> Mapping[int, tuple[int, str]]:
        """{position: (due in ms, message)} of all notes, without their errors and results, for reading very many."""
        ...

    def batches(self, *, execution: int | None = None, only_open: bool = False) -> Sequence[BatchRow]:
        """By id; members of other executions included."""
        ...

    def runs_of(self, lane: str, *, last: int = 100) -> LaneStatistics:
        """Statistics of the stored batches of a lane, of all executions."""
        ...

    def set_process_group(self, batch: int, process_group: int) -> None:
        """Store the process group to end when the engine dies."""
        ...

    def logs(
        self, execution: int, *, after: int = 0, instance: int | None = None, limit: int = 10_000
    ) -> Sequence[LogLine]:
        """By sequence number."""
        ...

    def events(self, execution: int, *, after: int = 0, limit: int = 10_000) -> Sequence[EventRow]:
        """By sequence number."""
        ...

    # -- maintenance: from any process, while an engine runs

    def check(self) -> Sequence[StoreFinding]:
        """All inconsistencies in the store, without changing it. Empty: the store is sound."""
        ...

    def backup(self, path: str) -> int:
        """Copy the present store into a new file, check the copy, and return its size in bytes.

        Raises: PL-S006 if the file exists or cannot be written.
        """
        ...

    def compact(self) -> Compacted:
        """Return free space to the operating system, in steps that hardly slow a running engine."""
        ...

    def purge(self, before: int, *, deployment: int | None = None) -> Purged:
        """Remove executions that ended before this time (ms) with everything about them, of one deployment or of all.

        Executions stay that are open, have running calls or unanswered requests. A deployment that is not deleted keeps its
        last ``install`` and the last completed one. A deleted deployment is removed with its last execution.
        """
        ...

    def close(self) -> None:
        """Release files; safe to call twice."""
        ...
