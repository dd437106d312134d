"""What checks have found: whether instances are healthy, and whether they or their relationships have drifted (W32, W46).

A result is a byte by subject, with its time and its execution; a body is kept only where a call said something. Walk of
a check of 1,000 machines of which one fails: the outcomes of a batch come back, ``results_of`` makes one ``NewCheckResults`` of
them; ``CheckResults.record`` moves what was known to the previous status, and the turn writes the two pages that changed and
one body. The planner, asked in the same turn, finds the bytes in ``Checks``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np

from phaseline.lang.arrays import as_slice, every, some
from phaseline.lang.fast_dataclasses import frozen, mutable
from phaseline.model.deployment.instance_states import InstanceState
from phaseline.model.graph.graph import SubjectKind
from phaseline.model.graph.status import PAGE_ENTRIES, OutcomeKind

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value

CHECK_STATUS = "cloudify.interfaces.validation.check_status"
CHECK_DRIFT = "cloudify.interfaces.lifecycle.check_drift"
CHECK_RELATIONSHIP_DRIFT = "cloudify.interfaces.relationship_lifecycle.check_drift"
PREHEAL = "cloudify.interfaces.lifecycle.preheal"
HEAL = "cloudify.interfaces.lifecycle.heal"
POSTHEAL = "cloudify.interfaces.lifecycle.postheal"
UPDATES = tuple(
    f"cloudify.interfaces.lifecycle.{name}"
    for name in ("preupdate", "update", "postupdate", "update_config", "update_apply", "update_postapply")
)
"""What makes an instance as the model says, in this order (W61)."""
UPDATE_RELATIONSHIP = "cloudify.interfaces.relationship_lifecycle.update"


class CheckKind(IntEnum):
    """What a result is about; the numbers are stored."""

    STATUS = 0
    """Of instances: whether they are healthy."""
    PREVIOUS_STATUS = 1
    """Of instances: the result before the present one."""
    DRIFT = 2
    """Of instances: whether they are as the model says."""
    SOURCE_DRIFT = 3
    """Of relationships: what the operation of the source's side found."""
    TARGET_DRIFT = 4
    """Of relationships: what the operation of the target's side found."""


class CheckResult(IntEnum):
    """What was found; the numbers are stored."""

    UNKNOWN = 0
    """Never checked, or the subject was made anew since."""
    FAILED = 1
    """The check raised: the instance is not healthy, or nobody knows whether it has drifted."""
    GOOD = 2
    """Healthy, or without drift."""
    DRIFTED = 3
    """The check gave a result that is not null."""
    HEALED = 4
    """Healthy, because the operation ``heal`` has succeeded."""
    MARKED = 5
    """Not healthy, because a person says so; no check finds out otherwise, only a heal, or being made anew."""


ILL = (CheckResult.FAILED, CheckResult.MARKED)
"""Results of who is known not to be healthy."""
OVER_A_MARK = (CheckResult.HEALED, CheckResult.MARKED)
"""Results that take the place of what a person said; every other one leaves it as it is."""
GONE = frozenset({InstanceState.UNINITIALIZED, InstanceState.DELETED})
"""Who is made anew has been in one of these; not every install goes through the states before ``started``."""
CLEARING = GONE | {InstanceState.CONFIGURED, InstanceState.STARTED}


CHECKS = frozenset({CHECK_STATUS, CHECK_DRIFT, CHECK_RELATIONSHIP_DRIFT})
"""Operations that find something out. What comes after them depends on it."""
OPERATIONS = CHECKS | {PREHEAL, HEAL, POSTHEAL, UPDATE_RELATIONSHIP, *UPDATES}
"""Operations that leave a result."""
_DRIFTS = {
    SubjectKind.INSTANCE: CheckKind.DRIFT,
    SubjectKind.SOURCE: CheckKind.SOURCE_DRIFT,
    SubjectKind.TARGET: CheckKind.TARGET_DRIFT,
}
_COMPLETED, _FAILED = int(OutcomeKind.COMPLETED), int(OutcomeKind.FAILED)
_NOTHING = np.empty(0, np.uint8)


@frozen
class Checks:
    """The results as a planner sees them: {kind: uint8 by instance or relationship number}."""

    columns: Mapping[CheckKind, np.ndarray] = field(default_factory=dict)

    def column(self, kind: CheckKind, count: int) -> np.ndarray:
        """The results of a kind, ``count`` of them; unknown where nothing was recorded.

        >>> Checks({CheckKind.DRIFT: np.array([3], np.uint8)}).column(CheckKind.DRIFT, 2).tolist()
        [3, 0]
        """
        found = self.columns.get(kind, _NOTHING)
        return np.concatenate((found[:count], np.zeros(max(0, count - len(found)), np.uint8)))

    def of(self, kind: CheckKind, subject: int) -> int:
        """The result of one subject."""
        found = self.columns.get(kind, _NOTHING)
        return int(found[subject]) if subject < len(found) else CheckResult.UNKNOWN


