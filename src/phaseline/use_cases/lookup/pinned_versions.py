"""Versions of packages that an execution continues to use although its deployment has others by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.store import Store


def notes_of_others(store: Store, row: ExecutionRow) -> tuple[str, ...]:
    """A sentence for each package of which the execution runs a version other than the enabled one."""
    stages = store.around(row.number).stages if row.request.is_surrounded and store.has_packages else None
    if stages is None:
        return ()
    pinned = {task.origin.plugin: task.origin.version for task in stages}
    used = {use.package for use in store.packages.uses(row.deployment) if use.is_enabled}
    in_force = {package.name: package.version for package in store.packages.all() if package.number in used}
    return tuple(
        f"{row.id} runs the tasks of {name}=={version}, with which it was made; "
        + (f"{name}=={in_force[name]} is for the next execution" if name in in_force else "it is not enabled any more")
        for name, version in sorted(pinned.items())
        if in_force.get(name) != version
    )
