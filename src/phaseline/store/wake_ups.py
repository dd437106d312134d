"""Functions that are called when requests or answers have been stored through an object of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

HEARD_MS = 30_000
"""How often in ms the owner must look by itself if other processes can wake it: a wake-up is lost with a killed process."""
UNHEARD_MS = 150
"""The same if no other process can wake it."""

Wake = Callable[[], None]


class WakeUps:
    """The listeners of one object of a store. Threads may add and remove listeners while others are called."""

    def __init__(self) -> None:
        """Begin without listeners."""
        self._for_requests: list[Wake] = []
        self._for_answers: list[Wake] = []

    @contextmanager
    def on_requests(self, wake: Wake) -> Iterator[None]:
        """Return a context in which ``wake`` is called after a request was stored."""
        with _added(self._for_requests, wake):
            yield

    @contextmanager
    def on_answers(self, wake: Wake) -> Iterator[None]:
        """Return a context in which ``wake`` is called after an answer was stored."""
        with _added(self._for_answers, wake):
            yield

    @property
    def has_owner(self) -> bool:
        """True if the owner is in this process and listens."""
        return bool(self._for_requests)

    def asked(self) -> bool:
        """Call the listeners for requests. Return True if there was one."""
        listeners = tuple(self._for_requests)
        for wake in listeners:
            wake()
        return bool(listeners)

    def answered(self) -> None:
        """Call the listeners for answers."""
        for wake in tuple(self._for_answers):
            wake()


@contextmanager
def _added(listeners: list[Wake], wake: Wake) -> Iterator[None]:
    listeners.append(wake)
    try:
        yield
    finally:
        listeners.remove(wake)
