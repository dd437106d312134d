"""Protocols of what a use case may read from a store and request: the rows of one tenant (rule RF4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from phaseline.model.rows.shelves import Shelves
from phaseline.ports.execution_reads import ExecutionReads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.execution.pre_post import PrePost
    from phaseline.model.graph.status import EntryStatus
    from phaseline.model.health.checks import CheckResults
    from phaseline.model.resources.resources import ResourceAddition
    from phaseline.model.rows.incarnations import Incarnation
    from phaseline.model.rows.maintenance import Purged, PurgeRules
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
    )


class Incarnations(Protocol):
    """Incarnations of a store: each restore from a backup starts a new one, whose calls get new tokens (BK4)."""

    def all(self) -> Sequence[Incarnation]:
        """Return the incarnations after the first one, oldest first; empty if the store was never restored."""
        ...

    def held(self) -> int:
        """Return the highest number of an execution that waits since a restore until an operator continues it, or 0.

        All open executions up to this number wait, and so do unanswered requests from before the restore.
        """
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


class StoreReads(ExecutionReads, Protocol):
    """What is read from a store: the rows of one tenant, or all. Reads see committed data.

    Errors: a damaged, newer, locked or full store raises ``ProblemsError`` (PL-S...). A number that no row has raises
    ``LookupError``, or gives nothing. The owner, the identity, the incarnations, wake-ups, known phases and
    measurements are of the whole store; they name no row of a tenant.
    """

    @property
    def incarnations(self) -> Incarnations:
        """Incarnations of the store since its first restore, with the executions that a restore made wait."""
        ...

    def somebody_waits(self) -> bool:
        """Return True while another process is within the context ``waiting``."""
        ...

    def identity(self) -> str:
        """Return the store's random name. Every token contains this name and the incarnation's name."""
        ...

    def at_once(self) -> AbstractContextManager[object]:
        """Return a context in which all reads of this thread see one state of the store. Writing in it is forbidden."""
        ...

    def known_phases(self) -> Mapping[str, str]:
        """Return {name in lower case: description} of the phases that the last engine knew.

        With it the next engine notices a phase whose plugin was removed, and does not skip the phase silently (PD8).
        """
        ...

    def measures(self) -> Mapping[str, Metric]:
        """Return {name: the latest measurement that an engine stored under this name}."""
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

    def listen_for_answers(self, wake: Callable[[], None]) -> AbstractContextManager[None]:
        """Return a context in which ``wake`` is called after a turn with answers was stored through this process' store.

        ``wake`` is called as in ``ports.store.Store.listen``. A thread that waits for an answer of another process must
        look by itself.
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

    def logs(
        self, execution: int, *, after: int = 0, instance: int | None = None, limit: int = 10_000
    ) -> Sequence[LogLine]:
        """Return at most ``limit`` log lines of an execution with sequence numbers above ``after``, in their order.

        With ``instance`` return only the lines of this instance number.
        """
        ...


class StoreRequests(Protocol):
    """What any process writes, not only the owner of the store (ADR 0008). Every method is one transaction."""

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

    def name_states(self, deployment: int, names: Sequence[str]) -> tuple[str, ...]:
        """Append those of ``names`` that are missing to the deployment's state names; return all of its state names.

        Raises: PL-S011 if there are too many.
        """
        ...

    def purging(self, rules: PurgeRules) -> PurgeRound:
        """Begin to remove what is older than the rules allow; each ``slice`` of the returned object removes a part.

        Executions are kept if they are open, have running calls or have unanswered requests. For a deployment that is
        not deleted, these are kept, too: its last ``install``, its last completed ``install``, and failed executions
        whose target some resources still have. A deleted deployment is removed once it has no execution. Of the log
        lines and of the events of an execution, the last one is kept, because later ones are numbered after it.
        """
        ...


class StoreRows(StoreReads, StoreRequests, Shelves, Protocol):
    """Rows of a store, of one tenant or all: what code takes that serves use cases and the engine alike."""


class TenantStore(StoreRows, Protocol):
    """What one tenant has in a store. Another tenant's rows are as if they did not exist (ADR 0050).

    A tenant's names are its own: two tenants may each have a deployment ``shop``. Whatever is written belongs to the
    tenant, even if the given user belongs to another one.
    """

    @property
    def tenant(self) -> str:
        """The name of the tenant."""
        ...
