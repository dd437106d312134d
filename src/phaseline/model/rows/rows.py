"""Rows of the store as values, to be written or as read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import EntryStatus, ExecutionStatus, OutcomeKind

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.blueprint.labels import Relabelled
    from phaseline.model.deployment.code_location import CodeLocation
    from phaseline.model.deployment.runtime_properties import PropertyPath
    from phaseline.model.deployment.stack_documents import Drop, NewDocument
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.events import Changes
    from phaseline.model.execution.execution import Request
    from phaseline.model.execution.pre_post import PrePost
    from phaseline.model.graph.batch_members import MemberPositions
    from phaseline.model.health.checks import NewCheckResults
    from phaseline.model.packages.installed import PackageUse
    from phaseline.model.rows.causes import AwaitChanges, CauseKey
    from phaseline.model.rows.dependencies import ConsumerDependencies, Dependency


DEFAULT_TENANT = "default_tenant"
"""Name of the tenant that always exists; it is the only one of an embedded store."""


@frozen
class Actor:
    """The user of a request: the operating-system user if nothing else is known."""

    name: str
    tenant: str = DEFAULT_TENANT


@frozen
class Owner:
    """The process that owns a store. ``since`` is in ms; pid 0 means that the process is unknown.

    ``holder`` is the random name of this ownership; "" if an older version of Phaseline owns the store. ``host`` is the
    name of the process's machine; "" if it is this machine.
    """

    pid: int
    command: str
    since: int
    holder: str = ""
    host: str = ""

    def __str__(self) -> str:
        """Return text for a sentence's subject, such as ``Process 4711 (phaseline install shop.yaml, since 2026-01-01 10:00:00 UTC)``."""
        if not self.pid:
            return f"Another process ({self.command})" if self.command else "Another process"
        since = datetime.fromtimestamp(self.since / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        place = f" on {self.host}" if self.host else ""
        return f"Process {self.pid}{place} ({self.command}, since {since})"


ONLY_SHARD = 0
"""Number of the shard that all deployments belong to (HA1); see ``shard_ids``."""
IDS_OF_A_SHARD = 1 << 48
"""How many ids of graphs, and of batches, each shard can give."""
DeploymentKind = Literal["blueprint", "resources"]
"""What a deployment was made from. To one of ``resources``, resources can be added, and several executions may be open."""


@frozen
class NewDeployment:
    """A deployment to be stored in one transaction. ``properties`` of nodes are already evaluated in ``topology``.

    ``uses`` is {namespace: number} of the stored blueprints that it needs; its own blueprint has an empty namespace.
    ``packages`` are its uses of plugin packages; their ``deployment`` is ignored. ``documents`` is {instance number:
    runtime properties} of adopted instances. ``cause`` is what makes it, if that is not a user. ``dependencies`` are the
    records of the deployments that it reads. Without ``has_enabled_schedules`` those of its blueprint are disabled.
    ``site`` is the name of its site, or "".
    """

    name: str
    blueprint: Blueprint
    inputs: Mapping[str, Value]
    topology: Topology
    code: CodeLocation
    actor: Actor
    created_at: int
    kind: DeploymentKind = "blueprint"
    uses: Mapping[str, int] = field(default_factory=dict)
    packages: Sequence[PackageUse] = ()
    documents: Mapping[int, Mapping[str, Value]] = field(default_factory=dict)
    cause: CauseKey | None = None
    dependencies: Sequence[Dependency] = ()
    has_enabled_schedules: bool = True
    site: str = ""


@frozen
class DeploymentRow:
    """A stored deployment without its documents. Times are in ms.

    ``flaw`` is why its code cannot be found; then it can only be listed.
    """

    number: int
    name: str
    blueprint_file: str
    description: str
    code: CodeLocation
    created_at: int
    created_by: str
    instance_count: int
    kind: DeploymentKind = "blueprint"
    flaw: str = ""
    tenant: str = DEFAULT_TENANT


@frozen
class NewExecution:
    """An execution to be stored; its id consists of the workflow and a number, such as ``install-7``.

    ``around`` has the hooks and tasks before and after it. If it is given, its request has ``is_surrounded``. ``cause``
    is what starts it, if that is not a user.
    """

    deployment: int
    request: Request
    actor: Actor
    created_at: int
    around: PrePost | None = None
    cause: CauseKey | None = None


@frozen
class ExecutionRow:
    """A stored execution. Times are in ms (0: not yet). ``attempt`` counts how often a retry reopened it."""

    number: int
    id: str
    deployment: int
    deployment_name: str
    request: Request
    status: ExecutionStatus
    reason: str
    attempt: int
    created_at: int
    started_at: int
    ended_at: int
    created_by: str
    tenant: str = DEFAULT_TENANT


ConcurrencyRule = Callable[[ExecutionRow], bool]
"""A function that returns whether an execution may be stored or continued while the given execution is open."""


@frozen
class BatchRow:
    """A stored batch. ``places`` are the entries of its members.

    ``closed_at`` is 0 while it is open. ``kinds`` (uint8 by member) are the outcomes so far, None if there are none.
    """

    id: int
    phase: str
    places: MemberPositions
    started_at: int
    deadline_at: int
    closed_at: int
    kinds: np.ndarray | None
    process_group: int = 0

    @property
    def segments(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (graph id, positions int32) in the order of the members."""
        return self.places.parts()


class EntryStatuses:
    """Statuses of a graph's entries by position, uint8.

    A store writes no page when a call begins, so ``stored`` has the status from before the call. ``now`` has running for
    the members of open calls.
    """

    __slots__ = ("now", "stored")

    def __init__(self, stored: np.ndarray, now: np.ndarray) -> None:
        """Keep two columns of one graph: the stored statuses and the present ones."""
        self.stored, self.now = stored, now

    @classmethod
    def of(cls, stored: np.ndarray, graph: int, calls: Sequence[BatchRow]) -> EntryStatuses:
        """Return the statuses of a graph with these open batches; members of other graphs are ignored.

        An entry stored as running without an open batch ran when a process died: it waits to be called again.
        """
        now = stored.copy()
        now[now == EntryStatus.RUNNING] = EntryStatus.WAITING
        for batch in calls:
            first = 0
            for number, positions in batch.segments:
                answers = batch.kinds[first : first + len(positions)] if batch.kinds is not None else None
                first += len(positions)
                if number == graph:
                    now[positions if answers is None else positions[answers == OutcomeKind.PENDING]] = (
                        EntryStatus.RUNNING
                    )
        return cls(stored, now)


@frozen
class LaneStatistics:
    """The batches of a lane: the number of stored ones and the total time of the closed ones.

    ``last``: the latest batches, by id.
    """

    count: int
    took_ms: int
    last: Sequence[BatchRow]


@frozen
class GraphRow:
    """A stored graph without its columns. ``attempt`` is the attempt in which it was planned or last continued.

    ``created_at`` is in ms; 0 means unknown.
    """

    id: int
    execution: int
    name: str
    attempt: int
    entry_count: int
    created_at: int = 0


ASKED = {"type": "again"}
"""Value of ``error`` that means no error: an earlier call had failed, but the last one ended with "again"."""


@frozen
class NoteRow:
    """The stored details of one entry beyond its status byte. ``due`` in ms; ``error`` is {type, traceback}, or empty."""

    position: int
    attempts: int = 0
    generation: int = 0
    due: int = 0
    message: str = ""
    error: Mapping[str, str] = field(default_factory=dict)
    result: Value = None

    @property
    def retries(self) -> int:
        """The number of retries of a failing call; 0 if the last call did not fail but asked for another call."""
        return 0 if self.error.get("type") == ASKED["type"] else self.attempts


class RequestKind(StrEnum):
    """The kinds of requests that a process sends to the owner of the store (ADR 0008)."""

    START = "start"
    CANCEL = "cancel"
    RETRY = "retry"
    COMPLETE = "complete"
    WAKE = "wake"
    SIGNAL = "signal"
    APPROVE = "approve"
    RERUN = "rerun"
    EDIT = "edit"
    PAUSE = "pause"
    STOP = "stop"
    RELOAD = "reload"


@frozen
class RequestRow:
    """A request to the owner. ``execution`` is a number (0: none); ``answered_at`` is 0 until the answer; times are in ms."""

    number: int
    at: int
    actor: Actor
    kind: RequestKind
    execution: int
    body: Mapping[str, Value]
    answered_at: int = 0
    answer: Mapping[str, Value] | None = None


@frozen
class PausedRow:
    """A paused phase, which is not called until a user ends the pause: since when, by which user and why it is paused."""

    name: str
    at: int
    actor: str
    reason: str


@frozen
class RequestAnswer:
    """The owner's answer to a request, stored in one transaction with its effects.

    Only the first answer to a request is kept.
    """

    request: int
    body: Mapping[str, Value] = field(default_factory=dict)


@frozen
class DocumentChange:
    """Changes to the runtime properties of one instance, merged into the stored document.

    ``written`` is {path: value}; ``removed`` are paths. Missing levels of a path are created.
    """

    deployment: int
    instance: int
    written: Mapping[PropertyPath, Value]
    removed: Sequence[PropertyPath] = ()


@frozen
class EntryRemark:
    """The message, error and result that a call left on an entry; replaces the former one."""

    graph: int
    position: int
    message: str = ""
    error: Mapping[str, str] = field(default_factory=dict)
    result: Value = None


@frozen
class LogLine:
    """One line of output of a script or plugin, or of the engine about it.

    ``instance`` is a number (-1: none); ``at`` is in ms.
    """

    execution: int
    at: int
    level: str
    text: str
    instance: int = -1
    operation: str = ""
    sequence: int = 0


@frozen
class EventRow:
    """One stored event of an execution: a start, end, failure, retry, or request by a user."""

    execution: int
    at: int
    type: str
    message: str
    instance: int = -1
    operation: str = ""
    actor: str = ""
    sequence: int = 0


@frozen
class Metric:
    """The latest figures that an engine has measured of one thing. ``body``: {figure: value}."""

    name: str
    at: int
    body: Mapping[str, Value]


@frozen
class Reshaped:
    """A changed deployment: its new topology, and other changed fields (None: unchanged)."""

    deployment: int
    topology: Topology
    blueprint: Blueprint | None = None
    inputs: Mapping[str, Value] | None = None
    code: CodeLocation | None = None
    uses: Mapping[str, int] | None = None


@frozen
class ForgottenDeployment:
    """A deployment that is deleted in the turn that ends an execution.

    Its name can then be used again, and executions that wait for it are canceled.
    """

    deployment: int
    execution: int
    actor: str


@frozen
class PlannerWrites:
    """What planners write besides graphs and topologies: documents added or removed, and deployments removed.

    ``checks`` are instances that a user marked as unhealthy. ``labels`` are (deployment, change of its labels).
    ``dependencies`` replace all records of a consumer each; ``events`` are warnings about them.
    """

    kept: tuple[NewDocument, ...] = ()
    dropped: tuple[Drop, ...] = ()
    forgotten: tuple[ForgottenDeployment, ...] = ()
    checks: tuple[NewCheckResults, ...] = ()
    labels: tuple[tuple[int, Relabelled], ...] = ()
    dependencies: tuple[ConsumerDependencies, ...] = ()
    events: tuple[EventRow, ...] = ()

    def __bool__(self) -> bool:
        """Return True when there is anything to write."""
        return bool(self.kept or self.dropped or self.forgotten or self.labels or self.dependencies)


NOTHING_WRITTEN = PlannerWrites()


@frozen
class TurnPayload:
    """What a turn writes in addition to the scheduler's changes, in the same transaction.

    ``requests`` is {execution: its new request}, for executions that a user continues with other options. ``reshaped``
    is written first, because states and documents may be about instances that it adds; ``written`` is written last.
    ``measures`` replace stored figures with the same name. ``awaits``: which executions entries wait for, None if that
    has not changed.
    """

    documents: Sequence[DocumentChange] = ()
    remarks: Sequence[EntryRemark] = ()
    logs: Sequence[LogLine] = ()
    events: Sequence[EventRow] = ()
    answers: Sequence[RequestAnswer] = ()
    requests: Mapping[int, Request] = field(default_factory=dict)
    checks: Sequence[NewCheckResults] = ()
    measures: Sequence[Metric] = ()
    reshaped: Sequence[Reshaped] = ()
    written: PlannerWrites = NOTHING_WRITTEN
    awaits: AwaitChanges | None = None

    def __bool__(self) -> bool:
        """Return True when there is anything to write."""
        said = self.documents or self.remarks or self.logs or self.events
        others = self.checks or self.measures or self.reshaped or self.written
        return bool(said or self.answers or self.requests or others or self.awaits)


NOTHING = TurnPayload()


@frozen
class Turn:
    """What one turn of the engine writes, in one transaction."""

    at: int
    changes: Changes
    payload: TurnPayload = NOTHING
