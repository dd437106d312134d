"""Show the order of package tasks before anything runs: for all installed packages or for one deployment (F36)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.packages.task_serializer import SerializerInput, serialized
from phaseline.plan.stages.task_listing import task_rows
from phaseline.use_cases.lookup import find
from phaseline.use_cases.lookup.enabled_tasks import stages_of
from phaseline.use_cases.lookup.installed_packages import installed, newest

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.packages.task_listing import TaskRow

INSTALL = "install"


@frozen
class TaskOrder:
    """The tasks of a workflow in the order in which they run. ``deployment`` is empty for all installed packages."""

    deployment: str
    workflow: str
    tasks: tuple[TaskRow, ...]


def order(ctx: RequestContext, deployment: str | None = None, *, workflow: str = INSTALL) -> TaskOrder:
    """Return the tasks that a workflow of a deployment would run, each with the number of its instances.

    Without a deployment, return the tasks of the newest version of every installed package. Raises: PL-C010 for an
    unknown deployment.
    """
    if deployment is None:
        stages = serialized(newest(installed(ctx)), SerializerInput(workflow, _always, allows_master=True))
        return TaskOrder("", workflow, task_rows(stages))

    row = find.find_deployment(ctx.store, deployment)
    own = stages_of(ctx, workflow, row.number)
    rows = () if own is None else task_rows(own, ctx.store.topology(row.number), workflow)
    return TaskOrder(row.name, workflow, rows)


def _always(_condition: str, _models: object) -> bool:
    """Return True for every condition: conditions refer to settings of a deployment, and there is no deployment."""
    return True
