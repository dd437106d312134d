"""The tables of statuses: how an entry's status affects the entries that need it, and which changes each fact may make.

Each entry counts its needs that are ``unmet`` and those that are ``lost``. A need contributes (unmet, lost):

    open (blocked ... unsure)                    (1, 0)
    completed, passed; failed where tolerant     (0, 0)
    failed, skipped, canceled                    (1, 1)

An entry without unmet needs may run; an entry with a lost need is skipped. Milestones differ. A milestone ``any`` passes
with the first met need and is skipped when all needs are lost. A milestone ``ended`` passes when each need is met or lost.
When needs change, only blocked and skipped entries react; completed, passed and running entries do not. Only a
*reopening* undoes more (T19, and a phase that turns out to apply): a completed or passed entry is blocked again, and so
are entries that could start because of it, unless they are being called. A retry also blocks a milestone that passed
because a retried entry had ended, if dependents of the milestone have not begun.

``TRANSITIONS`` lists each change that a fact may make: {(status, fact): status}. Two cases are not in the table:
a retry outcome without retries left counts as ``fail``; a retried entry is first blocked, then the rules above decide.
"""

from __future__ import annotations

import numpy as np

from phaseline.lang.arrays import some
from phaseline.model.graph.status import EntryStatus as E
from phaseline.model.graph.status import Mark, OutcomeKind

# Plain integers for comparisons with arrays: for a member of an enumeration numpy inspects the class each time, which takes
# longer than comparing ten entries.
BLOCKED, WAITING, RUNNING, SLEEPING, CANCELING, UNSURE, COMPLETED, PASSED, FAILED, SKIPPED, CANCELED = map(int, E)
ABSENT, TOLERANT, ANY, ENDED, ANNOUNCE, EXIT, CONDITIONAL = map(int, Mark)
KIND_PENDING, KIND_COMPLETED, KIND_AGAIN, KIND_RETRY, KIND_FAILED, KIND_UNSURE, KIND_LOST = map(int, OutcomeKind)

TRANSITIONS: dict[tuple[E, str], E] = {
    (E.BLOCKED, "release"): E.WAITING,
    (E.BLOCKED, "pass"): E.PASSED,
    (E.BLOCKED, "lose"): E.SKIPPED,
    (E.BLOCKED, "cancel"): E.CANCELED,
    (E.BLOCKED, "complete"): E.COMPLETED,
    (E.SKIPPED, "revive"): E.BLOCKED,
    (E.SKIPPED, "release"): E.WAITING,
    (E.SKIPPED, "pass"): E.PASSED,
    (E.SKIPPED, "complete"): E.COMPLETED,
    (E.WAITING, "dispatch"): E.RUNNING,
    (E.WAITING, "pass"): E.PASSED,
    (E.WAITING, "cancel"): E.CANCELED,
    (E.WAITING, "complete"): E.COMPLETED,
    (E.WAITING, "fail to ask"): E.FAILED,
    (E.WAITING, "take back"): E.BLOCKED,
    (E.RUNNING, "complete"): E.COMPLETED,
    (E.RUNNING, "again"): E.SLEEPING,
    (E.RUNNING, "fail"): E.FAILED,
    (E.RUNNING, "lose track"): E.UNSURE,
    (E.RUNNING, "lose repeatable"): E.WAITING,
    (E.RUNNING, "cancel"): E.CANCELING,
    (E.RUNNING, "force cancel"): E.CANCELED,
    (E.SLEEPING, "wake"): E.WAITING,
    (E.SLEEPING, "cancel"): E.CANCELED,
    (E.SLEEPING, "complete"): E.COMPLETED,
    (E.SLEEPING, "take back"): E.BLOCKED,
    (E.CANCELING, "complete"): E.COMPLETED,
    (E.CANCELING, "again"): E.CANCELED,
    (E.CANCELING, "fail"): E.FAILED,
    (E.CANCELING, "lose track"): E.UNSURE,
    (E.CANCELING, "lose repeatable"): E.CANCELED,
    (E.CANCELING, "force cancel"): E.CANCELED,
    (E.COMPLETED, "reopen"): E.BLOCKED,
    (E.PASSED, "reopen"): E.BLOCKED,
    (E.UNSURE, "complete"): E.COMPLETED,
    (E.UNSURE, "retry"): E.BLOCKED,
    (E.FAILED, "complete"): E.COMPLETED,
    (E.FAILED, "retry"): E.BLOCKED,
    (E.CANCELED, "retry"): E.BLOCKED,
    (E.CANCELED, "complete"): E.COMPLETED,
}
"""{(status, fact): status after the fact}."""


