"""Protocol of the lease: the right of one process to write for the engine of a store, until another process has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from phaseline.model.problems.problem import ProblemsError


class Lease(Protocol):
    """The ownership of a store by this process, from ``Store.own`` on. It may end at any time, for example after a pause.

    A lost lease stays lost. What its holder still writes is refused by the store, because the next owner has a higher
    epoch; calls that its holder begins are refused by nothing, so whatever begins calls asks ``is_late`` first.
    """

    @property
    def epoch(self) -> int:
        """Number of this ownership; each new owner of the store has a higher one."""
        ...

    @property
    def holder(self) -> str:
        """Random name of this ownership, by which requests address it."""
        ...

    def is_late(self) -> bool:
        """Return True if the lease was not renewed for half of its time, or is lost.

        Its holder begins no call then. This is nearly free and may be asked before each call.
        """
        ...

    def is_lost(self) -> bool:
        """Return True if another process owns the store, or may own it. This may read a little of the store."""
        ...

    def loss(self) -> ProblemsError:
        """Return PL-S004, the problem of an engine whose lease is lost."""
        ...
