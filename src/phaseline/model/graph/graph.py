"""The graph of one round of one execution: entries in flat columns, and the edges between them.

An entry is one phase on one subject. A step is a range of entries of one phase. There are no kinds of
edges: an edge from a to b means that b needs a. Marks vary the rule for an entry (``status.Mark``). In the graph of a
state the names of steps are its entrance (``state:NAME``), its phases (``phase:NAME``) and its exit (ADR 0011).
"""

from __future__ import annotations

from dataclasses import field
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.operation_declaration import MAX_BATCH

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from phaseline.model.deployment.topology import Topology

STATE_PREFIX = "state:"
LANE_PREFIX = "phase:"
"""The prefix of a phase's name in names of steps and lanes."""
EXIT_PREFIX = "exit:"


class SubjectKind(IntEnum):
    """The kind of numbers in the ``subject`` column of a step."""

    NONE = 0
    """Milestones: the subject is -1."""
    INSTANCE = 1
    """Instance numbers of the deployment."""
    SOURCE = 2
    """Relationship numbers; the operation of the source's side."""
    TARGET = 3
    """Relationship numbers; the operation of the target's side."""
    DEPLOYMENT = 4
    """The deployment itself; the number is the kind of call (``model.execution.pre_post.DeploymentCallKind``)."""


@frozen
class LaneSpec:
    """Which entries may share a call, and the limits of those calls.

    ``phase`` is the name of the operation or phase. ``form`` ``bulk``: one call takes many members;
    ``each``: one call a member, concurrent up to the pool. ``pool`` ``threads`` or ``workers``
    (processes, for what must be killable). ``concurrency`` batches at once for each key, of operations also for each function
    (0: 1 for bulk, as many as there are slots for each). ``key``: expression whose values a batch must not mix.
    ``interval_ms`` is the least time between the starts of two batches. ``rate``: batches a second, at most ``burst`` at
    once; shared by all lanes of the same ``limiter`` (empty: of the phase) and key. ``coalesce_ms``: sleepers that are due so
    soon come along with a batch. ``priority``: where slots are short, the larger begins first.
    """

    phase: str
    form: Literal["bulk", "each"] = "bulk"
    pool: Literal["threads", "workers"] = "threads"
    max_batch: int = MAX_BATCH
    concurrency: int = 0
    key: str | None = None
    interval_ms: int = 0
    limiter: str = ""
    rate: float = 0.0
    burst: int = 1
    coalesce_ms: int = 0
    priority: float = 0.0

    def __hash__(self) -> int:
        """Return the hash of the fields that differ most; hashing all fields takes three times as long, and lookups are frequent."""
        return hash((self.phase, self.key, self.max_batch))


@frozen
class Policy:
    """How entries that share it are called, retried and reflected in instance states.

    ``enter``: states their instances go through when a call begins; ``leave``: when the entry is
    completed or passed. Instance state numbers; only the last one is stored, all are shown as events.
    ``max_retries`` -1: without end. ``backoff_ms``: in place of the interval, the times before the first retry, the second …;
    the last one stays. ``until_true``: a false result means again after the interval. ``cancel_wins``: what
    was being called when it was canceled counts as canceled whatever the call answers; its data is kept (phases, T12).
    ``answers_stop``: ending such a call is confirmed at once, so a cancel waits for the confirmation even if it waits for no other call.
    ``target``: the state that ends the path in a blueprint which their instances are on; of other paths the execution knows it.
    """

    lane: LaneSpec
    max_retries: int = 0
    retry_interval_ms: int = 15_000
    timeout_ms: int = 0
    timeout_recoverable: bool = False
    until_true: bool = False
    repeatable: bool = False
    cancel_wins: bool = False
    answers_stop: bool = False
    enter: tuple[int, ...] = ()
    leave: tuple[int, ...] = ()
    target: str = ""
    backoff_ms: tuple[int, ...] = ()

    def wait_ms(self, attempts: int) -> int:
        """Return the time from a failure to the next try, in ms, if the call gave none.

        ``attempts``: the number of the retry, from 1.

        >>> policy = Policy(LaneSpec("create"), retry_interval_ms=9, backoff_ms=(2, 8))
        >>> [policy.wait_ms(attempts) for attempts in (1, 2, 3)], Policy(LaneSpec("create"), retry_interval_ms=9).wait_ms(3)
        ([2, 8, 8], 9)
        """
        if not self.backoff_ms or attempts < 1:
            return self.retry_interval_ms
        return self.backoff_ms[min(attempts, len(self.backoff_ms)) - 1]


@frozen
class Bound:
    """A bound on failures among the subjects in ``groups`` (numbers of ``Graph.group``), together called ``name``.

    If more than ``failures`` of them fail, entries that have not begun are canceled. Failures within the bounds do
    not fail the round.
    """

    name: str
    groups: tuple[int, ...]
    failures: int


