"""Stored plans as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import moment, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.cli.render.table import Columns
    from phaseline.use_cases.commands.apply_plan import PlanDetails, PlanView

NONE = "There is no plan. Keep one: phaseline plan WORKFLOW -d NAME --save"


def plan_list(found: Sequence[PlanView]) -> str:
    """Return a line for each stored plan."""
    columns: Columns[PlanView] = {
        "plan": lambda one: one.id,
        "deployment": lambda one: one.deployment,
        "workflow": lambda one: one.workflow,
        "status": lambda one: one.status,
        "made": lambda one: moment(one.created_at),
        "execution, or changes since": lambda one: one.execution or "; ".join(one.moved),
    }
    return table(columns, found) if found else NONE


def plan_details(found: PlanDetails) -> str:
    """Return the time and author of a stored plan, the plan itself, and what has changed since, as text."""
    view = found.view
    lines = [f"{view.id}: {view.workflow} of {view.deployment}, {view.status}", ""]
    lines += [f"made {moment(view.created_at)} by {view.created_by}"]
    if view.execution:
        lines.append(f"carried out by {view.execution}")
    lines += ["", found.text]
    if view.moved:
        lines += ["", "Changed since then:", *(f"    {sentence}" for sentence in view.moved)]
    return "\n".join(lines)
