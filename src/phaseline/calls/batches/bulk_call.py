"""One call that takes several members: their data before it, and the outcome of each after it.

A flavour whose functions can take many members has a ``BulkCaller``. The executor lets it gather the members of a call,
runs the code that it gives, on a thread or as a coroutine, and has it settled; a call of one member goes the same way.
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
"""The flavours whose functions take several members, or one as a coroutine."""
GATHERING: tuple[Gathers, ...] = ("native", "phase", "task")


@frozen
class BulkCall:
    """The members of one call: their ``count``, and ``call_at`` to make the call of a place when it is first touched.

    ``say`` (level, text) logs a line about the call as a whole. ``remembered``: places of entries for which an earlier
    call left data; ``doubted``: places of entries whose last call ended unseen.
    """

    count: int
    call_at: Callable[[int], PluginCall]
    say: Callable[[str, str], None]
    remembered: Sequence[int] = ()
    doubted: Sequence[int] = ()


class Together(Protocol):
    """Members that are called together."""

    def code(self, function: Callable[..., object]) -> Callable[[], object]:
        """The code that calls the function for all members; a coroutine function if the function is one."""
        ...

    def settle(self, raised: BaseException | None) -> BulkOutcome:
        """Close it and report the outcome of each member; ``raised``: the exception that left the code."""
        ...

    def settle_only(self, raised: BaseException | None) -> Outcome:
        """As ``settle`` where there is one member."""
        ...


class BulkCaller(Protocol):
    """Makes calls of several members, for one flavour."""

    def gather(self, gathering: BulkCall) -> Together:
        """These members, about to be called."""
        ...


class BulkOutcome:
    """Outcomes of a call by place: ``kinds`` uint8, ``delays`` int64 ms; ``outcomes`` for members with more details."""

    __slots__ = ("calls", "delays", "fallen", "kinds", "outcomes")

    def __init__(
        self,
        kinds: np.ndarray,
        delays: np.ndarray,
        outcomes: dict[int, Outcome],
        calls: Mapping[int, PluginCall],
        fallen: Sequence[int] = (),
    ) -> None:
        """``calls``: those that the function touched; only they can have changed anything.

        ``fallen``: places that failed only by what the code raised, where it is to be found out which are to blame.
        """
        self.fallen = fallen
        self.kinds = kinds
        self.delays = delays
        self.outcomes = outcomes
        self.calls = calls

    def change(self, place: int, outcome: Outcome) -> None:
        """Another outcome for one place."""
        if not self.kinds.flags.writeable:
            self.kinds, self.delays = self.kinds.copy(), self.delays.copy()
        self.kinds[place], self.delays[place] = outcome.kind, outcome.delay_ms

    def outcome_at(self, place: int) -> Outcome:
        """The outcome of one place."""
        found = self.outcomes.get(place)
        if found is not None:
            return found
        kind = OutcomeKind(int(self.kinds[place]))
        return COMPLETED if kind is OutcomeKind.COMPLETED else Outcome(kind, int(self.delays[place]))
