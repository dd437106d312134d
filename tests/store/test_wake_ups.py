"""Whoever listens is called after what it listens to, and not after its context has ended."""

from phaseline.store.wake_ups import WakeUps


def test_listeners_are_called_for_what_they_listen_to() -> None:
    wake_ups, heard = WakeUps(), []
    with wake_ups.on_requests(lambda: heard.append("request")), wake_ups.on_answers(lambda: heard.append("answer")):
        assert wake_ups.asked()
        wake_ups.answered()
        wake_ups.answered()
    assert heard == ["request", "answer", "answer"]
    assert not wake_ups.asked()
    wake_ups.answered()
    assert len(heard) == 3


def test_one_of_two_equal_listeners_may_leave() -> None:
    wake_ups, heard = WakeUps(), []

    def wake() -> None:
        heard.append(1)

    with wake_ups.on_requests(wake):
        with wake_ups.on_requests(wake):
            wake_ups.asked()
        wake_ups.asked()
    assert len(heard) == 3