@frozen
class Step:
    """A named range of entries: ``count`` entries from position ``first``. Steps tile the graph in order."""

    phase: str
    kind: SubjectKind
    first: int
    count: int


@frozen
class Graph:
    """One closed graph. Columns over positions: ``subject`` int32, ``policy`` uint16 (into ``policies``), ``marks`` uint8.

    ``ptr`` int32 (n + 1) and ``idx`` int32: the entries that wait for entry i are ``idx[ptr[i]:ptr[i+1]]``.
    ``group`` int32 or empty: the group of each entry for ``stop_after`` by group; -1: its failure is an answer, and not counted.
    ``bounds``: how many subjects of which groups may fail.
    """

    name: str
    steps: tuple[Step, ...]
    policies: tuple[Policy, ...]
    subject: np.ndarray
    policy: np.ndarray
    marks: np.ndarray
    ptr: np.ndarray
    idx: np.ndarray
    group: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    bounds: tuple[Bound, ...] = ()

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.subject)

    @property
    def verb(self) -> str:
        """The action: the first word of the name. The rest names the subjects (W44).

        >>> without_entries("install web").verb
        'install'
        """
        return self.name.partition(" ")[0]

    def needs_count(self) -> np.ndarray:
        """Return the number of needs of each entry, int32 by position."""
        return np.bincount(self.idx, minlength=len(self)).astype(np.int32)


def without_entries(name: str) -> Graph:
    """Return a graph without work, which has settled when it begins.

    >>> len(without_entries("finish"))
    0
    """
    nothing, start = np.empty(0, np.int32), np.zeros(1, np.int32)
    return Graph(name, (), (), nothing, nothing.astype(np.uint16), nothing.astype(np.uint8), start, nothing)


def bears(bounds: Sequence[Bound], group: np.ndarray, subject: np.ndarray, lost: np.ndarray) -> bool:
    """Return True if some entries are ``lost`` (bool by entry) but no more than the bounds of the graph allow.

    >>> columns = np.array([1, 1, 2]), np.array([7, 8, 9])
    >>> two_of_three = [Bound("all", (1, 2), 2)]
    >>> bears(two_of_three, *columns, np.array([True, False, True])), bears(two_of_three, *columns, np.array([True] * 3))
    (True, False)
    """
    if not bounds or not lost.any():
        return False
    counts = [len(np.unique(subject[lost & np.isin(group, bound.groups)])) for bound in bounds]
    return all(count <= bound.failures for count, bound in zip(counts, bounds, strict=True))


def owners_of(topology: Topology, kind: SubjectKind, subjects: np.ndarray) -> np.ndarray:
    """Return the instance to whose sequence each entry belongs, for a relationship its source; -1 if there is none."""
    if kind is SubjectKind.INSTANCE:
        return subjects
    if kind is SubjectKind.SOURCE or kind is SubjectKind.TARGET:
        found: np.ndarray = topology.source[subjects]
        return found
    return np.full(len(subjects), -1, np.int32)


def called_side(topology: Topology, kind: SubjectKind, subject: int) -> int:
    """Return the instance that a call is about, for a relationship the side with the operation; -1 if there is none."""
    if kind is SubjectKind.INSTANCE:
        return subject
    if kind is SubjectKind.SOURCE or kind is SubjectKind.TARGET:
        return int((topology.source if kind is SubjectKind.SOURCE else topology.target)[subject])
    return -1


def phase_of(step: str) -> str | None:
    """Return the phase of a step or lane; None if it belongs to no phase of a state.

    >>> phase_of("phase:Acme.Create"), phase_of("cloudify.interfaces.lifecycle.create")
    ('Acme.Create', None)
    """
    return step[len(LANE_PREFIX) :] if step.startswith(LANE_PREFIX) else None


def has_phases(steps: Iterable[Step]) -> bool:
    """Return True if one of these steps belongs to a phase."""
    return any(step.phase.startswith(LANE_PREFIX) for step in steps)


def is_of_state(step: str) -> bool:
    """Return True for steps that enter or leave a state, which call nothing.

    >>> is_of_state("exit:Allocation"), is_of_state("phase:Acme.Create")
    (True, False)
    """
    return step.startswith((STATE_PREFIX, EXIT_PREFIX))


def state_entered(step: str) -> str | None:
    """Return the state that subjects of a step enter; None for other steps.

    >>> state_entered("state:Allocation"), state_entered("exit:Allocation")
    ('Allocation', None)
    """
    return step[len(STATE_PREFIX) :] if step.startswith(STATE_PREFIX) else None
