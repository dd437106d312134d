"""Kept plans as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.cli.render.table import clean, moment, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.use_cases.commands.apply_plan import PlanDetails, PlanView

NONE = "There is no plan. Keep one: phaseline plan WORKFLOW -d NAME --save"


def plan_list(found: Sequence[PlanView]) -> str:
    """A line for each plan."""
    if not found:
        return NONE
    rows = [
        [
            one.id,
            one.deployment,
            one.workflow,
            one.status,
            moment(one.created_at),
            one.execution or clean("; ".join(one.moved)),
        ]
        for one in found
    ]
    return table(["plan", "deployment", "workflow", "status", "made", "execution, or what has moved"], rows)


def plan_details(found: PlanDetails) -> str:
    """The time and author of a plan, the plan itself, and what has changed since."""
    view = found.view
    lines = [f"{view.id}: {view.workflow} of {view.deployment}, {view.status}", ""]
    lines += [f"made {moment(view.created_at)} by {view.created_by}"]
    if view.execution:
        lines.append(f"carried out by {view.execution}")
    lines += ["", found.text]
    if view.moved:
        lines += ["", "What has moved since:", *(f"    {sentence}" for sentence in view.moved)]
    return "\n".join(lines)
