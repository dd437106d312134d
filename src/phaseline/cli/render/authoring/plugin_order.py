"""The order of tasks of packages as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean, number, table

if TYPE_CHECKING:
    from phaseline.model.packages.task_listing import TaskRow
    from phaseline.use_cases.queries.packages.task_order import TaskOrder

MASTER = "master"


def order_text(found: TaskOrder) -> str:
    """The tasks in the order in which they run, numbered."""
    if not found.tasks:
        whose = f"No package that is enabled for {found.deployment} has" if found.deployment else "No package has"
        return clean(f"{whose} a task for {found.workflow}.")
    rows = [[str(place), *_cells(task)] for place, task in enumerate(found.tasks, 1)]
    return table(["#", "stage", "package", "task", "type", "for", "runs on"], rows)


def _cells(task: TaskRow) -> list[str]:
    stage = task.written or task.stage
    after = f" after {', '.join(task.needs)}" if task.needs else ""
    return [
        clean(f"{stage}{after}"),
        clean(f"{task.package}=={task.version}"),
        clean(task.task),
        task.type,
        clean(task.roles),
        _runs_on(task),
    ]


def _runs_on(task: TaskRow) -> str:
    if task.skipped:
        return f"skipped: {task.skipped}"
    if task.roles == MASTER:
        return "the engine's machine"
    return "" if task.instances is None else number(task.instances, "instance")
