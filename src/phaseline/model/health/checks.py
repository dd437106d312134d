"""Results of checks: whether instances are healthy, and whether they or their relationships have drifted (W32, W46).

A result is a byte for each subject, with its time and execution; a value that a call returned is stored as its body.
Example: a check of 1,000 machines finds one failure. When the outcomes of a batch arrive, ``results_of`` makes one
``NewCheckResults`` of them. ``CheckResults.record`` moves the former results to the previous status, and the turn
writes the two changed pages and one body. The planner, asked in the same turn, reads the bytes from ``Checks``.
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
"""Operations that change an instance to match its model, in the order of their calls (W61)."""
UPDATE_RELATIONSHIP = "cloudify.interfaces.relationship_lifecycle.update"


class CheckKind(IntEnum):
    """The kind of a result; the numbers are stored."""

    STATUS = 0
    """Whether an instance is healthy."""
    PREVIOUS_STATUS = 1
    """The last result of ``STATUS`` before the present one."""
    DRIFT = 2
    """Whether an instance matches the model."""
    SOURCE_DRIFT = 3
    """Whether a relationship matches the model, by the operation of its source."""
    TARGET_DRIFT = 4
    """Whether a relationship matches the model, by the operation of its target."""


class CheckResult(IntEnum):
    """The result of a check; the numbers are stored."""

    UNKNOWN = 0
    """The subject was never checked, or was re-created after its check."""
    FAILED = 1
    """The check raised an exception: the instance is not healthy, or its drift is unknown."""
    GOOD = 2
    """The instance is healthy, or has no drift."""
    DRIFTED = 3
    """The drift check returned a value that is not null, which means drift."""
    HEALED = 4
    """The instance is healthy because its operation ``heal`` succeeded."""
    MARKED = 5
    """A user marked the instance as unhealthy; only a heal or a re-creation changes this, not a check."""


ILL = (CheckResult.FAILED, CheckResult.MARKED)
"""Results of instances known to be unhealthy."""
OVER_A_MARK = (CheckResult.HEALED, CheckResult.MARKED)
"""Results that replace a user's mark; every other result leaves the mark unchanged."""
GONE = frozenset({InstanceState.UNINITIALIZED, InstanceState.DELETED})
"""States that a re-created instance has been in; results from before are deleted, because they are about the old instance."""
CLEARING = GONE | {InstanceState.CONFIGURED, InstanceState.STARTED}


CHECKS = frozenset({CHECK_STATUS, CHECK_DRIFT, CHECK_RELATIONSHIP_DRIFT})
"""Operations that are checks; later steps depend on their results."""
OPERATIONS = CHECKS | {PREHEAL, HEAL, POSTHEAL, UPDATE_RELATIONSHIP, *UPDATES}
"""Operations whose calls store a result."""
_DRIFTS = {
    SubjectKind.INSTANCE: CheckKind.DRIFT,
    SubjectKind.SOURCE: CheckKind.SOURCE_DRIFT,
    SubjectKind.TARGET: CheckKind.TARGET_DRIFT,
}
_COMPLETED, _FAILED = int(OutcomeKind.COMPLETED), int(OutcomeKind.FAILED)
_NOTHING = np.empty(0, np.uint8)


@frozen
class Checks:
    """The results that a planner gets: {kind: uint8 by instance or relationship number}."""

    columns: Mapping[CheckKind, np.ndarray] = field(default_factory=dict)

    def column(self, kind: CheckKind, count: int) -> np.ndarray:
        """Return the first ``count`` results of a kind, ``UNKNOWN`` if none was stored.

        >>> Checks({CheckKind.DRIFT: np.array([3], np.uint8)}).column(CheckKind.DRIFT, 2).tolist()
        [3, 0]
        """
        found = self.columns.get(kind, _NOTHING)
        return np.concatenate((found[:count], np.zeros(max(0, count - len(found)), np.uint8)))

    def of(self, kind: CheckKind, subject: int) -> int:
        """Return the result of one subject."""
        found = self.columns.get(kind, _NOTHING)
        return int(found[subject]) if subject < len(found) else CheckResult.UNKNOWN


@frozen
class NewCheckResults:
    """New results of one kind in one deployment. ``subjects`` int32, each once; ``results`` uint8; ``at`` in ms.

    ``execution`` is the number of the execution that called. ``bodies`` is {subject: returned value}, for calls that
    returned one.
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
    """Return (kind, results as uint8) for outcomes of an operation (uint8: completed or failed), or None if it gives none.

    ``has_said`` marks calls that returned a value, which means drift. A successful ``preheal`` or ``postheal`` gives no
    result. An update operation clears the drift, until the next update operation of the same instance fails.

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
    """Storage of the bodies (values that checks returned), in memory or in a table."""

    def drop(self, kind: CheckKind, subjects: np.ndarray) -> None:
        """Delete the bodies of these subjects."""
        ...

    def move(self, kind: CheckKind, to: CheckKind, subjects: np.ndarray) -> None:
        """Move the bodies of these subjects to another kind, which has no bodies for them."""
        ...

    def put(self, kind: CheckKind, bodies: Mapping[int, Value]) -> None:
        """Store {subject: body}, for subjects without a body."""
        ...


