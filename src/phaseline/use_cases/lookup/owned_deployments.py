"""Deployments that belong to another one, as their label ``csys-obj-parent`` says: a recursive uninstall takes them away first (W24)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.blueprint.labels import Label
from phaseline.model.problems.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import DeploymentRow

PARENT = "csys-obj-parent"
"""Key of the label that names the deployment to which another one belongs."""
SHOWN = 5
"""How many are named; all are counted."""


def below(ctx: RequestContext, top: DeploymentRow) -> Sequence[DeploymentRow]:
    """Those that belong to a deployment, directly or not; who belongs to another stands before it, each once."""
    known = {row.number: row for row in ctx.store.deployments()}
    found: dict[int, DeploymentRow] = {}
    seen = {top.number}

    def descend(row: DeploymentRow) -> None:
        for number in sorted(ctx.store.labels.having([Label(PARENT, row.name)])):
            if number in known and number not in seen:
                seen.add(number)
                descend(known[number])
                found[number] = known[number]

    descend(top)
    return tuple(found.values())


def told(rows: Sequence[DeploymentRow]) -> Problem:
    """PL-P048: whom a recursive uninstall takes away first."""
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    listed = ", ".join(f"'{row.name}'" for row in rows[:SHOWN])
    mend = f"They say so in their label {PARENT}. If that is not meant, leave recursive out."
    return Problem("PL-P048", f"{listed}{more} are uninstalled first", mend, severity="warning")
