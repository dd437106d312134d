"""The last message of each failing entry, kept to be shown beside its failure in progress views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.rows.rows import EntryRemark

MESSAGES_KEPT = 2_000
"""The most messages kept in memory."""


class LastMessages(dict[tuple[int, int], str]):
    """The last messages of entries: {(graph, position): message}."""

    def remember(self, remarks: Iterable[EntryRemark]) -> None:
        """Record the messages of a turn."""
        self.update({(remark.graph, remark.position): remark.message for remark in remarks if remark.message})
        self.trim()

    def trim(self) -> None:
        """Forget the oldest messages if there are more than ``MESSAGES_KEPT``."""
        while len(self) > MESSAGES_KEPT:
            del self[next(iter(self))]
