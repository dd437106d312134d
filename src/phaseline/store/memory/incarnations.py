"""What lives in memory has one life."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.rows.incarnations import Incarnation
    from phaseline.model.rows.rows import Actor, ExecutionRow


class MemoryIncarnations:
    """``ports.store.IncarnationShelf`` of a store that cannot be restored."""

    def all(self) -> Sequence[Incarnation]:
        """None."""
        return ()

    def held(self) -> int:
        """Nothing waits."""
        return 0

    def go_on(self, actor: Actor, now: int) -> Sequence[ExecutionRow]:
        """None."""
        del actor, now
        return ()
