"""Incarnations of the store in memory, which has only the first one because it cannot be restored."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.rows.incarnations import Incarnation
    from phaseline.model.rows.rows import Actor, ExecutionRow


class MemoryIncarnations:
    """The ``ports.store.IncarnationShelf`` of a store that cannot be restored."""

    def all(self) -> Sequence[Incarnation]:
        """Return an empty sequence: a store in memory is never restored."""
        return ()

    def held(self) -> int:
        """Return 0: no execution waits, because a store in memory is never restored."""
        return 0

    def go_on(self, actor: Actor, now: int) -> Sequence[ExecutionRow]:
        """Return an empty sequence: no execution waits, because a store in memory is never restored."""
        del actor, now
        return ()
