"""Find deployments that belong to another one by their label ``csys-obj-parent`` (W24).

A recursive uninstall removes them first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.blueprint.labels import PARENT, Label
from phaseline.model.problems.problem import Problem
from phaseline.model.rows import row_queries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import DeploymentRow

SHOWN = 5
"""Number of deployments that the warning PL-P048 names; of further ones it has only the number."""


def below(ctx: RequestContext, top: DeploymentRow) -> Sequence[DeploymentRow]:
    """Return the deployments that belong to ``top``, directly or through others, each before its parent."""
    store = ctx.store
    found: dict[int, DeploymentRow] = {}
    seen = {top.number}

    def descend(row: DeploymentRow) -> None:
        owned = store.listings.deployments(row_queries.DeploymentQuery(labels=(Label(PARENT, row.name),)))
        for other in sorted(owned, key=lambda one: one.number):
            if other.number not in seen:
                seen.add(other.number)
                descend(other)
                found[other.number] = other

    descend(top)
    return tuple(found.values())


def owned_problem(rows: Sequence[DeploymentRow]) -> Problem:
    """Return PL-P048, which lists the deployments that a recursive uninstall removes first."""
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    listed = ", ".join(f"'{row.name}'" for row in rows[:SHOWN])
    mend = f"leave recursive out to keep these deployments, which are selected by their label {PARENT}"
    return Problem("PL-P048", f"{listed}{more} are uninstalled first", mend, severity="warning")
