"""The interface by which hooks look up data beyond the present state of their deployment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.calls.protocol.call import DeploymentLookup


@frozen
class Usage:
    """Numbers of instances of a deployment. ``counts`` is {a node's types, root first: number of its instances}.

    Instances that may be in creation are counted too.
    """

    deployment: str
    counts: Mapping[tuple[str, ...], int]

    def count(self, type_name: str = "") -> int:
        """Return the number of instances of a type, or of all instances without a type.

        >>> Usage("shop", {("Root", "Host"): 2, ("Root",): 3}).count("Host")
        2
        """
        return sum(count for types, count in self.counts.items() if not type_name or type_name in types)


@frozen
class Approval:
    """A user's approval of a plan, with the digest of the plan and the time in seconds since the epoch."""

    actor: str
    plan: str
    at: float
    reason: str = ""


class HookLookup(Protocol):
    """Look-ups of hooks in one execution. Thread-safe."""

    def target(self, now: DeploymentLookup, *, takes_back: bool = False) -> DeploymentLookup:
        """Return the deployment as it will be after the execution. Raises ``ProblemsError``.

        ``takes_back`` means that the execution is being undone; then return the deployment as it was before.
        """
        ...

    def approvals(self) -> Sequence[Approval]:
        """Return the approvals that users gave for the execution, oldest first."""
        ...

    def usage(self, key: str, value: str) -> Sequence[Usage]:
        """Return the deployments with the label ``key``: ``value``, sorted by name, with their numbers of instances."""
        ...
