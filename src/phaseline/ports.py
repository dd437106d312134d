"""What the core and the use cases need of the outside, as protocols: Clock, Store, Executor, Catalog, Secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from phaseline.model.rows.shelves import Shelves

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np

    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.blueprint.operation_declaration import Declaration
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.events import Batch
    from phaseline.model.execution.pre_post import PinnedHookClass, PrePost
    from phaseline.model.graph.graph import Graph
    from phaseline.model.graph.status import EntryStatus
    from phaseline.model.health.checks import CheckResults
    from phaseline.model.phases.definitions import PhaseCode
    from phaseline.model.resources.resources import ResourceAddition
    from phaseline.model.rows.incarnations import Incarnation
    from phaseline.model.rows.maintenance import Compacted, Purged, StoreFinding
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import (
        Actor,
        BatchRow,
        ConcurrencyRule,
        DeploymentRow,
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


class Clock(Protocol):
    """Time as integer milliseconds: wall clock at start plus monotonic since, so it never goes back."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...


class SecretSource(Protocol):
    """Gives secrets to calls, and keeps them out of everything that is written (decision 30). Safe from any thread."""

    def get(self, name: str) -> str:
        """The secret's text, which is masked from now on. ``KeyError`` if there is none."""
        ...

    def missing(self, names: Collection[str]) -> Sequence[str]:
        """Those of the names that no secret has, sorted."""
        ...

    def learn(self, value: Value) -> None:
        """Have no text or number within the value written in clear from now on."""
        ...

    def masked(self, text: str) -> str:
        """The text without the values that are known."""
        ...

    def knows(self, text: str) -> bool:
        """Whether a known value stands whole in the text."""
        ...

    def sealed(self, value: Value) -> Value:
        """The value as it is to be stored: encrypted where it holds a known value. The same object if nowhere."""
        ...

    def unsealed(self, value: Value) -> Value:
        """What was sealed, as calls see it, and known from now on. Raises: PL-S020, PL-S023."""
        ...

    @property
    def guards(self) -> bool:
        """False while there is nothing to mask and nothing sealed: then all may be written as it is."""
        ...

    @property
    def has_seals(self) -> bool:
        """False while nothing that was stored can be sealed."""
        ...


class IncarnationShelf(Protocol):
    """Lives of a store (BK4): what is made after a restore has tokens of its own, and what was open waits for a person (BK5)."""

    def all(self) -> Sequence[Incarnation]:
        """Those after the first, oldest first; none where the store was never restored."""
        ...

    def held(self) -> int:
        """Open executions up to this number wait for ``go_on``, and so do requests from before the restore; 0: none does."""
        ...

    def go_on(self, actor: Actor, now: int) -> Sequence[ExecutionRow]:
        """Let what waits go on, with a request to take each up; those executions, oldest first."""
        ...


