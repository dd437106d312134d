"""Incarnations of a store in memory, which has only its first one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.rows.incarnations import Incarnation
    from phaseline.model.rows.rows import Actor, ExecutionRow


class MemoryIncarnations:
    """``ports.store.IncarnationShelf`` of a store that cannot be restored."""

    def all(self) -> Sequence[Incarnation]:
        """An empty sequence: a store in memory is never restored."""
        return ()

    def held(self) -> int:
        """0: no execution waits for a restore."""
        return 0

    def go_on(self, actor: Actor, now: int) -> Sequence[ExecutionRow]:
        """An empty sequence: a store in memory is never restored."""
        del actor, now
        return ()
