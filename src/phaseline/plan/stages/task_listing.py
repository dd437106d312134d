"""List package tasks before they run: in order, with their instances, and with the reasons for skips (F28, F36).

For a known deployment the list is read from the graph that will run (``stage_tasks.rows_of``), so it shows exactly the
tasks that will run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.blueprint.operation_declaration import Declaration
from phaseline.model.execution.execution import History, Request
from phaseline.model.packages.package import STAGES
from phaseline.model.packages.stage_tasks import GROUP, SKIPPED, SYNC
from phaseline.model.packages.task_listing import TaskRow
from phaseline.plan.stages.pre_or_post import depths_by_needs, sided, ties_of
from phaseline.plan.stages.stage_tasks import rows_of
from phaseline.plan.transforms.pipeline import Asked

if TYPE_CHECKING:
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.packages.stage_tasks import ExecutionTask, Stages

NO_INSTANCE = "no matching instance"
NO_WORK = "it has no work of its own"


def task_rows(
    stages: Stages, topology: Topology | None = None, workflow: str = "install", new: np.ndarray | None = None
) -> tuple[TaskRow, ...]:
    """Return a row for each task of both stages, before and after the body of the workflow, in the order of the run.

    In each stage, the tasks of ``deployment_tasks.yaml`` come first. ``topology`` is the deployment in the shape in
    which the tasks run; None if there is no deployment yet. ``new`` marks the instances that the workflow creates or
    changes, bool by instance number; None means all instances. Raises: PL-F015 if tasks wait for one another in a
    circle.
    """
    if topology is None:
        return tuple(_row(task, stage, None) for stage in STAGES for task in _by_files(stages, stage))
    history = History(np.zeros(len(topology), np.uint8))
    asked = Asked(topology, Request(workflow), history, lambda _: Declaration(flavour="task"))
    fresh = topology.is_there.copy() if new is None else new
    return tuple(
        _row(task, stage, count)
        for stage in STAGES
        for task, count in _with_skipped(stages, stage, rows_of(asked, stages, stage, fresh))
        if task.type not in {GROUP, SYNC}
    )


def _with_skipped(stages: Stages, stage: str, rows: list[tuple[ExecutionTask, int]]) -> list[tuple[ExecutionTask, int]]:
    """Return the rows, with the tasks of ``tasks.yaml`` that are not in the graph inserted where they would run."""
    granular = [row for row in rows if row[0].ties is not None]
    counted = {task.phase: count for task, count in rows}
    return granular + [(task, counted.get(task.phase, 0)) for task in stages if task.stage == stage]


def _by_files(stages: Stages, stage: str) -> list[ExecutionTask]:
    """Return the tasks of a stage in the order that their files alone define, without a deployment."""
    granular = [task for task in stages if task.ties is not None]
    ties = ties_of(granular)
    wanted = sided(ties)[stage] if granular else frozenset[str]()
    deep = depths_by_needs(ties, {})
    tied = [task for task in granular if task.id in wanted and task.type not in {GROUP, SYNC}]
    return sorted(tied, key=lambda task: deep[task.id]) + [task for task in stages if task.stage == stage]


def _row(task: ExecutionTask, stage: str, count: int | None) -> TaskRow:
    """Return the row of a task. ``count`` is the number of instances that run it, or None if unknown."""
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
