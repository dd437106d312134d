"""The tasks of packages as they are told before anything runs: in order, to whom each is for, and why one is skipped (F28, F36)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.packages import STAGES
from phaseline.model.stage_tasks import GROUP, SKIPPED, SYNC
from phaseline.model.task_rows import TaskRow
from phaseline.plan.roles import RoleMasks
from phaseline.plan.sides import sided, ties_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phaseline.model.stage_tasks import Stages, Task
    from phaseline.model.topology import Topology

NO_INSTANCE = "no matching instance"
NO_WORK = "it has no work of its own"


def task_rows(stages: Stages, topology: Topology | None = None) -> tuple[TaskRow, ...]:
    """The tasks of both stages in the order in which they run; those of ``deployment_tasks.yaml`` come first in theirs."""
    granular = [task for task in stages if task.ties is not None]
    sides = sided(ties_of(granular)) if granular else {stage: frozenset[str]() for stage in STAGES}
    masks = None if topology is None else RoleMasks(topology, stages.split)
    return tuple(
        _row(task, stage, masks)
        for stage in STAGES
        for task in (*_of_side(granular, sides[stage]), *(task for task in stages if task.stage == stage))
    )


def _of_side(granular: list[Task], ids: frozenset[str]) -> Iterator[Task]:
    return (task for task in granular if task.id in ids and task.type not in {GROUP, SYNC})


def _row(task: Task, stage: str, masks: RoleMasks | None) -> TaskRow:
    is_master = task.roles.scope == "master"
    count = None if masks is None else 1 if is_master else int(masks.of(task.roles).sum())
    skipped = task.skipped or (NO_WORK if task.type == SKIPPED else NO_INSTANCE if count == 0 else "")
    origin = task.origin
    return TaskRow(
        task.phase,
        stage,
        task.written,
        task.priority,
        origin.plugin,
        origin.version,
        task.type,
        task.title,
        str(task.roles),
        0 if skipped and count is not None else count,
        skipped,
        task.ties.requires if task.ties else (),
    )
