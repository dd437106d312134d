"""Who makes the turns: the loop's thread, or the one that has just brought an outcome, and never two at once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from phaseline.calls.threads.inbox import Inbox
from phaseline.calls.threads.thread_pool import Pool
from phaseline.calls.threads.turn_thread import TurnBaton

if TYPE_CHECKING:
    from collections.abc import Callable


LONG_MS = 60_000
"""Tests give up after so long."""


class Bench:
    """A loop that only takes what is in; ``turners``: which thread made each turn."""

    def __init__(self) -> None:
        self.inbox: Inbox[str] = Inbox()
        self.taken: list[str] = []
        self.turners: list[int] = []
        self.is_wanted = False
        self.hands = TurnBaton(self.inbox, self.turn)
        self.pool = Pool("test", 2, self.inbox.fail, self.inbox)

    def turn(self) -> bool:
        self.turners.append(threading.get_ident())
        self.taken += self.inbox.take_all()
        return self.is_wanted

    def put_while_it_waits(self, hands: TurnBaton, task: Callable[[], None]) -> None:
        """Begun as soon as the loop's thread has given the baton away."""

        def begin() -> None:
            while hands._baton.locked():
                threading.Event().wait(0.001)
            task()

        self.pool.put(begin)

    def put(self, text: str) -> None:
        self.pool.put(lambda: self.inbox.leave(text))


def test_who_leaves_an_outcome_while_the_loop_waits_makes_the_turn_and_takes_up_what_comes_of_it() -> None:
    bench = Bench()
    workers: list[int] = []

    def work(left: int) -> None:
        workers.append(threading.get_ident())
        bench.inbox.leave(str(left))

    def turn() -> bool:
        bench.turn()
        left = int(bench.taken[-1]) - 1
        if left:
            bench.pool.put(lambda: work(left))
        return not left

    hands = TurnBaton(bench.inbox, turn)
    with hands:
        bench.put_while_it_waits(hands, lambda: work(50))
        assert hands.wait(LONG_MS)
    assert bench.taken == [str(left) for left in range(50, 0, -1)]
    assert set(bench.turners) == set(workers)
    assert len(set(workers)) == 1
    assert threading.get_ident() not in workers
    assert hands.turns == 50


def test_nothing_that_was_left_waits_while_the_loop_is_busy_or_turns_alone() -> None:
    bench = Bench()
    bench.put("while nobody may turn but the loop")
    assert bench.hands.wait(LONG_MS)
    assert bench.inbox.take_all() == ["while nobody may turn but the loop"]
    with bench.hands:
        bench.put("while the loop has the baton")
        assert bench.inbox.wait(LONG_MS)
        assert bench.turners == []
        assert bench.inbox.take_all() == ["while the loop has the baton"]


def test_two_never_turn_at_once() -> None:
    bench = Bench()
    inside = threading.Lock()
    clashes: list[str] = []

    def turn() -> bool:
        if not inside.acquire(blocking=False):
            clashes.append("two at once")
        bench.turn()
        inside.release()
        return False

    hands = TurnBaton(bench.inbox, turn)
    with hands:
        for number in range(500):
            bench.put(str(number))
        while len(bench.taken) < 500:
            hands.wait(20)
            turn()
    assert sorted(bench.taken, key=int) == [str(number) for number in range(500)]
    assert not clashes


def test_what_a_lent_turn_raises_is_raised_in_the_loop() -> None:
    bench = Bench()

    def turn() -> bool:
        raise OSError("the disk is full")

    hands = TurnBaton(bench.inbox, turn)
    with hands:
        bench.put_while_it_waits(hands, lambda: bench.inbox.leave("an outcome"))
        with pytest.raises(OSError, match="the disk is full"):
            hands.wait(LONG_MS)


def test_a_thread_that_has_not_promised_to_look_after_it_wakes_the_loop() -> None:
    inbox: Inbox[str] = Inbox()
    threading.Thread(target=lambda: inbox.leave("from elsewhere")).start()
    assert inbox.wait(LONG_MS)
    assert inbox.take_all() == ["from elsewhere"]
