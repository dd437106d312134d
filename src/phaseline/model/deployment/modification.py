"""A modification (change of the number of instances) that has begun and has not ended, as its deployment stores it (N8).

It is a part of the topology. So it is stored with the instances that it added, and outlives the execution that began
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.index_ranges import numbers_of, ranges_of

if TYPE_CHECKING:
    from phaseline.model.blueprint.blueprint import Value


def _nobody() -> np.ndarray:
    return np.empty(0, np.int32)


@frozen
class Started:
    """A modification in progress. While a deployment has one, no other modification can begin.

    ``execution`` is the id of the execution that began it, ``workflow`` the workflow, and ``name`` the modified node or
    group. ``added`` and ``removed`` are instance numbers, ``added_groups`` and ``removed_groups`` numbers of group
    instances; all are int32 and ascending. Added instances exist already, removed ones still exist. ``counts`` are the
    instance counts after success. ``kept`` has data that its planner needs later, as JSON values.
    """

    execution: str
    workflow: str
    name: str
    added: np.ndarray = field(default_factory=_nobody)
    removed: np.ndarray = field(default_factory=_nobody)
    added_groups: np.ndarray = field(default_factory=_nobody)
    removed_groups: np.ndarray = field(default_factory=_nobody)
    counts: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, Value] = field(default_factory=dict)


COLUMNS = ("added", "removed", "added_groups", "removed_groups")


def to_json(started: Started) -> dict[str, Value]:
    """Return the modification as JSON values, with instances as ranges.

    >>> to_json(Started("scale-7", "scale", "web", added=np.array([4, 5])))["added"]
    [[4, 2]]
    """
    told: dict[str, Value] = {name: ranges_of(getattr(started, name)) for name in COLUMNS}
    words = {"execution": started.execution, "workflow": started.workflow, "name": started.name}
    return {**words, **told, "counts": dict(started.counts), "kept": dict(started.kept)}


def from_json(told: Mapping[str, Value]) -> Started:
    """Return the modification from the JSON values that ``to_json`` made."""
    columns = {name: numbers_of(told[name]) for name in COLUMNS}
    return Started(**{**told, **columns})  # type: ignore[arg-type]  # the other fields are unchanged