class Store(Shelves, Protocol):
    """Remembers everything. Every method is one transaction; reads see what was committed.

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
        """Within it all that this thread reads sees the same moment; nothing is written there."""
        ...

    def counters(self) -> tuple[int, int]:
        """(next graph id, next batch id)."""
        ...

    @property
    def incarnations(self) -> IncarnationShelf:
        """Lives of the store since it was first restored, and what waits since then."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What opening the store did that a user should hear of, such as an upgrade and where the copy before it lies."""
        ...

    # -- asking: any process may, whoever owns the store (ADR 0008)

    def as_one(self, order: NewOrder | None = None) -> AbstractContextManager[dict[str, Value]]:
        """Within it all that this thread writes is one transaction, stored when it is left, all or nothing; what it reads
        meanwhile need not show it.

        With an ``order`` a row of it is part of the transaction: with the executions and requests that are made within, and as its
        ``answer`` the mapping that this yields, as it is at the end. Raises: ``GivenBeforeError`` at once if there is one.
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

        Raises: PL-C016 if an execution of the deployment is open or about to go on that ``beside`` does not let be (None:
        unless both bring resources to a target); PL-C010 if the deployment was deleted.
        """
        ...

    def grow(
        self, deployment: int, growth: ResourceAddition, actor: Actor, *, asks: bool | None = None
    ) -> Sequence[ExecutionRow]:
        """Add resources to a deployment of them, and store the executions that ``growth`` asks for, all or nothing.

        Raises: ``OutgrownError`` if somebody else has added resources meanwhile, PL-C010, PL-C016 as for ``create_execution``.
        """
        ...

    def pause_phase(self, name: str, actor: Actor, reason: str) -> bool:
        """Have a phase called no more, from when the owner reads ``paused_phases``; False if it was paused already."""
        ...

    def unpause_phase(self, name: str) -> bool:
        """Have it called again; False if it was not paused."""
        ...

    def paused_phases(self) -> Mapping[str, PausedRow]:
        """{name of the phase in lower case: the pause}."""
        ...

    def know_phases(self, known: Mapping[str, str]) -> None:
        """Remember these phases, {name in lower case: what is said of it}, instead of those that were remembered."""
        ...

    def known_phases(self) -> Mapping[str, str]:
        """The phases that the last engine knew, so that none is passed over because its plugin is gone (PD8)."""
        ...

    def measures(self) -> Mapping[str, Metric]:
        """{name: what engines have measured of it} as of the latest turn that told."""
        ...

    def ask(
        self,
        kind: RequestKind,
        execution: int,
        body: Mapping[str, Value],
        actor: Actor,
        *,
        beside: ConcurrencyRule | None = None,
    ) -> int:
        """The number of a new request to the owner, present or next. ``execution`` 0: it concerns none.

        From a request to retry or complete an execution that has ended until its answer, it counts as open. Raises:
        PL-C016 if there is an open one already that ``beside`` does not let be.
        """
        ...

    def requests(self, after: int = 0) -> Sequence[RequestRow]:
        """At most 1,000 unanswered requests with higher numbers, oldest first. Cheap while nothing is written."""
        ...

    def answer_of(self, request: int) -> Mapping[str, Value] | None:
        """The answer to a request; None while there is none."""
        ...

    def requests_of(self, execution: int) -> Sequence[RequestRow]:
        """All requests about an execution, answered or not, oldest first: who wanted what."""
        ...

    def changed(self, since: int = 0) -> int:
        """0 if nothing was written since the look that gave ``since``; otherwise the present look, which is not 0.

        Costs next to nothing: ``if now := store.changed(seen): seen = now`` and read on. Each follower has its own look.
        """
        ...

    def waiting(self) -> AbstractContextManager[None]:
        """Be known, while it lasts and this process lives, as somebody who would take over from the owner."""
        ...

    def somebody_waits(self) -> bool:
        """True while somebody else is in ``waiting``."""
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
        """Instances and relationship instances; of a deployment of resources another one after it has grown."""
        ...

    def states(self, deployment: int) -> np.ndarray:
        """Instance states, uint8 by instance number."""
        ...

    def state_names(self, deployment: int) -> tuple[str, ...]:
        """What states of resources are called, by number from ``state_steps.FIRST_NAMED`` on."""
        ...

    def name_states(self, deployment: int, names: Sequence[str]) -> tuple[str, ...]:
        """The same, after names that were missing have been appended. Raises: PL-S011 if there are too many."""
        ...

    def checks(self, deployment: int, *, only_results: bool = False) -> CheckResults:
        """What checks of a deployment have found; a copy. ``only_results``: without what they said, which may be much."""
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
        """What surrounds an execution; nothing where nothing was stored with it."""
        ...

    def graphs(self, execution: int) -> Sequence[GraphRow]:
        """In the order of their rounds."""
        ...

    def graph(self, graph: int) -> Graph:
        """One graph with its columns."""
        ...

    def statuses(self, graph: int) -> np.ndarray:
        """Status bytes by position; entries never written are blocked."""
        ...

    def step_counts(self, graph: int) -> Mapping[int, Mapping[EntryStatus, int]]:
        """{place of the step in the graph: {status: how many of its entries}}; statuses with none are left out."""
        ...

    def notes(self, graph: int, *, among: Collection[int] | None = None) -> Sequence[NoteRow]:
        """By position; only those ``among`` these positions, if they are given."""
        ...

    def messages(self, graph: int) -> Mapping[int, tuple[int, str]]:
        """{position: (due in ms, message)} of all notes, without their errors and results: for a look at very many."""
        ...

    def batches(self, *, execution: int | None = None, only_open: bool = False) -> Sequence[BatchRow]:
        """By id; members of other executions included."""
        ...

    def runs_of(self, lane: str, *, last: int = 100) -> LaneStatistics:
        """The batches of a lane that are remembered, of all executions."""
        ...

    def set_process_group(self, batch: int, process_group: int) -> None:
        """Remember whom to end when the engine dies."""
        ...

    def logs(
        self, execution: int, *, after: int = 0, instance: int | None = None, limit: int = 10_000
    ) -> Sequence[LogLine]:
        """By sequence number."""
        ...

    def events(self, execution: int, *, after: int = 0, limit: int = 10_000) -> Sequence[EventRow]:
        """By sequence number."""
        ...

    # -- upkeep: any process may, while an engine runs

    def check(self) -> Sequence[StoreFinding]:
        """Everything in the store that does not fit together; nothing is changed. Empty: it is sound."""
        ...

    def backup(self, path: str) -> int:
        """Copy the store as it is at this moment into a new file, check the copy, give its size in bytes.

        Raises: PL-S006 if the file exists or cannot be written.
        """
        ...

    def compact(self) -> Compacted:
        """Give free space back to the operating system, in steps that an engine at work hardly notices."""
        ...

    def purge(self, before: int, *, deployment: int | None = None) -> Purged:
        """Remove executions that ended before this time (ms) with everything about them, of one deployment or of all.

        Those stay that are open, have calls running or requests unanswered, and of a deployment that is not deleted its
        last ``install`` and the last one that completed. Of a deleted deployment nothing stays after its last execution.
        """
        ...

    def close(self) -> None:
        """Release files; safe to call twice."""
        ...


