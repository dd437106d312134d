"""A task of a package as shown before anything runs."""

from __future__ import annotations

from phaseline.lang.fast_dataclasses import frozen


@frozen
class TaskRow:
    """One task. ``task``: its name in an execution; ``stage``: on which side of the body it runs; ``written``: the stage as its file names it.

    ``priority``: the priority of a task of ``tasks.yaml``; 0 if its dependencies (``needs``) decide its place. ``instances``: how many
    run it, None if unknown; ``skipped``: why no instance runs it, else empty.
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
