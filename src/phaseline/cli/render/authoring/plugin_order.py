"""The order of tasks of packages as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean, number, table

if TYPE_CHECKING:
    from phaseline.cli.render.table import Columns
    from phaseline.model.packages.task_listing import TaskRow
    from phaseline.use_cases.queries.packages.task_order import TaskOrder

MASTER = "master"


def order_text(found: TaskOrder) -> str:
    """Return a numbered list of the tasks in the order in which they run."""
    if not found.tasks:
        whose = f"No package that is enabled for {found.deployment} has" if found.deployment else "No package has"
        return clean(f"{whose} a task for {found.workflow}.")
    columns: Columns[tuple[int, TaskRow]] = {
        "#": lambda row: row[0],
        "stage": lambda row: _stage(row[1]),
        "package": lambda row: f"{row[1].package}=={row[1].version}",
        "task": lambda row: row[1].task,
        "type": lambda row: row[1].type,
        "for": lambda row: row[1].roles,
        "runs on": lambda row: _runs_on(row[1]),
    }
    return table(columns, enumerate(found.tasks, 1))


def _stage(task: TaskRow) -> str:
    return (task.written or task.stage) + (f" after {', '.join(task.needs)}" if task.needs else "")


def _runs_on(task: TaskRow) -> str:
    if task.skipped:
        return f"skipped: {task.skipped}"
    if task.roles == MASTER:
        return "the engine's machine"
    return "" if task.instances is None else number(task.instances, "instance")
