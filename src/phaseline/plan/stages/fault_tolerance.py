"""Compute how many instances may fail in granular tasks: fault tolerances of groups, as bounds of a graph (F45)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.graph.graph import Bound, SubjectKind

if TYPE_CHECKING:
    from phaseline.model.packages.stage_tasks import ExecutionTask
    from phaseline.plan.stages.role_masks import RoleMasks

STRICT = 0
"""Number of the group in which no entry may fail: stage tasks, and granular tasks of instances in no task group."""
OTHERS = "instances in no group"


@frozen
class FaultTolerance:
    """The bounds on failures of instances in granular tasks.

    ``group`` is int32, indexed by instance number: instances that belong to exactly the same task groups have the same
    number. ``bears`` is true if at least one failure is tolerated.
    """

    group: np.ndarray
    bounds: tuple[Bound, ...]
    bears: bool

    @classmethod
    def of(cls, groups: Sequence[ExecutionTask], masks: RoleMasks, size: int) -> FaultTolerance:
        """Return the fault tolerance that the task groups define.

        A group that does not set a fault tolerance tolerates the failure of all its instances.
        """
        members = [masks.of(group.roles) for group in groups]
        if not members:
            return cls(np.zeros(size, np.int32), (Bound(OTHERS, (STRICT,), 0),), bears=False)
        kinds, number = np.unique(np.stack([np.zeros(size, bool), *members]), axis=1, return_inverse=True)
        # the first kind is that of instances in no group, if there are any
        shift = 0 if not kinds[:, 0].any() else 1
        bounds = [Bound(OTHERS, (STRICT,), 0)]
        for place, (group, mask) in enumerate(zip(groups, members, strict=True)):
            inside = tuple((kinds[place + 1].nonzero()[0] + shift).tolist())
            if inside:
                bounds.append(Bound(group.id, inside, tolerated(group.fault_tolerance, int(mask.sum()))))
        return cls(
            (number + shift).astype(np.int32).reshape(-1), tuple(bounds), bears=any(one.failures for one in bounds)
        )

    def of_subjects(self, subjects: np.ndarray, kind: SubjectKind) -> np.ndarray | int:
        """Return the ``group`` number of each subject; ``STRICT`` for all if the subjects are not instances."""
        return self.group[subjects] if kind is SubjectKind.INSTANCE else STRICT


def tolerated(said: int | str | None, size: int) -> int:
    """Return how many instances of a group may fail, out of ``size``.

    ``said`` is a number, a share such as ``50%``, a negative number -n for all except n, or None for all.

    >>> tolerated(1, 4), tolerated("50%", 4), tolerated(-3, 4), tolerated(None, 4), tolerated(-9, 4)
    (1, 2, 1, 4, 0)
    """
    if said is None:
        return size
    text = str(said).strip()
    number = int(text[:-1]) * size // 100 if text.endswith("%") else int(text)
    return number if number >= 0 else max(0, size + number)
