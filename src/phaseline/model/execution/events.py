"""Events that the scheduler receives (past tense) and commands that it issues (imperative).

Executions, graphs and batches are known by the integers that the store gave them. Members of a
batch are known by their place in the batch (0 ... n-1), so that an executor needs no positions.
Times are integer milliseconds.
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
    """A new execution over a deployment exists; its planner is to be asked for the first graph. ``timeout_ms``: 0 for none."""

    execution: int
    deployment: int
    stop_after: StopAfter | None = None
    timeout_ms: int = 0


@frozen
class Planned:
    """The planner answered a question (``Ask``) with a graph, now known as ``graph_id``, or with a verdict.

    ``GoOn``: the held graph ``graph_id`` continues with its failed or canceled entries. ``functions``: functions that
    the graph calls; None: they need not be distinguished.
    """

    execution: int
    answer: Graph | GoOn | Verdict
    graph_id: int = 0
    functions: Functions | None = None


@frozen
class Restored:
    """A stored execution is handed to the scheduler again, with one of its graphs if it has any.

    ``statuses`` uint8 by position as stored; ``positions``, ``attempts``, ``generations``, ``due``: its notes.
    ``attempt`` is the execution's, ``graph_attempt`` the one in which the graph last continued. ``begun``: positions that
    were called before (int32); they are not asked again whether they apply. ``timeout_ms``: 0 for none; ``ends_at``: when the time of this
    attempt is over, or with ``is_timed_out``, when its grace is; None: no time is. ``functions`` as of ``Planned``.
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
    """An open batch of the store: the places of its members; ``kinds`` uint8 as far as they answered."""

    batch: int
    places: MemberPositions
    kinds: np.ndarray | None


@frozen
class Finished:
    """Members of a batch have outcomes: ``members`` int32, ``kinds`` uint8 (OutcomeKind).

    ``delays`` int64 ms from now until the next call, for again and retry; -1: the policy's interval.
    """

    batch: int
    members: np.ndarray
    kinds: np.ndarray
    delays: np.ndarray


@frozen
class Lost:
    """A batch has no living owner: unanswered members are called again if repeatable, else unsure.

    ``may_repeat`` False: they are unsure in any case, because the store was restored since.
    """

    batch: int
    may_repeat: bool = True


@frozen
class Noted:
    """Members of a batch reported data without an outcome; only the acceptance is decided here."""

    batch: int
    members: np.ndarray


@frozen
class Tick:
    """Time has passed; sleepers that are due wake."""


@frozen
class SlotsChanged:
    """A pool of the executor can hold this many calls at once."""

    pool: str
    slots: int


@frozen
class Evaluated:
    """The answer to ``Evaluate``: ``values`` in the order of ``positions``, int32.

    ``what`` is ``key``: lane keys as integers. ``what`` is ``applies``: the present values, whether they were
    requested or not: 0 does not apply, 1 applies, 2 the evaluation failed.
    """

    graph: int
    positions: np.ndarray
    what: Literal["key", "applies"]
    values: np.ndarray


@frozen
class CancelRequested:
    """A user cancels an execution, or only some ``subjects`` (instance numbers) of it.

    ``how`` ``wait``: running calls are awaited; ``force``: not; ``kill``: not, and processes are killed.
    """

    execution: int
    how: Literal["wait", "force", "kill"] = "wait"
    subjects: np.ndarray | None = None


@frozen
class RetryRequested:
    """A user retries entries that failed or were canceled. ``positions`` None: all of them, in the last graph.

    ``include_unsure``: unsure entries are retried, too. ``replan``: the graph stays as it ended and the planner is
    asked again (clean-up before a retry); if it answers that this ``graph`` continues, these ``positions`` continue.
    ``keeps``: all graphs of the execution are kept, because they belong to different subjects; an open one continues
    in its attempt.
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
    """A user wants completed entries of a graph called again, while their subjects have not passed its exit."""

    execution: int
    graph: int
    positions: np.ndarray


@frozen
class Left:
    """All subjects of a graph have moved on to later graphs of its execution, so the graph is history."""

    execution: int
    graph: int


@frozen
class WakeRequested:
    """A user has sleeping entries called now (``positions`` None: all of the graph); ``only_failing``: those that failed before."""

    execution: int
    graph: int
    positions: np.ndarray | None = None
    only_failing: bool = False


@frozen
class LaneChanged:
    """An operator pauses or opens all lanes of a phase. ``is_probe``: each is open for one call of one member at a time."""

    phase: str
    is_paused: bool
    is_probe: bool = False


@frozen
class RateAdapted:
    """A call of a lane has ended: its provider asked for fewer calls, or can take slightly more again."""

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
    """Members that one hand-over calls. Its row is written before the call and is the lease while open.

    ``started_at`` and ``deadline_at`` in ms (0: no deadline).
    """

    id: int
    lane: LaneSpec
    key: int
    members: MemberColumns
    started_at: int
    deadline_at: int = 0

    def __len__(self) -> int:
        """The number of members."""
        return len(self.members.positions)

    @property
    def segments(self) -> list[GraphSegment]:
        """The members of the batch by graph, made when called; code that runs often reads the columns instead."""
        return self.members.segments()


@frozen
class Dispatch:
    """Call the members of a batch."""

    batch: Batch


@frozen
class Stop:
    """End the running calls of these members; ``kill`` at once, otherwise only mark them as canceled for the plugin."""

    batch: int
    members: np.ndarray
    kill: bool = False


@frozen
class Evaluate:
    """Ask the shell to compute a value for each position, because only the shell has the data for it."""

    graph: int
    positions: np.ndarray
    what: Literal["key", "applies"]
    expression: str = ""


@frozen
class WakeAt:
    """Ask for a ``Tick`` at this time, unless another event comes before.

    Replaces the previous request; None: no tick.
    """

    at: int | None


@frozen
class Announce:
    """Notify the listeners that these entries of a graph have passed."""

    graph: int
    positions: np.ndarray


@frozen
class Ask:
    """Ask the planner what comes next; ``subjects`` are those that passed an exit, None: the whole graph settled."""

    execution: int
    graph: int
    subjects: np.ndarray | None = None


Command = Dispatch | Stop | Evaluate | WakeAt | Announce | Ask


@frozen
class Accepted:
    """Which members of the ``index``-th event (``Finished`` or ``Noted``) moved state; the data of the others is only kept."""

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
    """A graph is to be stored before its first entry runs."""

    graph_id: int
    execution: int
    graph: Graph


class PageWritten(NamedTuple):
    """The status bytes of entries of a graph, from position ``number * PAGE_ENTRIES`` on."""

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
    """Members of a batch have outcomes (``kinds`` uint8 by member); ``closed_at`` 0 while some are pending."""

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
    """Instances of a deployment have gone through ``states`` (the last one holds now)."""

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
        """True when there is anything to write."""
        entries = self.pages or self.notes or self.opened or self.closed or self.states
        return bool(entries or self.executions or self.graphs or self.reopened)

    def followed_by(self, more: Changes) -> Changes:
        """These changes followed by ``more``; written in this order, later values win."""
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
