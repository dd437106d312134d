"""The graph of one round of one execution: entries in flat columns, and the edges between them.

An entry is one phase on one subject; a step is a range of entries of one phase. An edge from a to b means that b needs
a; there are no kinds of edges. Marks vary the rule for an entry (``status.Mark``). In the graph of a state of
resources, steps are named ``state:NAME`` (the beginning), ``phase:NAME`` (one for each phase) and ``exit:NAME`` (ADR
0011).
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
"""Prefix of a phase's name in names of steps and lanes."""
EXIT_PREFIX = "exit:"


class SubjectKind(IntEnum):
    """What the numbers in the ``subject`` column of a step mean."""

    NONE = 0
    """No subject: the entries are milestones, and the column is -1."""
    INSTANCE = 1
    """Instance numbers of the deployment."""
    SOURCE = 2
    """Relationship numbers, for the operation on the source."""
    TARGET = 3
    """Relationship numbers, for the operation on the target."""
    DEPLOYMENT = 4
    """The deployment as a whole; the number is the reason of the call (``model.execution.pre_post.DeploymentCallKind``)."""


@frozen
class LaneSpec:
    """Which entries may share a call, and the limits of these calls.

    ``phase`` is the name of the operation or phase. ``form`` is ``bulk`` (a call takes many members) or ``each`` (a
    call for each member, several at a time). ``pool`` is ``threads`` or ``workers`` (processes, for calls that must be
    killable). ``concurrency`` is how many batches may run at a time for each key, and for operations also for each
    function (0: 1 for bulk, no limit for each). ``key`` is an expression; members with different values never share a
    batch. ``interval_ms`` is the least time between the starts of two batches. ``rate`` is batches a second, at most
    ``burst`` at once, shared by all lanes with the same ``limiter`` (empty: the phase) and key. Entries that are due
    within ``coalesce_ms`` may join a batch early. When slots are short, lanes with a larger ``priority`` come first.
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
        """Return a hash of the fields that differ most; a hash of all fields takes three times as long, and lookups are frequent."""
        return hash((self.phase, self.key, self.max_batch))


@frozen
class Policy:
    """How the entries that share this policy are called and retried, and how they change instance states.

    ``enter`` has the states (numbers) that an instance goes through when a call begins, ``leave`` those when the entry
    is completed or passed; the last state is stored, all are reported as events. ``max_retries`` -1 means no limit.
    ``backoff_ms`` replaces the interval: the times before the first retry, the second, ...; the last one repeats.
    ``until_true``: a false result means "again". ``cancel_wins``: an entry canceled during its call ends as canceled
    whatever the call returns; its data is kept (T12). ``answers_stop``: the plugin confirms the end of a stopped call,
    so every cancel waits for this. ``target`` is the last state of the path that the instances are on, for paths of a
    blueprint; empty for other paths.
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
        """Return the time in ms from a failure to the next try, for calls that gave none. ``attempts`` counts retries from 1.

        >>> policy = Policy(LaneSpec("create"), retry_interval_ms=9, backoff_ms=(2, 8))
        >>> [policy.wait_ms(attempts) for attempts in (1, 2, 3)], Policy(LaneSpec("create"), retry_interval_ms=9).wait_ms(3)
        ([2, 8, 8], 9)
        """
        if not self.backoff_ms or attempts < 1:
            return self.retry_interval_ms
        return self.backoff_ms[min(attempts, len(self.backoff_ms)) - 1]


@frozen
class Bound:
    """The number of failures that some groups of a graph tolerate; ``groups`` are numbers in ``Graph.group``, ``name`` is for people.

    If more than ``failures`` of their subjects fail, entries that have not begun are canceled. Fewer failures do not
    make the round fail.
    """

    name: str
    groups: tuple[int, ...]
    failures: int


@frozen
class Step:
    """A named range of ``count`` entries from position ``first``. The steps of a graph cover all its entries in order."""

    phase: str
    kind: SubjectKind
    first: int
    count: int


@frozen
class Graph:
    """A graph. Columns by position: ``subject`` int32, ``policy`` uint16 (index in ``policies``), ``marks`` uint8.

    ``ptr`` (int32, n + 1) and ``idx`` (int32) are the edges: the entries that need entry i are
    ``idx[ptr[i]:ptr[i+1]]``. ``group`` (int32 or empty) is the group of each entry for limits of failures; failures in
    group -1 are not counted. ``bounds`` limit the failed subjects of groups.
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
        """The number of needs of each entry (int32 by position)."""
        return np.bincount(self.idx, minlength=len(self)).astype(np.int32)


def without_entries(name: str) -> Graph:
    """Return a graph without work, which has settled when it begins.

    >>> len(without_entries("finish"))
    0
    """
    nothing, start = np.empty(0, np.int32), np.zeros(1, np.int32)
    return Graph(name, (), (), nothing, nothing.astype(np.uint16), nothing.astype(np.uint8), start, nothing)


def bears(bounds: Sequence[Bound], group: np.ndarray, subject: np.ndarray, lost: np.ndarray) -> bool:
    """Return True if some entries are ``lost`` (bool by entry), but every bound tolerates the number of their subjects.

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
    """Return an array with the instance of each subject (for a relationship its source instance), or -1 if it has none."""
    if kind is SubjectKind.INSTANCE:
        return subjects
    if kind is SubjectKind.SOURCE or kind is SubjectKind.TARGET:
        found: np.ndarray = topology.source[subjects]
        return found
    return np.full(len(subjects), -1, np.int32)


def called_side(topology: Topology, kind: SubjectKind, subject: int) -> int:
    """Return the instance that a call acts on, or -1 for a subject without instance.

    For a relationship this is the source or the target, depending on which of them the operation belongs to.
    """
    if kind is SubjectKind.INSTANCE:
        return subject
    if kind is SubjectKind.SOURCE or kind is SubjectKind.TARGET:
        return int((topology.source if kind is SubjectKind.SOURCE else topology.target)[subject])
    return -1


def phase_of(step: str) -> str | None:
    """Return the phase of a step or lane, or None for steps that are no phase of a state.

    >>> phase_of("phase:Acme.Create"), phase_of("cloudify.interfaces.lifecycle.create")
    ('Acme.Create', None)
    """
    return step[len(LANE_PREFIX) :] if step.startswith(LANE_PREFIX) else None


def has_phases(steps: Iterable[Step]) -> bool:
    """Return True if one of these steps belongs to a phase."""
    return any(step.phase.startswith(LANE_PREFIX) for step in steps)


def is_of_state(step: str) -> bool:
    """Return True for steps at the beginning and the end of a state, which call nothing.

    >>> is_of_state("exit:Allocation"), is_of_state("phase:Acme.Create")
    (True, False)
    """
    return step.startswith((STATE_PREFIX, EXIT_PREFIX))


def state_entered(step: str) -> str | None:
    """Return the state that subjects of a step enter, or None for other steps.

    >>> state_entered("state:Allocation"), state_entered("exit:Allocation")
    ('Allocation', None)
    """
    return step[len(STATE_PREFIX) :] if step.startswith(STATE_PREFIX) else None
