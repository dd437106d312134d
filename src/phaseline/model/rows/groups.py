"""Deployment groups, named sets of deployments on which a user acts as on one, and runs of workflows over them (GR1, GR3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.rows import DEFAULT_TENANT

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.graph.status import ExecutionStatus
    from phaseline.model.rows.rows import Actor

MOST_AT_ONCE = 1_000
"""Most members that are made in one transaction (GR2)."""
DEFAULT_TEMPLATE = "{group_id}-{uuid}"
"""Template of the names of new members whose blueprint has none."""
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
    """Return the name that a template gives with these values; a variable without a value is not replaced.

    >>> name_from("{group_id}-{count}", {"group_id": "shops", "count": "7"})
    'shops-7'
    """
    return VARIABLE.sub(lambda found: values.get(found[1], found[0]), template)


# -- runs: one workflow over the members of a group, an execution for each (GR3, GR4) ---------------------------------

NO_LIMIT = -1
"""``concurrency`` of a run that begins all its executions together; ``stop_failures`` of one that no failure stops."""
RUN = "run"
"""Key in the body of a ``start`` request without an execution: it concerns the run with this number. See ``ACTIONS``."""
ACTIONS = ("start", "renew", "cancel", "retry")
"""Values of ``do`` in such a body: start or continue its executions; read its row again; cancel or retry its executions."""


@frozen
class NewGroupRun:
    """A run to be stored. ``concurrency``: how many of its executions are open at a time (0: none begins).

    ``stop_failures``: after more failed executions than this, those that have not begun are canceled.
    """

    group: int
    group_name: str
    workflow: str
    concurrency: int = NO_LIMIT
    stop_failures: int = NO_LIMIT


@frozen
class RunRow:
    """A stored run. Its executions have the cause ("group", number of the run, number of the deployment)."""

    number: int
    group: int
    group_name: str
    workflow: str
    concurrency: int
    stop_failures: int
    is_paused: bool
    created_at: int
    created_by: str
    tenant: str = DEFAULT_TENANT

    @property
    def id(self) -> str:
        """The id that a user types.

        >>> RunRow(3, 1, "shops", "install", -1, -1, False, 0, "ann").id
        'run-3'
        """
        return f"run-{self.number}"

    @property
    def limit(self) -> int | None:
        """How many executions may be open at a time; None: any number.

        >>> RunRow(3, 1, "shops", "install", 5, -1, True, 0, "ann").limit
        0
        """
        if self.is_paused:
            return 0
        return None if self.concurrency == NO_LIMIT else self.concurrency


class RunShelf(Protocol):
    """Storage of runs."""

    def begin(self, new: NewGroupRun, actor: Actor) -> RunRow:
        """Store a run and return its row. Its executions are stored in the same transaction of the caller."""
        ...

    def find(self, number: int) -> RunRow | None:
        """Return the run with this number, or None."""
        ...

    def of(self, group: str = "", limit: int = 1_000) -> Sequence[RunRow]:
        """Return the runs over a group by its name, also over a deleted one, or all; latest first."""
        ...

    def change(self, row: RunRow, *, concurrency: int, is_paused: bool) -> RunRow | None:
        """Change how many executions of a run may be open; return its new row, or None if there is no such run."""
        ...

    def statuses(self, row: RunRow) -> Mapping[int, ExecutionStatus]:
        """Return {number of an execution of the run: its status}, sorted by number."""
        ...
