"""The part that calls plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from phaseline.model.execution.events import Batch
    from phaseline.model.rows.rows import BatchRow


class Executor(Protocol):
    """Calls plugins. Submit and outcome are separate: outcomes come through an inbox."""

    def slots(self) -> Mapping[str, int]:
        """{pool name: the most calls at once}."""
        ...

    def submit(self, batch: Batch) -> None:
        """Begin the calls of a batch; returns at once."""
        ...

    def cancel(self, batch: int, members: np.ndarray, *, kill: bool) -> None:
        """Notify running members that they are canceled; end their processes if ``kill``."""
        ...

    def hold(self) -> None:
        """Begin no further members; their batches stay open. Running calls continue."""
        ...

    def release(self) -> None:
        """Begin held members, and those submitted from now on."""
        ...

    def is_busy(self) -> bool:
        """True while a call is running."""
        ...

    def recover(self, open_batches: Sequence[BatchRow]) -> None:
        """End processes that a dead engine left running, before its batches are declared lost."""
        ...

    def stop(self, drain_s: float) -> None:
        """Wait for running calls at most ``drain_s`` seconds, then end them. Outcomes until then are in the inbox at the end.

        Members that have not begun come back uncalled, as ``again``; ended ones do not come back.
        """
        ...
