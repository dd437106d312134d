"""What comes back waits for the loop, and wakes it."""

import threading

import pytest

from phaseline.calls.threads.inbox import Inbox


def test_everything_posted_is_taken_once_in_order() -> None:
    inbox: Inbox[int] = Inbox()
    for number in range(3):
        inbox.post(number)
    assert inbox.take_all() == [0, 1, 2]
    assert inbox.take_all() == []
    assert len(inbox) == 0


def test_a_wait_ends_with_a_post_from_another_thread() -> None:
    inbox: Inbox[str] = Inbox()
    threading.Timer(0.01, inbox.post, ["here"]).start()
    assert inbox.wait(60_000)
    assert inbox.take_all() == ["here"]


def test_a_wait_ends_without_a_post_when_woken_or_late() -> None:
    inbox: Inbox[str] = Inbox()
    assert not inbox.wait(1)
    inbox.wake()
    assert inbox.wait(None)
    assert inbox.take_all() == []
    assert not inbox.wait(-5)


def test_nothing_is_lost_between_many_posters_and_one_taker() -> None:
    inbox: Inbox[int] = Inbox()
    posters = [threading.Thread(target=lambda: [inbox.post(1) for _ in range(1000)]) for _ in range(4)]
    for poster in posters:
        poster.start()
    taken = 0
    while taken < 4000:
        assert inbox.wait(60_000)
        taken += len(inbox.take_all())
    assert taken == 4000


def test_what_breaks_a_thread_of_ours_is_raised_where_reports_are_taken() -> None:
    inbox: Inbox[int] = Inbox()
    inbox.fail(AssertionError("ours"))
    assert inbox.wait(60_000)
    with pytest.raises(AssertionError, match="ours"):
        inbox.take_all()
