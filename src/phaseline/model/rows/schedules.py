"""Schedules as a store has them (SC1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Protocol

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.rows.rows import DEFAULT_TENANT
from phaseline.model.schedules.schedule_spec import ScheduleSpec, blueprint_schedules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from phaseline.model.rows.rows import Actor
    from phaseline.model.rows.schedule_runs import ScheduleRun

ScheduleOrigin = Literal["blueprint", "hand"]
"""Where a schedule comes from: the blueprint of its deployment, or a command."""

NOT_COMPUTED: Final = 0
"""``next_at`` of a schedule whose next time was not computed since it was written."""
NEVER: Final = -1
"""``next_at`` of a schedule that will not be due any more."""


@frozen
class ScheduleRow:
    """A stored schedule. Times are in ms since 1970.

    ``revision`` counts the changes by hand, of which ``changed_by`` made the last; 0 means that the schedule is as its
    blueprint has it. ``switched_by`` is the user that enabled or disabled it last, "" if it is as it was created;
    ``reason`` is their reason. ``next_at`` is when it
    is due next, ``NOT_COMPUTED`` or ``NEVER``; ``last_at`` when it was due last, 0 before the first time.
    """

    number: int
    deployment: int
    name: str
    spec: ScheduleSpec
    origin: ScheduleOrigin = "hand"
    is_enabled: bool = True
    switched_by: str = ""
    reason: str = ""
    next_at: int = NOT_COMPUTED
    last_at: int = 0
    revision: int = 0
    changed_by: str = ""
    created_at: int = 0
    created_by: str = ""
    tenant: str = DEFAULT_TENANT


@frozen
class NewSchedule:
    """A schedule of a deployment to be stored."""

    deployment: int
    name: str
    spec: ScheduleSpec
    is_enabled: bool = True
    next_at: int = NOT_COMPUTED


@frozen
class ScheduleSync:
    """What an update does to the schedules of a deployment (SC10). ``kept`` were changed by hand and stay unchanged."""

    added: Sequence[tuple[str, ScheduleSpec, bool]]
    changed: Sequence[tuple[ScheduleRow, ScheduleSpec, bool]]
    removed: Sequence[ScheduleRow]
    kept: Sequence[ScheduleRow]


def schedule_sync(rows: Sequence[ScheduleRow], settings: Mapping[str, Any]) -> ScheduleSync:
    """Return what becomes of the schedules of a deployment when its blueprint gets these deployment settings.

    Those of the former blueprint are replaced or removed, unless a user has changed them; those made by hand stay, also
    under a name that the new blueprint gives. A schedule that a user has enabled or disabled stays so.
    """
    wanted = blueprint_schedules(settings)
    known = {row.name: row for row in rows}
    added = [(name, *wanted[name]) for name in wanted if name not in known]
    changed: list[tuple[ScheduleRow, ScheduleSpec, bool]] = []
    removed: list[ScheduleRow] = []
    kept: list[ScheduleRow] = []
    for name, row in known.items():
        if name not in wanted:
            if row.origin == "blueprint":
                (kept if row.revision else removed).append(row)
        elif row.origin == "hand" or row.revision:
            if row.spec != wanted[name][0]:
                kept.append(row)
        elif (row.spec, row.is_enabled) != wanted[name]:
            spec, is_enabled = wanted[name]
            changed.append((row, spec, row.is_enabled if row.switched_by else is_enabled))
    return ScheduleSync(added, changed, removed, kept)


class ScheduleShelf(Protocol):
    """The schedules in a store. Any process may write; every method is one transaction."""

    def all(self, deployment: int = 0) -> Sequence[ScheduleRow]:
        """Return the schedules of a deployment, or of all that are not deleted, sorted by deployment and name."""
        ...

    def find(self, deployment: int, name: str) -> ScheduleRow | None:
        """Return the schedule of a deployment with this name, or None."""
        ...

    def soonest(self, limit: int) -> Sequence[ScheduleRow]:
        """Return the enabled schedules that are due first, by their next time; at most ``limit``."""
        ...

    def history(self, row: ScheduleRow, limit: int = 100) -> Sequence[ScheduleRun]:
        """Return what became of the times at which a schedule was due, latest first; at most ``limit``."""
        ...

    def missed(self) -> int:
        """Return how many times schedules have missed since each has started something."""
        ...

    def add(self, new: NewSchedule, actor: Actor) -> ScheduleRow | None:
        """Store a schedule made by hand; None if the deployment has one of this name. Raises: PL-C010, ``LookupError``."""
        ...

    def change(self, row: ScheduleRow, spec: ScheduleSpec, next_at: int, actor: Actor) -> ScheduleRow | None:
        """Change what a schedule does and when; return its new row, or None if it was changed or removed meanwhile."""
        ...

    def switch(
        self, row: ScheduleRow, *, is_enabled: bool, next_at: int, actor: Actor, reason: str = ""
    ) -> ScheduleRow | None:
        """Enable or disable a schedule; return its new row, or None if it was removed meanwhile."""
        ...

    def remove(self, row: ScheduleRow) -> bool:
        """Remove a schedule with its history. Return False if it was removed before."""
        ...
