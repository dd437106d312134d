"""Hook classes that a user has switched off, in the store in memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from phaseline.model.rows.hook_switches import Switch

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor
    from phaseline.ports.clock import Clock


class MemorySwitches:
    """Switches that enable and disable hook classes in a store in memory: the methods of the port ``SwitchShelf``."""

    def __init__(self, changing: Callable[[], AbstractContextManager[object]], clock: Clock) -> None:
        """``changing``: a context in which no other thread uses the stored data."""
        self._changing = changing
        self._clock = clock
        self._rows: dict[tuple[str, int], Switch] = {}

    def all(self) -> Sequence[Switch]:
        """All switches, sorted by name and deployment."""
        return sorted(self._rows.values())

    def put_off(self, name: str, deployment: int, reason: str, actor: Actor) -> Switch | None:
        """Switch a hook class off for a deployment. Return its former switch, or None if the class was on.

        A switch that exists is replaced only if a reason is given.
        """
        row = Switch(name, deployment, self._clock.now(), actor.name, reason)
        with self._changing():
            former = self._rows.get((name, deployment))
            if former is None or reason:
                self._rows[name, deployment] = row
            return former

    def put_on(self, name: str, deployment: int) -> bool:
        """Switch a hook class on again. Return False if it was not off."""
        with self._changing():
            return self._rows.pop((name, deployment), None) is not None

    def forget(self, kept: Collection[int]) -> None:
        """Remove switches of single deployments not in ``kept``, for a purge; those for all deployments remain."""
        self._rows = {key: row for key, row in self._rows.items() if not row.deployment or row.deployment in kept}