class Catalog(Protocol):
    """Finds plugin code. ``declare`` reads source text and runs nothing."""

    def declare(self, implementation: str, code: CodeLocation) -> Declaration | None:
        """What the function ``module.function`` says of itself; None when its source cannot be found."""
        ...

    def load(self, implementation: str, code: CodeLocation) -> Callable[..., object]:
        """The function itself, imported. Raises ``ImportError``, ``AttributeError`` or what the import raised."""
        ...

    def load_hook(self, hook: PinnedHookClass) -> Callable[[], object]:
        """What gives the object of a hook class that is called; raises as ``load``."""
        ...

    def load_phase(self, code: PhaseCode) -> Callable[..., object]:
        """The function of a phase as it is in force now; raises as ``load``."""
        ...


class Executor(Protocol):
    """Calls plugins. Submit and outcome are separate: outcomes come through an inbox."""

    def slots(self) -> Mapping[str, int]:
        """{pool name: how many calls it can hold at once}."""
        ...

    def submit(self, batch: Batch) -> None:
        """Begin the calls of a batch; returns at once."""
        ...

    def cancel(self, batch: int, members: np.ndarray, *, kill: bool) -> None:
        """Tell running members that they are canceled; end their processes if ``kill``."""
        ...

    def hold(self) -> None:
        """Begin no member that has not begun; their batches stay open. Running calls go on."""
        ...

    def release(self) -> None:
        """Begin what was held back, and what is submitted from now on."""
        ...

    def is_busy(self) -> bool:
        """True while a call is running."""
        ...

    def recover(self, open_batches: Sequence[BatchRow]) -> None:
        """End what a dead engine left running, before its batches are called lost."""
        ...

    def stop(self, drain_s: float) -> None:
        """Wait for running calls at most so long, then end them. Whatever comes back by then is in the inbox at the end.

        Members that have not begun come back uncalled, as ``again``; those that had to be ended do not come back.
        """
        ...
