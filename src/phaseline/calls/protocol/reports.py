"""Reports of calls for many members at once: outcomes as arrays, other details only for members that have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.arrays import every, some
from phaseline.lang.fast_dataclasses import altered, frozen, mutable
from phaseline.model.graph.status import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from phaseline.model.execution.events import Batch
    from phaseline.model.rows.follow_ups import FollowUp
    from phaseline.model.rows.rows import DocumentChange, EntryRemark, LogLine

POST_EVERY_MS = 10
"""The longest time in ms for which outcomes of per-instance calls are held back, to report several together."""
POST_AT = 1_000
"""Number of collected outcomes at which they are posted without waiting for more."""
PENDING = int(OutcomeKind.PENDING)


@frozen
class CallReport:
    """Outcomes and data of members of one batch: ``members`` int32, ``kinds`` uint8, ``delays`` int64 ms.

    ``delays`` are the times until the next call, for again and retry; -1 is the policy's interval. The kind ``PENDING``
    means data without an outcome (``Noted``), because the call still runs. ``documents`` and ``remarks`` are pairs that
    begin with the member, so that those of rejected members can be recognised. A report without members contains only
    log lines. ``follow_ups`` has what members make besides, as such pairs. ``on_commit`` is called when its data has been
    committed or rejected. ``is_throttled`` means that the provider rejects more calls of this kind at present.
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
    follow_ups: Sequence[tuple[int, FollowUp]] = ()

    @property
    def is_noted(self) -> bool:
        """True if the report has data without outcomes: it has members, and all are pending."""
        kinds = self.kinds
        return len(kinds) > 0 and kinds.item(0) == PENDING and (len(kinds) == 1 or not some(kinds != PENDING))

    def of(self, chosen: np.ndarray) -> CallReport:
        """Return the report limited to chosen members (bool, in the order of ``members``)."""
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
            follow_ups=[told for told in self.follow_ups if told[0] in given],
        )


@mutable
class Dispatched:
    """A batch that the executor carries out, and which of its members (bool) have been reported."""

    batch: Batch
    reported: np.ndarray

    def report(self, members: np.ndarray) -> bool:
        """Record that members have outcomes. Return True if now all members have one."""
        if len(self.reported) == 1:
            return len(members) > 0
        self.reported[members] = True
        return every(self.reported)

    def only_members(self, report: CallReport) -> CallReport:
        """Return the report limited to members of the batch."""
        count = len(self.reported)
        if len(report.members) == 1 and 0 <= report.members.item() < count:
            return report
        return report.of((report.members >= 0) & (report.members < count))


def all_completed(batch: int, members: np.ndarray) -> CallReport:
    """Return the report of a call that completed these members without details: three arrays, no objects per member."""
    count = len(members)
    kinds, delays = same_kind(OutcomeKind.COMPLETED, count), no_delays(count)
    return CallReport(batch, members.astype(np.int32, copy=False), kinds, delays)


def same_kind(kind: int, count: int) -> np.ndarray:
    """Return a read-only array (uint8) with ``count`` times the same outcome."""
    return _KINDS[kind, :count] if count <= FEW else np.full(count, kind, np.uint8)


def no_delays(count: int) -> np.ndarray:
    """Return a read-only array (int64) with ``count`` times -1, which means the policy's interval."""
    return _DELAYS[:count] if count <= FEW else np.full(count, -1, np.int64)


FEW = 16
"""The most outcomes for which an existing array is sliced instead of a new one created."""
_KINDS = np.repeat(np.arange(len(OutcomeKind), dtype=np.uint8)[:, None], FEW, axis=1)
_DELAYS = np.full(FEW, -1, np.int64)
_KINDS.flags.writeable = _DELAYS.flags.writeable = False

NO_MEMBERS = np.empty(0, np.int32)
NO_KINDS = np.empty(0, np.uint8)
NO_DELAYS = np.empty(0, np.int64)
NO_BATCH = 0
"""The batch number of reports that belong to no call."""


def only_logs(batch: int, logs: Sequence[LogLine]) -> CallReport:
    """Return a report that contains only log lines."""
    return CallReport(batch, NO_MEMBERS, NO_KINDS, NO_DELAYS, logs=logs)
