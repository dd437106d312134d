"""New executions in the store in memory."""

from __future__ import annotations

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import Actor, ConcurrencyRule, ExecutionRow, NewExecution, RequestKind
from phaseline.store.codec import requests
from phaseline.store.memory import requests as asking
from phaseline.store.memory.tables import HeldExecution, MemoryTables
from phaseline.store.sql import errors as failures


def add_execution(
    held: MemoryTables, new: NewExecution, deployment: int, *, asks: bool, beside: ConcurrencyRule | None
) -> ExecutionRow:
    """Store an execution with status queued, and if ``asks`` a request to start it; return its row.

    Raises: PL-C010 if the deployment was deleted, PL-C016 if another execution is open that ``beside`` does not allow.
    """
    known = held.deployments[deployment]
    if known.deleted_at:
        raise failures.deleted(known.row.name)
    asking.raise_if_unavailable(held, deployment, new.request.workflow, beside)
    held.last_execution += 1
    number = held.last_execution
    row = ExecutionRow(
        number=number,
        id=f"{new.request.workflow}-{number}",
        deployment=deployment,
        deployment_name=known.row.name,
        request=requests.from_json(requests.to_json(altered(new.request, is_surrounded=new.around is not None))),
        status=ExecutionStatus.QUEUED,
        reason="",
        attempt=0,
        created_at=new.created_at,
        started_at=0,
        ended_at=0,
        created_by=new.actor.name,
        tenant=known.row.tenant,
    )
    held.executions[number] = HeldExecution(row, new.around or PrePost())
    if asks:
        asking.add_request(held, RequestKind.START, number, {}, Actor(new.actor.name, row.tenant), new.created_at)
    return row
