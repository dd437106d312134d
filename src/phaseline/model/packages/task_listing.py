"""A task of a package as shown before anything runs."""

from __future__ import annotations

from phaseline.lang.fast_dataclasses import frozen


@frozen
class TaskRow:
    """One task as listed. ``task`` is its name in an execution.

    ``stage`` is whether it runs before or after the deployment's work.

    ``written`` is the stage in its file. ``priority`` is that of a task of ``tasks.yaml``; 0 if dependencies
    (``needs``) give its order. ``instances`` is how many run it (None: unknown). ``skipped`` is why no instance runs
    it, otherwise empty.
    """

    task: str
    stage: str
    written: str
    priority: int
    package: str
    version: str
    type: str
    title: str
    roles: str
    instances: int | None = None
    skipped: str = ""
    needs: tuple[str, ...] = ()
