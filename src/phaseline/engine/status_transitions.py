"""The tables of the engine: the effect of each status on dependents, and the change that each fact makes.

Contribution of an entry to one that waits for it: (unmet, lost).

    open (blocked ... unsure)                    (1, 0)
    completed, passed; failed where tolerant     (0, 0)
    failed, skipped, canceled                    (1, 1)

An entry with nothing unmet may run; one with something lost is skipped. Milestones: ``any`` passes with the
first need that is met and is skipped when all are lost; ``ended`` passes when each need is met or lost. A change of its
needs never takes an entry back that has been let through: completed, passed and running entries do not react
to it; blocked and skipped ones do. Only a *reopening* takes back (T19, and a phase that applies after all): a completed
or passed entry is blocked again, with the entries that it let through and that are not in a call. A retry does the same to
a milestone that had passed by the end of a retried entry, for dependents that have not begun.

``TRANSITIONS`` lists every change a fact may make: {(status, fact): status}. Two cases are not in the table:
a retry outcome with no retries left is ``fail``; a retried entry is first blocked, and the rule above then decides.
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
"""{(status, fact): status}"""


def transition_diagram() -> str:
    """The table as a Mermaid state diagram; facts that make the same change share an arrow."""
    arrows: dict[tuple[E, E], list[str]] = {}
    for (before, fact), after in TRANSITIONS.items():
        arrows.setdefault((before, after), []).append(fact)
    lines = ["stateDiagram-v2", f"    [*] --> {E.BLOCKED.word}"]
    lines += [f"    {before.word} --> {after.word}: {', '.join(facts)}" for (before, after), facts in arrows.items()]
    return "\n".join(lines) + "\n"


UNMET = np.array([[1, 1]] * 6 + [[0, 0], [0, 0], [1, 0], [1, 1], [1, 1]], np.int8)
"""[status, is tolerant] -> its contribution to ``unmet`` of each dependent."""
LOST = np.array([[0, 0]] * 8 + [[1, 0], [1, 1], [1, 1]], np.int8)
"""[status, is tolerant] -> its contribution to ``lost`` of each dependent."""

TOLD = np.array(
    [
        [UNMET[new, tolerant] - UNMET[old, tolerant], LOST[new, tolerant] - LOST[old, tolerant]]
        for old in range(len(E))
        for new in range(len(E))
        for tolerant in (0, 1)
    ],
    np.int8,
).T.copy()
"""[unmet or lost, change] -> what a change adds in dependents; see ``change_number``."""


def change_number(old: np.ndarray, new: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Number of each change of status in ``TOLD``, int16."""
    number = old.astype(np.int16)
    number *= len(E)
    number += new
    number *= 2
    number += (marks & TOLERANT) >> 1
    return number


def one_of(*statuses: int) -> np.ndarray:
    """[status] -> is one of these."""
    return np.array([status in statuses for status in E], bool)


IS_OPEN = np.array([status < E.COMPLETED for status in E], bool)
"""[status] -> may still change by itself (unsure included)."""
MAY_MOVE = np.array([status < E.UNSURE for status in E], np.int8)
"""[status] -> 1 while the graph has not settled because of it (unsure counts as settled)."""
IS_ACTIVE = np.array([status in {E.WAITING, E.RUNNING, E.SLEEPING, E.CANCELING} for status in E], bool)
"""[status] -> will change without an operator's decision; blocked entries wait for one of these, or for an unsure one."""
IS_STORED = np.array([status >= E.SLEEPING for status in E], bool)
"""[status] -> is written to its page; the others follow from needs and open batches."""
WAS_LET_THROUGH = np.array([status in {E.WAITING, E.SLEEPING, E.PASSED} for status in E], bool)
"""[status] -> let through by its needs, and no call runs or has decided it; a reopening takes it back."""


GATE = ABSENT | CONDITIONAL
"""Marks of an entry that is never called, and that the shell evaluates before it passes."""
WOKEN = -1
"""Due time of an entry in a call that was asked to wake: if the call asks for another one, that is made at once."""
ASKED = 128
"""Internal mark: the shell evaluates this entry (``Evaluate``) and has not answered."""


def ruled_status(unmet: np.ndarray, lost: np.ndarray, needs: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Status (uint8) of entries that no call decides: blocked, waiting, passed or skipped by their needs alone."""
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
