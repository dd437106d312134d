"""Mark instances as unhealthy, so that the next heal repairs or reinstalls them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.start_workflow import start
from phaseline.use_cases.lookup.find import find_instance
from phaseline.use_cases.prepare.options import ExecutionOptions
from phaseline.use_cases.prepare.workflow_start import WorkflowStart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import NewOrder
    from phaseline.use_cases.commands.submission import Submission


@once("mark_unhealthy")
def mark_unhealthy(
    ctx: RequestContext,
    ids: Sequence[str],
    *,
    deployment: str | None = None,
    reason: str = "",
    given: NewOrder | None = None,
) -> Submission:
    """Mark instances of one deployment (ids or their beginnings) as unhealthy, even if checks find them healthy.

    Raises: PL-C012, PL-C013, PL-C016 while an execution is open that claims one of them.
    """
    whole: list[Value] = []
    for id in ids:
        row, topology, number = find_instance(ctx.store, id, deployment)
        deployment = row.name
        whole.append(topology.ids[number])
    order = WorkflowStart("mark_unhealthy", str(deployment), {"node_instance_ids": whole, "reason": reason})
    return start(ctx, order, manner=ExecutionOptions(if_busy="refuse"), given=given)