class HeldBodies(dict[tuple[CheckKind, int], "Value"]):
    """Bodies of checks in memory; implements ``Bodies``."""

    def drop(self, kind: CheckKind, subjects: np.ndarray) -> None:
        """Delete the bodies of these subjects."""
        for subject in subjects.tolist() if self else ():
            self.pop((kind, subject), None)

    def move(self, kind: CheckKind, to: CheckKind, subjects: np.ndarray) -> None:
        """Move the bodies to another kind."""
        for subject in subjects.tolist() if self else ():
            if (kind, subject) in self:
                self[to, subject] = self.pop((kind, subject))

    def put(self, kind: CheckKind, bodies: Mapping[int, Value]) -> None:
        """Store the bodies."""
        self.update({(kind, subject): body for subject, body in bodies.items()})


@mutable
class Column:
    """Results of one kind by subject, each with its time (ms) and the number of its execution; the length is whole pages."""

    results: np.ndarray
    times: np.ndarray
    executions: np.ndarray

    def __len__(self) -> int:
        """Return the number of subjects for which there is room."""
        return len(self.results)


def empty_column(count: int) -> Column:
    """Return a column for ``count`` subjects, all with the result ``UNKNOWN``."""
    return Column(np.zeros(count, np.uint8), np.zeros(count, np.int64), np.zeros(count, np.int32))


class CheckResults:
    """All results of one deployment. ``touched`` is {kind: subjects with changed results}, which the turn must write."""

    def __init__(self, bodies: Bodies, columns: Mapping[CheckKind, Column] | None = None) -> None:
        """Use ``columns`` as they are stored; they are changed in place."""
        self.bodies = bodies
        self.columns = dict(columns or {})
        self.touched: dict[CheckKind, list[np.ndarray]] = {}

    @property
    def is_empty(self) -> bool:
        """True if no result was ever stored."""
        return not self.columns

    @property
    def checks(self) -> Checks:
        """Return a copy of the results for planners."""
        return Checks({kind: column.results.copy() for kind, column in self.columns.items()})

    def copy(self) -> CheckResults:
        """Return a copy of all results, in memory."""
        columns = {
            kind: Column(column.results.copy(), column.times.copy(), column.executions.copy())
            for kind, column in self.columns.items()
        }
        bodies = self.bodies
        return CheckResults(HeldBodies(bodies if isinstance(bodies, HeldBodies) else {}), columns)

    def record(self, made: NewCheckResults) -> None:
        """Record results; a new status moves the former status of the same instance to the previous status."""
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
        """Delete results that a change of state makes outdated: configuring deletes drift, starting deletes the status.

        A user's mark survives a restart. A removed instance counts as unhealthy until it is re-created and started.
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
        """Return a bool array: True for those of ``subjects`` that a user marked as unhealthy."""
        column = self.columns.get(CheckKind.STATUS)
        if column is None:
            return np.zeros(len(subjects), bool)
        found = np.zeros(len(subjects), bool)
        known = subjects < len(column)
        found[known] = column.results[subjects[known]] == CheckResult.MARKED
        return found

    def _unmark(self, subjects: np.ndarray) -> None:
        """Replace a user's mark on each of these subjects by the result ``FAILED``; the stored reason stays."""
        if len(subjects):
            self.columns[CheckKind.STATUS].results[subjects] = CheckResult.FAILED
            self.touched.setdefault(CheckKind.STATUS, []).append(subjects)

    def _known(self, kind: CheckKind, subjects: np.ndarray) -> np.ndarray:
        """Return those of ``subjects`` that have a result of this kind other than ``UNKNOWN``."""
        column = self.columns.get(kind)
        if column is None:
            return subjects[:0]
        if int(subjects.max(initial=-1)) >= len(column):
            subjects = subjects[subjects < len(column)]
        known = column.results[as_slice(subjects)] != CheckResult.UNKNOWN
        return subjects if every(known) else subjects[known]

    def _supersede(self, subjects: np.ndarray) -> None:
        """Move the status results of these subjects, with their bodies, to the previous status."""
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
    """Return True if passing through these states makes results outdated."""
    return not CLEARING.isdisjoint(states)


def _longer(column: Column, count: int) -> Column:
    found = empty_column(count)
    found.results[: len(column)] = column.results
    found.times[: len(column)] = column.times
    found.executions[: len(column)] = column.executions
    return found
