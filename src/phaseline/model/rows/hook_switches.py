"""Hook classes that are switched off, for all deployments or for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_namedtuples import NamedTuple

if TYPE_CHECKING:
    from phaseline.model.rows.rows import Actor

EVERYWHERE = 0
"""Used in place of a deployment's number; means all deployments."""


class Switch(NamedTuple):
    """A hook class (by name) that is switched off: for the deployment with this number, or for all (``EVERYWHERE``)."""

    name: str
    deployment: int
    at: int
    actor: str
    reason: str


class SwitchShelf(Protocol):
    """The switched-off hook classes in a store. Any process may write; every method is one transaction."""

    def all(self) -> Sequence[Switch]:
        """Return all switches by name and deployment."""
        ...

    def put_off(self, name: str, deployment: int, reason: str, actor: Actor) -> Switch | None:
        """Switch a hook class off. Return its previous switch, or None if it was on."""
        ...

    def put_on(self, name: str, deployment: int) -> bool:
        """Switch a hook class on again. Return False if it was not off."""
        ...
