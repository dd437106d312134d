"""The maintenance of a store that has no file: there is little to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from phaseline.model.rows.maintenance import Compacted, StoreFinding
from phaseline.store.sql import errors as failures


class Fileless:
    """The methods of ``ports.store.Store`` for the maintenance of a file, which a store in memory has not."""

    def sizes(self) -> tuple[int, int]:
        """Return zeros: nothing is stored outside of this process."""
        return 0, 0

    def server_checks(self) -> Sequence[tuple[Literal["ok", "warn", "fail"], str, str, str]]:
        """Return findings about the database server; there is none."""
        return ()

    def refresh_lists(self) -> None:
        """Do nothing, because lists are computed from what is in memory."""

    def check(self) -> Sequence[StoreFinding]:
        """Return no findings: there is no file to check."""
        return ()

    def backup(self, path: str) -> int:
        """Refuse (PL-S006), because there is no file."""
        raise failures.cannot_copy(path, "the store is in memory and ends with its process")

    def compact(self) -> Compacted:
        """Do nothing, because there is no file."""
        return Compacted(0, 0)
