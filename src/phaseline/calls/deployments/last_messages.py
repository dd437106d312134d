"""The last message of each entry that has one, shown in progress beside a failure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.rows.rows import EntryRemark

MESSAGES_KEPT = 2_000
"""Last messages of failing entries kept in memory for the progress view."""


class LastMessages(dict[tuple[int, int], str]):
    """{(graph, position): message}."""

    def remember(self, remarks: Iterable[EntryRemark]) -> None:
        """Record the messages of a turn."""
        self.update({(remark.graph, remark.position): remark.message for remark in remarks if remark.message})
        self.trim()

    def trim(self) -> None:
        """Forget the oldest of too many."""
        while len(self) > MESSAGES_KEPT:
            del self[next(iter(self))]
