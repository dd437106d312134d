"""Forbidding that nodes and instances are updated, replaced or taken away, and lifting that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.use_cases.finding import find_deployment, find_instance
from phaseline.use_cases.installing import Manner
from phaseline.use_cases.workflows import Start, start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.model.blueprint import Value
    from phaseline.use_cases.values import ExecutionView
    from phaseline.use_cases.watching import Watcher
    from phaseline.use_cases.workplace import Workplace


def restrict(
    place: Workplace,
    deployment: str,
    names: Sequence[str],
    *,
    actions: Sequence[str] | None = (),
    watcher: Watcher | None = None,
) -> ExecutionView:
    """Forbid these actions, and no others, of nodes and instances (ids or their beginnings); None: what the blueprint forbids.

    Raises: PL-C010, PL-C012, PL-C013, PL-P004 for an action that cannot be forbidden, PL-C016 while an execution is open that works on
    one of them.
    """
    row = find_deployment(place.store, deployment, to_change=True)
    topology = place.store.topology(row.number)
    said: dict[str, Value] = {}
    for name in names:
        if name not in topology.node_number:
            name = topology.ids[find_instance(place.store, name, row.name)[2]]
        said[name] = None if actions is None else list(actions)
    return start(
        place, Start("restrict", row.name, {"restricted": said}), manner=Manner(if_busy="refuse"), watcher=watcher
    )