@frozen
class NewCheckResults:
    """Results of one kind in one deployment. ``subjects`` int32, each once; ``results`` uint8; ``at`` in ms.

    ``execution``: the number of the one that called. ``bodies``: {subject: what the call said}, only where it said anything.
    """

    deployment: int
    kind: CheckKind
    subjects: np.ndarray
    results: np.ndarray
    at: int
    execution: int
    bodies: Mapping[int, Value] = field(default_factory=dict)


def results_of(
    operation: str, kind: SubjectKind, outcomes: np.ndarray, has_said: np.ndarray
) -> tuple[CheckKind, np.ndarray] | None:
    """What the last outcomes (uint8: completed or failed) of calls of an operation mean, as results; None: nothing.

    ``has_said``: whose result is not null, which is drift. That ``preheal`` or ``postheal`` went well says nothing by itself;
    an operation of update takes the drift away, until the next one of its instance fails.

    >>> results_of(CHECK_DRIFT, SubjectKind.INSTANCE, np.array([1, 1, 4], np.uint8), np.array([True, False, False]))
    (<CheckKind.DRIFT: 2>, array([3, 2, 1], dtype=uint8))
    """
    failed = outcomes == _FAILED
    if operation in {CHECK_DRIFT, CHECK_RELATIONSHIP_DRIFT}:
        found = np.where(failed, CheckResult.FAILED, np.where(has_said, CheckResult.DRIFTED, CheckResult.GOOD))
        return _DRIFTS[kind], found.astype(np.uint8)
    if operation == UPDATE_RELATIONSHIP or operation in UPDATES:
        return _DRIFTS[kind], np.where(failed, CheckResult.FAILED, CheckResult.GOOD).astype(np.uint8)
    if kind is not SubjectKind.INSTANCE or operation not in OPERATIONS:
        return None
    well = {CHECK_STATUS: CheckResult.GOOD, HEAL: CheckResult.HEALED}.get(operation, CheckResult.UNKNOWN)
    return CheckKind.STATUS, np.where(failed, CheckResult.FAILED, well).astype(np.uint8)


class Bodies(Protocol):
    """Where a book keeps what calls said, in memory or in a table."""

    def drop(self, kind: CheckKind, subjects: np.ndarray) -> None:
        """Forget what was said of these."""
        ...

    def move(self, kind: CheckKind, to: CheckKind, subjects: np.ndarray) -> None:
        """Have what was said of these said of another kind, of which nothing is known."""
        ...

    def put(self, kind: CheckKind, bodies: Mapping[int, Value]) -> None:
        """Remember {subject: what was said}; nothing is known of these."""
        ...


class HeldBodies(dict[tuple[CheckKind, int], "Value"]):
    """``Bodies`` in memory."""

    def drop(self, kind: CheckKind, subjects: np.ndarray) -> None:
        """Forget what was said of these."""
        for subject in subjects.tolist() if self else ():
            self.pop((kind, subject), None)

    def move(self, kind: CheckKind, to: CheckKind, subjects: np.ndarray) -> None:
        """Have it said of another kind."""
        for subject in subjects.tolist() if self else ():
            if (kind, subject) in self:
                self[to, subject] = self.pop((kind, subject))

    def put(self, kind: CheckKind, bodies: Mapping[int, Value]) -> None:
        """Remember it."""
        self.update({(kind, subject): body for subject, body in bodies.items()})


@mutable
class Column:
    """Results of one kind by subject, whole pages of them, each with its time (ms) and the number of its execution."""

    results: np.ndarray
    times: np.ndarray
    executions: np.ndarray

    def __len__(self) -> int:
        """How many subjects it has room for."""
        return len(self.results)


def empty_column(count: int) -> Column:
    """Nothing is known of anybody."""
    return Column(np.zeros(count, np.uint8), np.zeros(count, np.int64), np.zeros(count, np.int32))


