"""The chances of faults in one simulated world, and the dice that decide them."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TypeVar

T = TypeVar("T")

HOUR_MS = 3_600_000
"""Largest error of a machine's clock after a restart."""
QUIET = 0.35
"""Share of the worlds in which one kind of fault does not occur at all."""


WAVERING_WORLDS = 5
"""One world in this many asks its engine to leave, and withdraws the request later."""
WAVERS = 0.2


class Crash(Exception):
    """The engine's process dies here."""


@dataclass(slots=True)
class Faults:
    """Probabilities (0 to 1) of outcomes of a call, of requests by users, and of a crash at each point where one can happen."""

    fails: float = 0.0
    retries: float = 0.0
    sleeps: float = 0.0
    hangs: float = 0.0
    late: float = 0.0
    twice: float = 0.0
    foreign: float = 0.0
    notes: float = 0.0
    unsure: float = 0.0
    crashes: float = 0.0
    cancels: float = 0.0

    @classmethod
    def drawn(cls, dice: Random) -> Faults:
        """Return random chances: each kind of fault is absent, rare or frequent."""

        def chance(most: float) -> float:
            return 0.0 if dice.random() < QUIET else dice.random() * most

        return cls(
            fails=chance(0.15),
            retries=chance(0.3),
            sleeps=chance(0.3),
            hangs=chance(0.3),
            late=chance(0.5),
            twice=chance(0.3),
            foreign=chance(0.2),
            notes=chance(0.3),
            unsure=chance(0.1),
            crashes=chance(0.08),
            cancels=chance(0.03),
        )


class Dice:
    """The only source of randomness in one world, so that the seed determines all its events."""

    def __init__(self, seed: int) -> None:
        """Draw the chances of faults in this world."""
        self.random = Random(seed)
        self._clocks = Random(seed)  # a stream apart, so that the stories of old seeds stay what they are
        self._leavers = None if seed % WAVERING_WORLDS else Random(seed)
        self.faults = Faults.drawn(self.random)

    def wavers(self) -> bool:
        """Return True when the request to leave is made or withdrawn."""
        return self._leavers is not None and self._leavers.random() < WAVERS

    def happens(self, chance: float) -> bool:
        """Return True with this chance. A chance of 0 draws no random number."""
        return chance > 0 and self.random.random() < chance

    def one(self, *values: T) -> T:
        """Return one of the values at random."""
        count = len(values)
        bits, draw = count.bit_length(), self.random.getrandbits
        number = draw(bits)
        while number >= count:
            number = draw(bits)
        return values[number]

    def clock_jump(self) -> int:
        """Return the difference, in ms, of the machine's clock when the process starts again; it is mostly 0."""
        return self._clocks.choice((0, 0, 0, HOUR_MS, -HOUR_MS))

    def calm_down(self) -> None:
        """Let nothing fail from now on."""
        self.faults = Faults()

    def crash(self) -> None:
        """Raise ``Crash`` if the dice decide that the process dies here."""
        if self.happens(self.faults.crashes):
            raise Crash
