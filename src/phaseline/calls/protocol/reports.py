"""Reports from calls, in bulk: outcomes as arrays, other details only for members that have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import every, some
from phaseline.lang.fast_dataclasses import altered, frozen, mutable
from phaseline.model.graph.status import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from phaseline.model.execution.events import Batch
    from phaseline.model.rows.rows import DocumentChange, EntryRemark, LogLine

POST_EVERY_MS = 10
"""The longest time that outcomes of per-instance calls are held back to be reported together."""
POST_AT = 1_000
"""Number of outcomes that are posted at once, without waiting for more."""
PENDING = int(OutcomeKind.PENDING)


@frozen
class CallReport:
    """Outcomes and data of members of one batch: ``members`` int32, ``kinds`` uint8, ``delays`` int64 ms.

    ``delays`` until the next call, for again and retry; -1: the policy's interval. A kind ``PENDING`` means
    data without an outcome (``Noted``): the call still runs. ``documents`` and ``remarks`` carry the member
    first, so that those of members that are not accepted can be told apart. A report without members
    carries log lines only. ``on_commit`` is called when what it brought has been committed, or refused.
    ``is_throttled``: the call reports that its provider rejects more calls of its kind.
    """

    batch: int
    members: np.ndarray
    kinds: np.ndarray
    delays: np.ndarray
    documents: Sequence[tuple[int, DocumentChange]] = ()
    remarks: Sequence[tuple[int, EntryRemark]] = ()
    logs: Sequence[LogLine] = ()
    on_commit: Callable[[], None] | None = None
    is_throttled: bool = False

    @property
    def is_noted(self) -> bool:
        """True for data without outcomes: members are named, all of them pending."""
        kinds = self.kinds
        return len(kinds) > 0 and kinds.item(0) == PENDING and (len(kinds) == 1 or not some(kinds != PENDING))

    def of(self, chosen: np.ndarray) -> CallReport:
        """The report limited to chosen members (bool, in the order of ``members``)."""
        if every(chosen):
            return self
        given = set(self.members[chosen].tolist())
        return altered(
            self,
            members=self.members[chosen],
            kinds=self.kinds[chosen],
            delays=self.delays[chosen],
            documents=[told for told in self.documents if told[0] in given],
            remarks=[told for told in self.remarks if told[0] in given],
        )


@mutable
class Dispatched:
    """A batch the executor has, and which of its members (bool) have been reported."""

    batch: Batch
    reported: np.ndarray

    def report(self, members: np.ndarray) -> bool:
        """Members have outcomes; True if now all have."""
        if len(self.reported) == 1:
            return len(members) > 0
        self.reported[members] = True
        return every(self.reported)

    def only_members(self, report: CallReport) -> CallReport:
        """The report limited to members of the batch."""
        count = len(self.reported)
        if len(report.members) == 1 and 0 <= report.members.item() < count:
            return report
        return report.of((report.members >= 0) & (report.members < count))


def all_completed(batch: int, members: np.ndarray) -> CallReport:
    """The report of a call that completed its members without details: three arrays, no objects by member."""
    count = len(members)
    kinds, delays = same_kind(OutcomeKind.COMPLETED, count), no_delays(count)
    return CallReport(batch, members.astype(np.int32, copy=False), kinds, delays)


def same_kind(kind: int, count: int) -> np.ndarray:
    """So many times this outcome, uint8; not to be written."""
    return _KINDS[kind, :count] if count <= FEW else np.full(count, kind, np.uint8)


def no_delays(count: int) -> np.ndarray:
    """So many times the policy's interval, int64; not to be written."""
    return _DELAYS[:count] if count <= FEW else np.full(count, -1, np.int64)


FEW = 16
"""Up to so many outcomes are a piece of a column that is there already."""
_KINDS = np.repeat(np.arange(len(OutcomeKind), dtype=np.uint8)[:, None], FEW, axis=1)
_DELAYS = np.full(FEW, -1, np.int64)
_KINDS.flags.writeable = _DELAYS.flags.writeable = False

NO_MEMBERS = np.empty(0, np.int32)
NO_KINDS = np.empty(0, np.uint8)
NO_DELAYS = np.empty(0, np.int64)
NO_BATCH = 0
"""The batch number of reports that belong to no call."""


def only_logs(batch: int, logs: Sequence[LogLine]) -> CallReport:
    """A report that carries log lines only."""
    return CallReport(batch, NO_MEMBERS, NO_KINDS, NO_DELAYS, logs=logs)
