"""One call for several members: how it gets the data of the members, and the outcome of each member after it.

A flavour whose functions can take many members has a ``BulkCaller``. The executor lets the caller gather the members of
a call, runs the code that this returns, in a thread or as a coroutine, and lets it settle the outcomes. A call of one
member is made in the same steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from phaseline.calls.protocol.call import COMPLETED, Outcome
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.status import OutcomeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np

    from phaseline.calls.protocol.call import PluginCall

Gathers = Literal["native", "phase", "task"]
"""The flavours whose functions can take several members, or can be coroutines."""
GATHERING: tuple[Gathers, ...] = ("native", "phase", "task")


@frozen
class BulkCall:
    """The members of one call. ``call_at`` returns the call of the member with an index below ``count``.

    ``say`` (level, text) logs a line about the call as a whole. ``remembered`` has the indexes of members for which an
    earlier call left data, ``doubted`` the indexes of members whose last call has an unknown end.
    """

    count: int
    call_at: Callable[[int], PluginCall]
    say: Callable[[str, str], None]
    remembered: Sequence[int] = ()
    doubted: Sequence[int] = ()


class Together(Protocol):
    """Members that are called together, in one call."""

    def code(self, function: Callable[..., object]) -> Callable[[], object]:
        """Return a function that calls ``function`` for all members, and returns a coroutine if that is async."""
        ...

    def settle(self, raised: BaseException | None) -> BulkOutcome:
        """End the call, and return the outcome of each member. ``raised`` is the exception of the code, or None."""
        ...

    def settle_only(self, raised: BaseException | None) -> Outcome:
        """End a call of one member, and return its outcome. ``raised`` is the exception of the code, or None."""
        ...


class BulkCaller(Protocol):
    """Makes calls of several members for one flavour."""

    def gather(self, gathering: BulkCall) -> Together:
        """Return the object that calls the members of ``gathering`` together and gives their outcomes."""
        ...


class BulkOutcome:
    """Outcomes of a call by member index: ``kinds`` uint8, ``delays`` int64 ms, ``outcomes`` with details if any."""

    __slots__ = ("calls", "delays", "fallen", "kinds", "outcomes")

    def __init__(
        self,
        kinds: np.ndarray,
        delays: np.ndarray,
        outcomes: dict[int, Outcome],
        calls: Mapping[int, PluginCall],
        fallen: Sequence[int] = (),
    ) -> None:
        """``calls`` has the calls of members that the function touched; only these can have changed anything.

        ``fallen`` has the indexes of members that failed only because the code raised. Bisection finds the faulty ones.
        """
        self.fallen = fallen
        self.kinds = kinds
        self.delays = delays
        self.outcomes = outcomes
        self.calls = calls

    def change(self, place: int, outcome: Outcome) -> None:
        """Replace the outcome of the member with this index."""
        if not self.kinds.flags.writeable:
            self.kinds, self.delays = self.kinds.copy(), self.delays.copy()
        self.kinds[place], self.delays[place] = outcome.kind, outcome.delay_ms

    def outcome_at(self, place: int) -> Outcome:
        """Return the outcome of the member with this index."""
        found = self.outcomes.get(place)
        if found is not None:
            return found
        kind = OutcomeKind(int(self.kinds[place]))
        return COMPLETED if kind is OutcomeKind.COMPLETED else Outcome(kind, int(self.delays[place]))
