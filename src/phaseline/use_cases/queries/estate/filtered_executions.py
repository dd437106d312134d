"""Lists of executions with a filter: an expression over their rows, and rules about their deployments (LB3, LB4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.use_cases.lookup.estate.row_filters import SAVED, condition_of
from phaseline.use_cases.queries.estate.row_evaluation import chosen, time_value

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.row_queries import ExecutionQuery
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.records.values import Value


def filtered_rows(
    ctx: RequestContext, wanted: ExecutionQuery, where: str, rules: Sequence[str]
) -> tuple[Sequence[ExecutionRow], int]:
    """Return (the executions that a query and filters select, the number of all that they select).

    Raises: PL-C150 to PL-C154, and those of expressions.
    """
    saved = where if where.startswith(SAVED) else ""
    of_deployments = condition_of(ctx.store, "deployments", saved, rules)
    if of_deployments is not None:
        wanted = altered(wanted, deployment_checks=of_deployments.checks)
    condition = None if saved else condition_of(ctx.store, "executions", where)
    if condition is None:
        return ctx.store.listings.page(wanted)
    wanted = altered(wanted, checks=condition.checks)
    if condition.rest is None:
        return ctx.store.listings.page(wanted)
    rows = ctx.store.listings.executions(altered(wanted, limit=None, after=0))
    verdicts = chosen(ctx, condition, [_of_row(row) for row in rows], [row.deployment for row in rows], "execution")
    found = [row for row, is_chosen in zip(rows, verdicts, strict=True) if is_chosen]
    return found[: wanted.limit], len(found)


def _of_row(row: ExecutionRow) -> dict[str, Value]:
    return {
        "id": row.id,
        "workflow": row.request.workflow,
        "status": row.status.value,
        "deployment": row.deployment_name,
        "created_by": row.created_by,
        "created_at": time_value(row.created_at),
        "started_at": time_value(row.started_at),
        "ended_at": time_value(row.ended_at),
        "reason": row.reason,
        "attempt": row.attempt,
        "tenant_name": row.tenant,
    }
