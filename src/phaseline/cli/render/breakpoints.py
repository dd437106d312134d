"""Breakpoints as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.cli.render.table import table

if TYPE_CHECKING:
    from phaseline.use_cases.commands.breakpoints import Kept
    from phaseline.use_cases.queries.breakpoints import StoppedInstance


def listed_text(stopped: Sequence[StoppedInstance], kept: Sequence[Kept]) -> str:
    """The stopped instances, and the breakpoints of deployments and clusters."""
    rows = [[one.point, one.instance, one.deployment, one.execution] for one in stopped]
    head = ["point", "instance", "deployment", "execution"]
    who = table(head, rows) if rows else "Nobody has stopped at a breakpoint."
    if not kept:
        return who
    kept_rows = [[text, one.deployment] for one in kept for text in one.breakpoints]
    return f"{who}\n\nFor all that is begun from now on:\n\n{table(['breakpoint', 'deployment'], kept_rows)}"