def transition_diagram() -> str:
    """Return the table as a Mermaid state diagram; facts with equal changes share an arrow."""
    arrows: dict[tuple[E, E], list[str]] = {}
    for (before, fact), after in TRANSITIONS.items():
        arrows.setdefault((before, after), []).append(fact)
    lines = ["stateDiagram-v2", f"    [*] --> {E.BLOCKED.word}"]
    lines += [f"    {before.word} --> {after.word}: {', '.join(facts)}" for (before, after), facts in arrows.items()]
    return "\n".join(lines) + "\n"


UNMET = np.array([[1, 1]] * 6 + [[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]], np.int8)
"""[status, is tolerant] -> number that such an entry adds to ``unmet`` of each dependent."""
LOST = np.array([[0, 0]] * 8 + [[1, 0], [1, 1], [1, 1]], np.int8)
"""[status, is tolerant] -> number that such an entry adds to ``lost`` of each dependent."""

TOLD = np.array(
    [
        [UNMET[new, tolerant] - UNMET[old, tolerant], LOST[new, tolerant] - LOST[old, tolerant]]
        for old in range(len(E))
        for new in range(len(E))
        for tolerant in (0, 1)
    ],
    np.int8,
).T.copy()
"""[0 for unmet or 1 for lost, number of the change] -> number that the change adds to this counter of each dependent.

``change_number`` gives the number of a change.
"""


def change_number(old: np.ndarray, new: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Return for each change of status its column number in ``TOLD`` (int16)."""
    number = old.astype(np.int16)
    number *= len(E)
    number += new
    number *= 2
    number += (marks & TOLERANT) >> 1
    return number


def one_of(*statuses: int) -> np.ndarray:
    """Return a bool array by status that is True for the given statuses."""
    return np.array([status in statuses for status in E], bool)


IS_OPEN = np.array([status < E.COMPLETED for status in E], bool)
"""[status] -> True if the entry has not ended (unsure entries included)."""
MAY_MOVE = np.array([status < E.UNSURE for status in E], np.int8)
"""[status] -> 1 if such an entry keeps its graph from settling; an unsure entry does not."""
IS_ACTIVE = np.array([status in {E.WAITING, E.RUNNING, E.SLEEPING, E.CANCELING} for status in E], bool)
"""[status] -> True if the entry will change without a user's decision; a blocked entry changes only after another one."""
IS_STORED = np.array([status >= E.SLEEPING for status in E], bool)
"""[status] -> True if the status is stored in a page; all others follow from needs and open batches."""
WAS_LET_THROUGH = np.array([status in {E.WAITING, E.SLEEPING, E.PASSED} for status in E], bool)
"""[status] -> True if the entry's needs are done, but no call of it runs or has ended. A reopening blocks such entries."""


GATE = ABSENT | CONDITIONAL
"""Marks that together describe a gate: an entry that is never called, and whose condition the shell evaluates."""
WOKEN = -1
"""Due time of a running entry that a user has woken: if its call ends with "again", it is called again at once."""
ASKED = 128
"""Internal mark of an entry that the shell has been asked to evaluate (``Evaluate``) and has not answered."""


def ruled_status(unmet: np.ndarray, lost: np.ndarray, needs: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Return the status (uint8) that needs alone give to entries: blocked, waiting, passed or skipped."""
    absent = (marks & GATE) == ABSENT  # an entry that is also conditional is evaluated before it passes
    ready = np.where(absent, np.uint8(PASSED), np.uint8(WAITING))
    status = np.where(lost > 0, np.uint8(SKIPPED), np.where(unmet == 0, ready, np.uint8(BLOCKED)))
    special = (marks & (ANY | ENDED)) != 0
    if some(special):
        is_any = (marks & ANY) != 0
        met = needs - unmet
        any_status = np.where(
            (met > 0) | (needs == 0), PASSED, np.where((lost == needs) & (needs > 0), SKIPPED, BLOCKED)
        )
        ended_status = np.where(unmet == lost, PASSED, BLOCKED)
        status = np.where(special, np.where(is_any, any_status, ended_status).astype(np.uint8), status)
    return status
