"""Protocol of the executor, which calls plugin code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np

    from phaseline.model.execution.events import Batch
    from phaseline.model.rows.rows import BatchRow


class Executor(Protocol):
    """Calls plugins.

    ``submit`` returns before the calls are done; their outcomes arrive later in the engine's inbox.
    """

    def slots(self) -> Mapping[str, int]:
        """Return {pool name: the number of calls that the pool can run at the same time}."""
        ...

    def submit(self, batch: Batch) -> None:
        """Begin the calls of a batch and return at once."""
        ...

    def cancel(self, batch: int, members: np.ndarray, *, kill: bool) -> None:
        """Notify running members of a batch that they are canceled. If ``kill``, also end their processes."""
        ...

    def hold(self) -> None:
        """Stop beginning calls of further members; batches stay open, and running calls continue.

        ``release`` ends this.
        """
        ...

    def release(self) -> None:
        """Begin the calls that ``hold`` kept back, and from now on begin submitted calls as usual."""
        ...

    def is_busy(self) -> bool:
        """True while a call is running."""
        ...

    def recover(self, open_batches: Sequence[BatchRow]) -> Collection[int]:
        """Return the ids of those batches, which a former engine began, whose calls still run; their outcomes will come.

        End the processes that a dead engine left running for the other batches, before these are declared lost.
        """
        ...

    def stop(self, drain_s: float) -> None:
        """Wait at most ``drain_s`` seconds for running calls, then end them. Outcomes so far are then in the inbox.

        Members whose call has not begun are reported with the outcome ``again``. Calls ended by force are not reported.
        """
        ...
