"""Records of the dependencies between deployments (DP5): which function of a consumer reads which provider.

A provider is the deployment that is read, a consumer the one that reads. A record is one row for a function of the
blueprint, however many instances evaluate it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from phaseline.lang.fast_namedtuples import NamedTuple

DependencyKind = Literal["capability", "environment", "group", "component", "shared", "parent", "own"]
"""Why a consumer needs a provider: three kinds of functions, two types of nodes, the label of its parent, or its plugin."""


OF_NODES: frozenset[DependencyKind] = frozenset({"component", "shared"})
"""Kinds of records that belong to an instance, and that a new blueprint or the end of an execution does not change."""


class Dependency(NamedTuple):
    """One record. ``creator`` is where the function is written, such as ``nodes.web.properties.ip``.

    ``function`` is the function as JSON text, with its own functions unevaluated. ``provider`` is the name of the
    deployment as the blueprint has it, or "" if a function computes it. ``number`` is the number of a computed provider
    that was read, or 0. Only the number of such a provider is stored, because its name may come from a secret.
    ``instance`` is the id of the instance that needs the provider, or "" if the record is a rule for all instances.
    """

    kind: DependencyKind
    creator: str
    function: str = ""
    provider: str = ""
    number: int = 0
    instance: str = ""


class ConsumerRecord(NamedTuple):
    """A record together with its consumer: the number and the name of a living deployment."""

    consumer: int
    name: str
    dependency: Dependency


class ConsumerDependencies(NamedTuple):
    """All records of one consumer, which replace those that are stored."""

    consumer: int
    dependencies: tuple[Dependency, ...]


class DependencyShelf(Protocol):
    """Storage of the records of dependencies. Any process may write; every method is one transaction."""

    def of(self, consumer: int) -> Sequence[Dependency]:
        """Return the records of a consumer, in the order in which they were written."""
        ...

    def on(self, provider: int, *, after: int = 0, limit: int = 1_000_000) -> Sequence[ConsumerRecord]:
        """Return the records about a living deployment, by its name or its number, sorted by the consumer's number.

        Only living consumers count, and only those with numbers above ``after``. At most ``limit`` consumers are returned,
        each with all its records. A deployment is no consumer of itself.
        """
        ...

    def count_on(self, provider: int) -> int:
        """Return how many other living deployments have a record about this one."""
        ...

    def replace(self, consumer: int, dependencies: Sequence[Dependency]) -> None:
        """Replace all records of a consumer."""
        ...
