"""Deployment groups: named sets of deployments on which a user acts as on one (GR1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.rows import DEFAULT_TENANT

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import Actor

MOST_AT_ONCE = 1_000
"""Most members that are made in one transaction (GR2)."""
DEFAULT_TEMPLATE = "{group_id}-{uuid}"
"""How new members are named if their blueprint does not say it."""
VARIABLE = re.compile(r"\{(uuid|count|group_id|deployment_id|blueprint_id|site_name)\}")
_DISTINCT = ("{uuid}", "{count}")


@frozen
class NewGroup:
    """A group to be stored. ``blueprint`` is from what new members are made, a file or a stored blueprint; "" for nothing.

    ``inputs`` are those of all new members; secret ones are encrypted. ``labels`` are texts ``KEY=VALUE``, which all
    members have.
    """

    name: str
    description: str = ""
    blueprint: str = ""
    plugin_folders: Sequence[str] = ()
    inputs: Mapping[str, Value] = field(default_factory=dict)
    labels: Sequence[str] = ()


@frozen
class GroupRow:
    """A stored group. ``made_count`` is how many members were made for it; the next one has the number after it."""

    number: int
    name: str
    description: str = ""
    blueprint: str = ""
    plugin_folders: Sequence[str] = ()
    inputs: Mapping[str, Value] = field(default_factory=dict)
    labels: Sequence[str] = ()
    made_count: int = 0
    member_count: int = 0
    created_at: int = 0
    created_by: str = ""
    tenant: str = DEFAULT_TENANT


@frozen
class GroupMember:
    """A deployment in a group."""

    number: int
    name: str


class GroupShelf(Protocol):
    """Storage of deployment groups. A deployment may be in several groups; a deleted one is in none."""

    def all(self) -> Sequence[GroupRow]:
        """Return all groups, sorted by name."""
        ...

    def find(self, name: str) -> GroupRow | None:
        """Return the group of this name, or None."""
        ...

    def create(self, new: NewGroup, actor: Actor) -> GroupRow | None:
        """Store a group without members; None if there is one of this name."""
        ...

    def members(self, row: GroupRow) -> Sequence[GroupMember]:
        """Return the members of a group, sorted by name."""
        ...

    def groups_of(self, deployment: int) -> Sequence[str]:
        """Return the names of the groups in which a deployment is, sorted."""
        ...

    def join(self, row: GroupRow, deployments: Sequence[int], *, made: int = 0) -> int:
        """Add deployments to a group; return how many were not in it. ``made``: how many of them were made for it.

        Raises: ``LookupError`` if there is no such group or deployment.
        """
        ...

    def leave(self, row: GroupRow, deployments: Sequence[int]) -> int:
        """Remove deployments from a group, and return how many were in it. Raises: ``LookupError`` for no such group."""
        ...

    def remove(self, row: GroupRow) -> bool:
        """Remove a group; its members stay. Return False if it was removed before."""
        ...


def is_distinct(template: str) -> bool:
    """Return True if a template gives each new member another name.

    >>> is_distinct("shop-{count}"), is_distinct("{blueprint_id}-shop")
    (True, False)
    """
    return any(part in template for part in _DISTINCT)


def name_from(template: str, values: Mapping[str, str]) -> str:
    """Return the name that a template gives with these values; a variable without a value stays as it is.

    >>> name_from("{group_id}-{count}", {"group_id": "shops", "count": "7"})
    'shops-7'
    """
    return VARIABLE.sub(lambda found: values.get(found[1], found[0]), template)
