"""Events as they come: each one once, and all of them in the end, whoever does whatever meanwhile."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from tests.simulation.test_day_two import DayTwo
from tests.simulation.test_scaling import Scaled

from phaseline.ports.store import Store
from phaseline.testing.simulation.world import World, let_go
from phaseline.use_cases.queries.events.events_and_logs import events
from phaseline.use_cases.queries.events.log_tail import EventTail
from phaseline.views.views import Line

SEEDS = range(6)
EVERY = 3
"""Turns from one look to the next."""


@dataclass
class Place:
    """As much of a workplace as looking needs."""

    store: Store


def kinds(lines: list[Line]) -> Counter[tuple[str, str, str]]:
    """How often what happened to whom; what a call said may be known only later."""
    return Counter(
        (line.instance, line.operation, line.text.partition("'")[0] if line.level == "task" else line.text)
        for line in lines
    )


class Followed:
    """All executions of a store, each followed from the look on at which it was there."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.tails: dict[int, EventTail] = {}
        self.lines: dict[int, list[Line]] = {}

    def look(self) -> None:
        for row in self.store.executions():
            if row.number not in self.tails:
                self.tails[row.number] = EventTail(Place(self.store), row.id)  # type: ignore[arg-type]  # a part of one
            told = [line for page in self.tails[row.number].new() for line in page]
            assert [line.at for line in told] == sorted(line.at for line in told)
            self.lines.setdefault(row.number, []).extend(told)


@pytest.mark.parametrize("world", [World, Scaled, DayTwo])
@pytest.mark.parametrize("seed", SEEDS)
def test_followed_events_are_in_the_end_all_that_are_told(world: type[World], seed: int) -> None:
    class Following(world):  # type: ignore[valid-type, misc]  # each world in turn
        turns = 0
        followed: Followed | None = None

        def _pass_time(self, *, must_move: bool) -> None:
            super()._pass_time(must_move=must_move)
            self.turns += 1
            if self.turns % EVERY == 0:
                self.followed = self.followed or Followed(self.store)
                self.followed.store = self.store
                self.followed.look()

    here = Following(seed)
    here.live()
    followed = here.followed or Followed(here.store)
    followed.look()
    compared = 0
    for row in here.store.executions():
        place = Place(here.store)
        everything = kinds(list(events(place, row.id).lines))  # type: ignore[arg-type]  # a part of one
        told = kinds(followed.lines[row.number])
        assert not everything - told, "left out"
        assert not told - everything, "told twice, or never happened"
        compared += everything.total()
    let_go(here.engine, here, here.store)
    assert compared > 0
