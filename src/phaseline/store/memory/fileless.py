"""The maintenance of a store that has no file, and its incarnations: there is little to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from phaseline.model.rows.maintenance import Compacted, StoreFinding
from phaseline.store.sql import errors as failures

if TYPE_CHECKING:
    from phaseline.model.rows.incarnations import Incarnation
    from phaseline.model.rows.rows import Actor, ExecutionRow


class Fileless:
    """The methods of ``ports.store.Store`` for the maintenance of a file, which a store in memory has not."""

    def sizes(self) -> tuple[int, int]:
        """Return zeros: nothing is stored outside of this process."""
        return 0, 0

    def server_checks(self) -> Sequence[tuple[Literal["ok", "warn", "fail"], str, str, str]]:
        """Return findings about the database server; there is none."""
        return ()

    def refresh_lists(self) -> bool:
        """Return False, because lists are computed from what is in memory."""
        return False

    def continue_upgrade(self) -> bool:
        """Return False, because a store in memory is never upgraded."""
        return False

    def check(self) -> Sequence[StoreFinding]:
        """Return no findings: there is no file to check."""
        return ()

    def backup(self, path: str) -> int:
        """Refuse (PL-S006), because there is no file."""
        raise failures.cannot_copy(path, "the store is in memory and ends with its process")

    def compact(self) -> Compacted:
        """Do nothing, because there is no file."""
        return Compacted(0, 0)


class MemoryIncarnations:
    """The ``ports.store_upkeep.IncarnationShelf`` of a store that cannot be restored."""

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
