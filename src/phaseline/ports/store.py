"""Protocol of the store, which keeps everything: reads, requests that any process makes, and writes of the owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from phaseline.model.rows.rows import ONLY_SHARD
from phaseline.model.rows.shelves import Shelves
from phaseline.ports.execution_reads import ExecutionReads

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.execution.pre_post import PrePost
    from phaseline.model.graph.status import EntryStatus
    from phaseline.model.health.checks import CheckResults
    from phaseline.model.resources.resources import ResourceAddition
    from phaseline.model.rows.incarnations import Incarnation
    from phaseline.model.rows.maintenance import Compacted, Purged, PurgeRules, StoreFinding
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import (
        Actor,
        ConcurrencyRule,
        DeploymentRow,
        ExecutionRow,
        LaneStatistics,
        LogLine,
        Metric,
        NewDeployment,
        NewExecution,
        RequestKind,
        RequestRow,
        Turn,
    )
    from phaseline.ports.lease import Lease


class IncarnationShelf(Protocol):
    """Incarnations of a store: each restore from a backup starts a new one, whose calls get new tokens (BK4).

    Executions that were open at the restore wait until an operator calls ``go_on`` (BK5).
    """

    def all(self) -> Sequence[Incarnation]:
        """Return the incarnations after the first one, oldest first; empty if the store was never restored."""
        ...

    def held(self) -> int:
        """Return the highest number of an execution that waits for ``go_on`` since a restore, or 0 if none waits.

        All open executions up to this number wait, and so do unanswered requests from before the restore.
        """
        ...

    def go_on(self, actor: Actor, now: int) -> Sequence[ExecutionRow]:
        """Store a request to start each execution that waits since a restore; return these executions, oldest first."""
        ...


class PurgeRound(Protocol):
    """A purge in slices, which may stop after any of them. A later purge removes what this one has left."""

    @property
    def is_over(self) -> bool:
        """True if nothing is left to remove."""
        ...

    def slice(self) -> Purged:
        """Remove some rows in one transaction of at most about 50 ms; return the counts.

        After an error nothing is removed, and the object must not be used any more.
        """
        ...


class Store(Shelves, ExecutionReads, Protocol):
    """Keeps everything that Phaseline knows. Every method is one transaction; reads see committed data.

    Errors: a damaged, newer, locked or full store raises ``ProblemsError`` (PL-S...).
    """

    def own(self, command: str) -> AbstractContextManager[Lease]:
        """Become the owner of the store within the context, which yields the lease.

        ``command`` names this process to others. Raises: PL-S004 if another process is the owner; the message has its
        pid and command.
        """
        ...

    def identity(self) -> str:
        """Return the store's random name. Every token contains this name and the incarnation's name."""
        ...

    def at_once(self) -> AbstractContextManager[object]:
        """Return a context in which all reads of this thread see one state of the store. Writing in it is forbidden."""
        ...

    def counters(self, shard: int = ONLY_SHARD) -> tuple[int, int]:
        """Return (the id of the next graph of a shard, the id of its next batch)."""
        ...

    @property
    def incarnations(self) -> IncarnationShelf:
        """Incarnations of the store since its first restore, with the executions that a restore made wait."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """Messages for the user from opening the store, such as "upgraded" with the path of the copy made before."""
        ...

    # -- requests: from any process, not only the owner of the store (ADR 0008)

    def as_one(self, order: NewOrder | None = None) -> AbstractContextManager[dict[str, Value]]:
        """Return a context in which all writes of this thread are one transaction, committed at its end or not at all.

        Reads within the context need not see its writes. With an ``order`` (a command with a request id) the
        transaction also stores the order's row: the executions and requests made within, and as ``answer`` what the
        caller has put into the yielded mapping. Raises: ``GivenBeforeError`` at once if the order is already stored.
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
        """Store a deployment, and an execution if ``request`` is given; return (deployment number, execution or None).

        ``request.deployment`` is ignored. ``replaces``: number of a deployment to delete in the same transaction; the
        new deployment takes its name. ``asks``: also store a ``start`` request for the execution; None means True
        unless this process is the owner, which starts the execution itself. Raises: PL-S010 if the name is taken,
        PL-C016 if an execution of the replaced deployment is open.
        """
        ...

    def delete_deployment(self, deployment: int, actor: Actor | None = None) -> None:
        """Delete a deployment, so that its name is free again; its executions stay.

        Raises: PL-C016 if one of them is open.
        """
        ...

    def deleted(self, deployments: Collection[int], since: int = 0) -> tuple[int, Sequence[int]]:
        """Return (number of deployments ever deleted, which of the given deployments are deleted).

        ``since`` is the first number from an earlier call: if it has not changed, the second value is empty.
        """
        ...

    def create_execution(
        self, new: NewExecution, *, asks: bool | None = None, beside: ConcurrencyRule | None = None
    ) -> ExecutionRow:
        """Store an execution with status queued and return its row. ``asks`` works as in ``create_deployment``.

        ``beside`` returns True for an open execution that may run beside the new one; None allows this only if both
        bring resources to a target. Raises: PL-C016 if an execution of the deployment is open, or was requested to
        continue, and may not run beside the new one; PL-C010 if the deployment was deleted.
        """
        ...

    def grow(
        self, deployment: int, growth: ResourceAddition, actor: Actor, *, asks: bool | None = None
    ) -> Sequence[ExecutionRow]:
        """Add resources to a cluster, and store the executions that ``growth`` requests; all or nothing.

        Raises: ``OutgrownError`` if another process has added resources since ``growth`` was made; PL-C010 and PL-C016
        for the reasons given in ``create_execution``.
        """
        ...

    def pause_phase(self, name: str, actor: Actor, reason: str) -> bool:
        """Pause a phase: the owner starts no calls of it once it has read ``paused_phases``.

        Return False if already paused.
        """
        ...

    def unpause_phase(self, name: str) -> bool:
        """End the pause of a phase. Return False if the phase was not paused."""
        ...

    def know_phases(self, known: Mapping[str, str]) -> None:
        """Replace the stored list of known phases by ``known``: {name in lower case: description}."""
        ...

    def known_phases(self) -> Mapping[str, str]:
        """Return {name in lower case: description} of the phases that the last engine knew.

        With it the next engine notices a phase whose plugin was removed, and does not skip the phase silently (PD8).
        """
        ...

    def measures(self) -> Mapping[str, Metric]:
        """Return {name: the latest measurement that an engine stored under this name}."""
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
        """Store a request to the present or next owner and return its number. ``execution`` is 0 if it concerns none.

        ``answer``: store this answer with the request, for a request that needs no owner. A request to retry or
        complete an ended execution makes the execution count as open until the request is answered. Raises: PL-C016 if
        another execution is open and ``beside`` (see ``create_execution``) does not allow it.
        """
        ...

    def last_reload(self) -> int:
        """Return the number of the latest request to reload plugins and hook classes, answered or not; 0 if none."""
        ...

    def requests(self, after: int = 0) -> Sequence[RequestRow]:
        """Return up to 1,000 unanswered requests with numbers above ``after``, oldest first.

        Cheap if nothing was written.
        """
        ...

    def answer_of(self, request: int) -> Mapping[str, Value] | None:
        """Return the answer to a request, or None while it is unanswered."""
        ...

    def changed(self, since: int = 0) -> int:
        """Return 0 if nothing was written since the call that returned ``since``; otherwise a number above 0.

        The number is the next ``since``. A call is nearly free, so poll with ``if now := store.changed(seen): seen = now``
        and read only then. Each follower keeps such a number for itself.
        """
        ...

    def listen(self, wake: Callable[[], None]) -> AbstractContextManager[int]:
        """Return a context in which ``wake`` is called after a request was stored. Only the owner listens (RF6).

        ``wake`` is called from any thread, also from the one that stores the request, and so must only set a flag or end
        a wait. It may be called without need. A request of this process is always followed by a call; a call for a
        request of another process may be lost. So the context yields how often, in ms, the owner must read ``requests``
        by itself.
        """
        ...

    def listen_for_answers(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context in which ``wake`` is called after a turn with answers was stored through this object.

        ``wake`` is called as in ``listen``. A thread that waits for an answer of another process must look by itself.
        """
        ...

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context that registers this process as waiting to become the owner after the present one."""
        ...

    def somebody_waits(self) -> bool:
        """Return True while another process is within the context ``waiting``."""
        ...

    # -- the owner

    def commit(self, turn: Turn) -> None:
        """Write one turn of the engine's loop, as the owner.

        Refused if another process has become the owner (other epoch).
        """
        ...

    def refresh_lists(self) -> None:
        """Write some of what lists read of deployments whose executions have ended, as the owner.

        Call it when there is nothing else to do. Lists show the same before and after, but take less time then.
        """
        ...

    def deployments(self) -> Sequence[DeploymentRow]:
        """Return all deployments that are not deleted, sorted by name."""
        ...

    def blueprint(self, deployment: int) -> Blueprint:
        """Return the stored blueprint of a deployment."""
        ...

    def inputs(self, deployment: int) -> Mapping[str, Value]:
        """Return the inputs of a deployment, including those that have their default value."""
        ...

    def name_states(self, deployment: int, names: Sequence[str]) -> tuple[str, ...]:
        """Append those of ``names`` that are missing to the deployment's state names; return all of its state names.

        Raises: PL-S011 if there are too many.
        """
        ...

    def checks(self, deployment: int, *, only_results: bool = False) -> CheckResults:
        """Return a copy of a deployment's check results.

        ``only_results`` leaves out the messages, which may be long.
        """
        ...

    def execution(self, id: str) -> ExecutionRow | None:
        """Return the execution with this id, or None."""
        ...

    def around(self, execution: int) -> PrePost:
        """Return the hooks and stage tasks before and after an execution; empty if none were stored with it."""
        ...

    def step_counts(self, graph: int) -> Mapping[int, Mapping[EntryStatus, int]]:
        """Return {index of the step in the graph: {status: number of its entries}}, without empty statuses."""
        ...

    def runs_of(self, lane: str, *, last: int = 100) -> LaneStatistics:
        """Return statistics of a lane's stored batches, over all executions, with the ``last`` latest batches."""
        ...

    def set_process_group(self, batch: int, process_group: int) -> None:
        """Store the process group of a batch's call. The next engine ends this group if the present engine dies."""
        ...

    def logs(
        self, execution: int, *, after: int = 0, instance: int | None = None, limit: int = 10_000
    ) -> Sequence[LogLine]:
        """Return at most ``limit`` log lines of an execution with sequence numbers above ``after``, in their order.

        With ``instance`` return only the lines of this instance number.
        """
        ...

    # -- maintenance: from any process, while an engine runs

    def sizes(self) -> tuple[int, int]:
        """Return (size of the stored data, size of the write-ahead log) in bytes; 0 for what does not exist."""
        ...

    def server_checks(self) -> Sequence[tuple[Literal["ok", "warn", "fail"], str, str, str]]:
        """Return findings about the database server: (level, name, text, remedy); empty if there is no server."""
        ...

    def check(self) -> Sequence[StoreFinding]:
        """Return all inconsistencies in the store, and change nothing.

        An empty result means that the store is sound.
        """
        ...

    def backup(self, path: str) -> int:
        """Copy the store's present state into a new file, check the copy, and return its size in bytes.

        Raises: PL-S006 if the file exists or cannot be written.
        """
        ...

    def compact(self) -> Compacted:
        """Return free space of the store's file to the operating system, in steps that hardly slow a running engine."""
        ...

    def purging(self, rules: PurgeRules) -> PurgeRound:
        """Begin to remove what is older than the rules allow; each ``slice`` of the returned object removes a part.

        Executions are kept if they are open, have running calls or have unanswered requests. For a deployment that is
        not deleted, these are kept, too: its last ``install``, its last completed ``install``, and failed executions
        whose target some resources still have. A deleted deployment is removed once it has no execution. Of the log
        lines and of the events of an execution, the last one is kept, because later ones are numbered after it.
        """
        ...

    def close(self) -> None:
        """Close the store's files. Safe to call twice."""
        ...
