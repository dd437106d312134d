"""Events that the scheduler receives (named in the past tense) and commands that it issues (named in the imperative).

Executions, graphs and batches are identified by the integers that the store gave them. Members of a batch are
identified by their index in the batch (0 ... n-1), so that an executor need not know positions in graphs. Times are
integer ms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from phaseline.lang.fast_dataclasses import frozen
from phaseline.lang.fast_namedtuples import NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from phaseline.model.execution.execution import GoOn, StopAfter, Verdict
    from phaseline.model.graph.batch_members import GraphSegment, MemberColumns, MemberPositions
    from phaseline.model.graph.functions import Functions
    from phaseline.model.graph.graph import Graph, LaneSpec
    from phaseline.model.graph.status import ExecutionStatus


@frozen
class Submitted:
    """A new execution of a deployment was stored; its planner must be asked for the first graph.

    ``timeout_ms`` 0: no limit.
    """

    execution: int
    deployment: int
    stop_after: StopAfter | None = None
    timeout_ms: int = 0


@frozen
class Planned:
    """The planner answered a question (``Ask``) with a graph, stored as ``graph_id``, or with a verdict.

    The answer ``GoOn`` means: the existing graph ``graph_id`` continues with its failed or canceled entries.
    ``functions`` gives the function of each entry; None if the engine need not distinguish functions.
    """

    execution: int
    answer: Graph | GoOn | Verdict
    graph_id: int = 0
    functions: Functions | None = None


@frozen
class Restored:
    """A stored execution is given to the scheduler again, after a restart or for a retry, with one of its graphs if it has any.

    ``statuses`` has the stored statuses (uint8 by position). ``positions``, ``attempts``, ``generations`` and ``due``
    are columns of the notes of its entries. ``attempt`` is the execution's attempt, ``graph_attempt`` the attempt in
    which the graph last continued. ``begun`` (int32) has positions that were called before; their condition is not
    evaluated again. ``timeout_ms`` is 0 without a time limit. ``ends_at`` is when the time of this attempt is over, or
    with ``is_timed_out`` when the grace time is over; None: never. ``functions`` means the same as in ``Planned``.
    """

    execution: int
    deployment: int
    status: ExecutionStatus
    attempt: int
    stop_after: StopAfter | None
    graph_id: int = 0
    graph: Graph | None = None
    graph_attempt: int = 0
    statuses: np.ndarray | None = None
    positions: np.ndarray | None = None
    attempts: np.ndarray | None = None
    generations: np.ndarray | None = None
    due: np.ndarray | None = None
    begun: np.ndarray | None = None
    timeout_ms: int = 0
    ends_at: int | None = None
    is_timed_out: bool = False
    functions: Functions | None = None


@frozen
class Reattached:
    """An open batch was read from the store.

    ``places`` are the entries of its members; ``kinds`` (uint8) their outcomes so far. ``is_running``: its calls still run
    in another process, so they count in their lane; otherwise ``Lost`` follows.
    """

    batch: int
    places: MemberPositions
    kinds: np.ndarray | None
    is_running: bool = False


@frozen
class Finished:
    """Members of a batch have outcomes: ``members`` (int32) and ``kinds`` (uint8, ``OutcomeKind``).

    ``delays`` (int64) are the ms from now until the next call, for again and retry; -1: the interval of the policy.
    """

    batch: int
    members: np.ndarray
    kinds: np.ndarray
    delays: np.ndarray


@frozen
class Lost:
    """The process that called a batch has died. Members without an outcome are called again if repeatable, otherwise unsure.

    ``may_repeat`` False makes all of them unsure, because the store was restored since the call.
    """

    batch: int
    may_repeat: bool = True


@frozen
class Noted:
    """Members of a batch reported data before their outcome. The scheduler decides only whether the report is accepted."""

    batch: int
    members: np.ndarray


@frozen
class Tick:
    """Time has passed; sleeping entries that are due wake."""


@frozen
class SlotsChanged:
    """A pool of the executor has another size: the number of calls that it can run at once."""

    pool: str
    slots: int


@frozen
class Evaluated:
    """The answer to ``Evaluate``: ``values`` for the ``positions`` (both int32), in the same order.

    If ``what`` is ``key``, the values are lane keys as integers. If it is ``applies``, they state whether a condition
    holds now: 0 it does not, 1 it does, 2 the evaluation failed. ``applies`` may also come without a request.
    """

    graph: int
    positions: np.ndarray
    what: Literal["key", "applies"]
    values: np.ndarray


@frozen
class CancelRequested:
    """A user cancels an execution, or only some ``subjects`` (instance numbers) of it.

    ``how`` ``wait``: running calls are awaited. ``force``: they are not awaited. ``kill``: their processes are killed,
    too.
    """

    execution: int
    how: Literal["wait", "force", "kill"] = "wait"
    subjects: np.ndarray | None = None


@frozen
class RetryRequested:
    """A user retries entries that failed or were canceled: those at ``positions``, or all of the last graph if it is None.

    ``include_unsure`` also retries unsure entries. ``replan`` leaves the graph as it ended and asks the planner again
    (clean-up before a retry); if the planner answers that this ``graph`` continues, these ``positions`` continue.
    ``keeps`` keeps all graphs of the execution, because they belong to different subjects; an open execution stays in
    its attempt.
    """

    execution: int
    graph: int | None = None
    positions: np.ndarray | None = None
    include_unsure: bool = False
    replan: bool = False
    keeps: bool = False


@frozen
class CompleteRequested:
    """A user declares entries completed that failed, are unsure or sleep."""

    execution: int
    graph: int
    positions: np.ndarray


@frozen
class RerunRequested:
    """A user wants completed entries of a graph to be called again; applies to subjects that have not passed their exit."""

    execution: int
    graph: int
    positions: np.ndarray


@frozen
class Left:
    """All subjects of a graph have moved to later graphs of its execution, so the graph is not needed any more."""

    execution: int
    graph: int


@frozen
class WakeRequested:
    """A user wants sleeping entries to be called now: those at ``positions``, or all of the graph if it is None.

    ``only_failing`` limits this to entries whose last call failed.
    """

    execution: int
    graph: int
    positions: np.ndarray | None = None
    only_failing: bool = False


@frozen
class LaneChanged:
    """A user pauses or reopens all lanes of a phase.

    If ``is_probe`` is true, the lanes are open, but each may call only one member at a time.
    """

    phase: str
    is_paused: bool
    is_probe: bool = False


@frozen
class RateAdapted:
    """A call of a lane has ended: the provider asked for fewer calls (``is_throttled``), or can take slightly more again."""

    lane: LaneSpec
    key: int
    is_throttled: bool


Event = (
    Submitted | Planned | Restored | Reattached | Finished | Lost | Noted | Tick | SlotsChanged | Evaluated | CancelRequested | RetryRequested
    | CompleteRequested | RerunRequested | Left | WakeRequested | LaneChanged
    | RateAdapted
)  # fmt: skip


@frozen
class Batch:
    """Entries that are handed to a call together. The row of a batch is stored before the call; while open it is the lease.

    ``started_at`` and ``deadline_at`` are in ms (0: no deadline).
    """

    id: int
    lane: LaneSpec
    key: int
    members: MemberColumns
    started_at: int
    deadline_at: int = 0

    def __len__(self) -> int:
        """Return the number of members."""
        return len(self.members.positions)

    @property
    def segments(self) -> list[GraphSegment]:
        """Return the members of the batch by graph, computed at each call; code that runs often should read the columns instead."""
        return self.members.segments()


@frozen
class Dispatch:
    """Call the members of a batch."""

    batch: Batch


@frozen
class Stop:
    """End the running calls of these members.

    With ``kill`` end their processes, otherwise only mark the calls as canceled.
    """

    batch: int
    members: np.ndarray
    kill: bool = False


@frozen
class Evaluate:
    """Ask the shell to compute a value for each position; the scheduler has no access to the data."""

    graph: int
    positions: np.ndarray
    what: Literal["key", "applies"]
    expression: str = ""


@frozen
class WakeAt:
    """Ask for a ``Tick`` at the time ``at`` (ms), unless another event comes before; None: no tick is needed.

    Replaces the previous request.
    """

    at: int | None


@frozen
class Announce:
    """Notify listeners that these entries of a graph have passed or completed."""

    graph: int
    positions: np.ndarray


@frozen
class Ask:
    """Ask the planner what comes next. ``subjects`` passed an exit; None: the whole graph has settled."""

    execution: int
    graph: int
    subjects: np.ndarray | None = None


Command = Dispatch | Stop | Evaluate | WakeAt | Announce | Ask


@frozen
class Accepted:
    """The members of the ``index``-th event (``Finished`` or ``Noted``) whose reports the scheduler accepted.

    From the reports of the other members only the data is stored.
    """

    index: int
    batch: int
    members: np.ndarray
    rejected: np.ndarray


@frozen
class ExecutionChanged:
    """An execution has a new status, or a new reason for it."""

    execution: int
    status: ExecutionStatus
    reason: str = ""
    attempt: int = 0


@frozen
class GraphAdded:
    """A new graph, to be stored before its first entry runs."""

    graph_id: int
    execution: int
    graph: Graph


class PageWritten(NamedTuple):
    """One page: the status bytes of entries of a graph, from position ``number * PAGE_ENTRIES`` on."""

    graph: int
    number: int
    statuses: bytes


@frozen
class NotesWritten:
    """Attempts, generations (int32) and due times (int64 ms, 0: none) of entries that were called before."""

    graph: int
    positions: np.ndarray
    attempts: np.ndarray
    generations: np.ndarray
    due: np.ndarray


@frozen
class BatchClosed:
    """Members of a batch have outcomes (``kinds``, uint8 by member). ``closed_at`` is 0 while some members have none."""

    batch: int
    closed_at: int
    kinds: np.ndarray


@frozen
class GraphReopened:
    """A settled graph continues in a later attempt of its execution."""

    graph: int
    attempt: int


@frozen
class StatesEntered:
    """Instances of a deployment have gone through ``states``; they are now in the last one."""

    deployment: int
    states: tuple[int, ...]
    subjects: np.ndarray


@frozen
class Changes:
    """The changes of one turn, to be stored in one transaction before any command is carried out.

    ``states`` are in the order in which they happened.
    """

    executions: tuple[ExecutionChanged, ...] = ()
    graphs: tuple[GraphAdded, ...] = ()
    pages: tuple[PageWritten, ...] = ()
    notes: tuple[NotesWritten, ...] = ()
    opened: tuple[Batch, ...] = ()
    closed: tuple[BatchClosed, ...] = ()
    states: tuple[StatesEntered, ...] = ()
    reopened: tuple[GraphReopened, ...] = ()

    def __bool__(self) -> bool:
        """Return True when there is anything to write."""
        entries = self.pages or self.notes or self.opened or self.closed or self.states
        return bool(entries or self.executions or self.graphs or self.reopened)

    def followed_by(self, more: Changes) -> Changes:
        """Return these changes followed by ``more``; when they are written in this order, later values replace earlier ones."""
        return Changes(
            executions=self.executions + more.executions,
            graphs=self.graphs + more.graphs,
            pages=self.pages + more.pages,
            notes=self.notes + more.notes,
            opened=self.opened + more.opened,
            closed=self.closed + more.closed,
            states=self.states + more.states,
            reopened=self.reopened + more.reopened,
        )


@frozen
class Decision:
    """What ``Scheduler.handle`` decided: first commit ``changes``, then carry out ``commands``."""

    changes: Changes
    commands: tuple[Command, ...] = ()
    accepted: tuple[Accepted, ...] = ()

    def followed_by(self, more: Decision) -> Decision:
        """Return this decision followed by ``more`` of the same turn."""
        return Decision(
            self.changes.followed_by(more.changes), (*self.commands, *more.commands), (*self.accepted, *more.accepted)
        )
