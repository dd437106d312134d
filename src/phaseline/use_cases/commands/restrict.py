"""Forbid updates, replacements or removals of nodes and instances, and lift such restrictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.problems.problem import problem_error
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.start_workflow import start
from phaseline.use_cases.lookup.find import find_deployment, find_instance
from phaseline.use_cases.prepare.options import ExecutionOptions
from phaseline.use_cases.prepare.workflow_start import WorkflowStart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import NewOrder
    from phaseline.use_cases.commands.submission import Submission


def raise_if_several_modes(forbid: Sequence[str], *, lift: bool, as_blueprint: bool) -> None:
    """Raise PL-C094 if more than one of the three arguments is given, because they exclude each other."""
    if bool(forbid) + lift + as_blueprint > 1:
        message = "forbid, lift and as_blueprint exclude each other"
        raise problem_error("PL-C094", message, "give only one of them", subject="instances.restrict")


@once("restrict")
def restrict(
    ctx: RequestContext,
    deployment: str,
    names: Sequence[str],
    *,
    actions: Sequence[str] | None = (),
    given: NewOrder | None = None,
) -> Submission:
    """Forbid exactly these actions for nodes and instances; other actions become allowed.

    ``names``: nodes, or ids of instances or their beginnings. ``actions`` None: restore the restrictions of the
    blueprint. Raises: PL-C010, PL-C012, PL-C013, PL-P004 for an action that cannot be forbidden, PL-C016 while an
    execution is open that claims one of the instances.
    """
    row = find_deployment(ctx.store, deployment, to_change=True)
    topology = ctx.store.topology(row.number)
    said: dict[str, Value] = {}
    for name in names:
        if name not in topology.node_number:
            name = topology.ids[find_instance(ctx.store, name, row.name)[2]]
        said[name] = None if actions is None else list(actions)
    order = WorkflowStart("restrict", row.name, {"restricted": said})
    return start(ctx, order, manner=ExecutionOptions(if_busy="refuse"), given=given)
