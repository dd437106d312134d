"""Breakpoints as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.cli.render.table import table

if TYPE_CHECKING:
    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.commands.breakpoints import Kept
    from phaseline.use_cases.queries.breakpoints import StoppedInstance


def listed_text(stopped: Sequence[StoppedInstance], kept: Sequence[Kept]) -> str:
    """Return a text with the stopped instances and the breakpoints of deployments and clusters."""
    columns: Columns[StoppedInstance] = {
        "point": lambda one: one.point,
        "instance": lambda one: one.instance,
        "deployment": lambda one: one.deployment,
        "execution": lambda one: one.execution,
    }
    shown = table(columns, stopped) if stopped else "No instance is stopped at a breakpoint."
    if not kept:
        return shown
    pairs: Columns[tuple[str, str]] = {"breakpoint": lambda pair: pair[0], "deployment": lambda pair: pair[1]}
    kept_table = table(pairs, [(text, one.deployment) for one in kept for text in one.breakpoints])
    return f"{shown}\n\nBreakpoints for everything that starts from now on:\n\n{kept_table}"