class CheckResults:
    """All results of one deployment. ``touched``: {kind: subjects whose results have changed}, for who writes them down."""

    def __init__(self, bodies: Bodies, columns: Mapping[CheckKind, Column] | None = None) -> None:
        """``columns`` as stored; they are changed in place."""
        self.bodies = bodies
        self.columns = dict(columns or {})
        self.touched: dict[CheckKind, list[np.ndarray]] = {}

    @property
    def is_empty(self) -> bool:
        """True while nothing was ever checked."""
        return not self.columns

    @property
    def checks(self) -> Checks:
        """What planners see, a copy."""
        return Checks({kind: column.results.copy() for kind, column in self.columns.items()})

    def copy(self) -> CheckResults:
        """Another book of the same, in memory."""
        columns = {
            kind: Column(column.results.copy(), column.times.copy(), column.executions.copy())
            for kind, column in self.columns.items()
        }
        bodies = self.bodies
        return CheckResults(HeldBodies(bodies if isinstance(bodies, HeldBodies) else {}), columns)

    def record(self, made: NewCheckResults) -> None:
        """Take results over; the former status becomes the previous one."""
        subjects, results = made.subjects, made.results
        known = results != CheckResult.UNKNOWN
        if not every(known):
            subjects, results = subjects[known], results[known]
        bodies = made.bodies
        if made.kind is CheckKind.STATUS:
            found = self._is_marked(subjects) & ~np.isin(results, OVER_A_MARK)
            if some(found):
                bodies = {subject: bodies[subject] for subject in subjects[~found].tolist() if subject in bodies}
                subjects, results = subjects[~found], results[~found]
        if not len(subjects):
            return
        if made.kind is CheckKind.STATUS:
            self._supersede(subjects)
        self._write(made.kind, subjects, results, made.at, made.execution)
        self.bodies.drop(made.kind, subjects)
        self.bodies.put(made.kind, bodies)

    def enter(self, states: tuple[int, ...], subjects: np.ndarray) -> None:
        """Instances went through states: who is configured anew has not drifted, and who was started anew was not checked.

        A mark outlasts a restart. Who is gone is as ill as one that a check has found ill, until he is made anew and started.
        """
        if self.is_empty:
            return
        if InstanceState.CONFIGURED in states:
            self._clear(CheckKind.DRIFT, self._known(CheckKind.DRIFT, subjects))
        if not GONE.isdisjoint(states):
            self._unmark(subjects[self._is_marked(subjects)])
        if InstanceState.STARTED in states:
            known = self._known(CheckKind.STATUS, subjects)
            known = known[~self._is_marked(known)]
            self._supersede(known)
            self._clear(CheckKind.STATUS, known)

    def _is_marked(self, subjects: np.ndarray) -> np.ndarray:
        """Whom a person calls ill, bool by place in ``subjects``."""
        column = self.columns.get(CheckKind.STATUS)
        if column is None:
            return np.zeros(len(subjects), bool)
        found = np.zeros(len(subjects), bool)
        known = subjects < len(column)
        found[known] = column.results[subjects[known]] == CheckResult.MARKED
        return found

    def _unmark(self, subjects: np.ndarray) -> None:
        """What a person has said becomes what a check has found, in his words."""
        if len(subjects):
            self.columns[CheckKind.STATUS].results[subjects] = CheckResult.FAILED
            self.touched.setdefault(CheckKind.STATUS, []).append(subjects)

    def _known(self, kind: CheckKind, subjects: np.ndarray) -> np.ndarray:
        """Those of whom there is a result."""
        column = self.columns.get(kind)
        if column is None:
            return subjects[:0]
        if int(subjects.max(initial=-1)) >= len(column):
            subjects = subjects[subjects < len(column)]
        known = column.results[as_slice(subjects)] != CheckResult.UNKNOWN
        return subjects if every(known) else subjects[known]

    def _supersede(self, subjects: np.ndarray) -> None:
        """What is known of the status becomes the previous status."""
        known = self._known(CheckKind.STATUS, subjects)
        if not len(known):
            return
        status, where = self.columns[CheckKind.STATUS], as_slice(known)
        told = status.results[where], status.times[where], status.executions[where]
        self._write(CheckKind.PREVIOUS_STATUS, known, *told)
        self.bodies.drop(CheckKind.PREVIOUS_STATUS, known)
        self.bodies.move(CheckKind.STATUS, CheckKind.PREVIOUS_STATUS, known)

    def _clear(self, kind: CheckKind, subjects: np.ndarray) -> None:
        if len(subjects):
            self._write(kind, subjects, CheckResult.UNKNOWN, 0, 0)
            self.bodies.drop(kind, subjects)

    def _write(
        self,
        kind: CheckKind,
        subjects: np.ndarray,
        results: np.ndarray | int,
        times: np.ndarray | int,
        executions: np.ndarray | int,
    ) -> None:
        column = self.columns.get(kind) or empty_column(0)
        needed = int(subjects.max()) + 1
        if needed > len(column):
            column = _longer(column, -(-needed // PAGE_ENTRIES) * PAGE_ENTRIES)
        self.columns[kind] = column
        where = as_slice(subjects)
        column.results[where] = results
        column.times[where] = times
        column.executions[where] = executions
        self.touched.setdefault(kind, []).append(subjects)


def clears(states: tuple[int, ...]) -> bool:
    """Whether results are no longer true of who has gone through these states."""
    return not CLEARING.isdisjoint(states)


def _longer(column: Column, count: int) -> Column:
    found = empty_column(count)
    found.results[: len(column)] = column.results
    found.times[: len(column)] = column.times
    found.executions[: len(column)] = column.executions
    return found
