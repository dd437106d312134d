"""Lists of executions with a filter: an expression over their rows, and rules about their deployments (LB3, LB4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.use_cases.lookup.estate.row_filters import (
    SAVED,
    condition_of,
    numbers_of_deployments,
    page_of_executions,
)

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.row_queries import ExecutionQuery
    from phaseline.model.rows.rows import ExecutionRow


def filtered_rows(
    ctx: RequestContext, wanted: ExecutionQuery, where: str, rules: Sequence[str]
) -> tuple[Sequence[ExecutionRow], int]:
    """Return (the executions that a query and filters select, the number of all that they select).

    Raises: PL-C140 to PL-C144, and those of expressions.
    """
    is_saved = where.startswith(SAVED)
    of_deployments = condition_of(ctx.store, "deployments", where if is_saved else "", rules)
    if of_deployments is not None and of_deployments.rest is not None:
        numbers = set(numbers_of_deployments(ctx, of_deployments))
        known = wanted.deployments
        wanted = altered(wanted, deployments=numbers if known is None else numbers & set(known))
    elif of_deployments is not None:
        wanted = altered(wanted, deployment_checks=of_deployments.checks)
    return page_of_executions(ctx, wanted, condition_of(ctx.store, "executions", "" if is_saved else where))
