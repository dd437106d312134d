"""The lookups of a hook beyond its deployment, as a protocol for the callers of hooks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.calls.protocol.call import DeploymentLookup


@frozen
class Usage:
    """The size of a deployment. ``counts``: {a node's types, root first: instances that exist or may be in creation}."""

    deployment: str
    counts: Mapping[tuple[str, ...], int]

    def count(self, type_name: str = "") -> int:
        """How many instances, in all or of a type.

        >>> Usage("shop", {("Root", "Host"): 2, ("Root",): 3}).count("Host")
        2
        """
        return sum(count for types, count in self.counts.items() if not type_name or type_name in types)


@frozen
class Approval:
    """A user's approval of a plan: the digest shown to the user, and when (seconds since the epoch)."""

    actor: str
    plan: str
    at: float
    reason: str = ""


class HookLookup(Protocol):
    """Look-ups of hooks in one execution; safe from any thread."""

    def target(self, now: DeploymentLookup, *, takes_back: bool = False) -> DeploymentLookup:
        """What the deployment is brought to; while what was done is taken back, what it was before. Raises ``ProblemsError``."""
        ...

    def approvals(self) -> Sequence[Approval]:
        """Approvals of the execution by users, oldest first."""
        ...

    def usage(self, key: str, value: str) -> Sequence[Usage]:
        """The deployments that have this label, by name."""
        ...
