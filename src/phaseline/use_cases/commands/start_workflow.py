"""Starting any workflow of a deployment that is there, and showing what it would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.app.watcher import NullWatcher
from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.orders import RequestId
from phaseline.plan.workflows.uninstall import RECURSIVE, UNINSTALL
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.lookup.claims import compatible_executions, raise_if_busy
from phaseline.use_cases.lookup.ticket import Ticket, conduct
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS
from phaseline.use_cases.prepare.pre_post import new_execution
from phaseline.use_cases.prepare.workflow_start import WorkflowStart, prepare

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.watcher import Watcher
    from phaseline.model.rows.orders import NewOrder
    from phaseline.use_cases.prepare.options import ExecutionOptions
    from phaseline.views.views import ExecutionView


@once("start")
def start(
    ctx: RequestContext,
    order: WorkflowStart,
    *,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
    watcher: Watcher | None = None,
    detach: bool = False,
    given: NewOrder | None = None,
) -> ExecutionView:
    """Run a workflow of a deployment; the execution as it ended, or with ``detach`` as it began.

    A recursive uninstall is that of others first, one after the other; one that does not complete is the answer.

    Raises: ``ProblemsError`` with everything that ``prepare`` finds, PL-C016 while an execution is open that it
    collides with and the manner is to refuse then.
    """
    from phaseline.plan.preview.agent_warnings import agent_warning

    prepared = prepare(ctx, order, manner=manner)
    if manner.breakpoints:
        from phaseline.use_cases.prepare.unreachable_breakpoints import look_before_start

        about = prepared.deployment, prepared.topology
        look_before_start(ctx, manner.breakpoints, prepared.request, about, watcher)
    for child in prepared.first:
        parameters = {**order.parameters, RECURSIVE: False}
        name = order.workflow if prepared.own is None else UNINSTALL  # the child need not know the other name
        alone = WorkflowStart(name, child.name, parameters, order.allow_custom, order.force)
        part = ctx if given is None else ctx.under(RequestId(f"{given.id}/{child.name}"))
        view = start(part, alone, manner=altered(manner, breakpoints=()), watcher=watcher)
        if not view.is_good:
            return view
    raise_if_busy(ctx.store, prepared.deployment, prepared.topology, prepared.request)
    agents = agent_warning(prepared.topology.nodes) if order.workflow == "install" else None
    for warning in (*prepared.warnings, *((agents,) if agents else ())):
        (watcher or NullWatcher()).noticed(f"warning {warning}. {warning.mend}")
    new = new_execution(ctx, prepared.deployment.number, prepared.request, watcher=watcher)
    with ctx.store.as_one(given):
        row = ctx.store.create_execution(
            new, asks=True, beside=compatible_executions(prepared.topology, prepared.request)
        )
    return conduct(ctx, Ticket(row), watcher, detach=detach)
