"""The executions that an execution has started, and those that these have started: a tree (BB2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.model.rows.row_queries import ExecutionQuery
from phaseline.use_cases.lookup.causes import cause_text, executions_by
from phaseline.use_cases.lookup.find import find_execution
from phaseline.views.views import ExecutionTree, TreeLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import TenantStore


def tree(ctx: RequestContext, id: str | None = None, *, deployment: str | None = None) -> ExecutionTree:
    """Return an execution with all that it has started, each before those that it has started itself."""
    row = find_execution(ctx.store, id, deployment)
    with ctx.store.at_once():
        return ExecutionTree(row.id, list(_below(ctx.store, row, 0)))


def _below(store: TenantStore, row: ExecutionRow, level: int) -> Iterator[TreeLine]:
    yield TreeLine(
        level, row.id, row.request.workflow, row.deployment_name, row.status, row.reason, cause_text(store, row)
    )
    numbers = [found.number for found in executions_by(store, row.number)]
    inner = store.listings.executions(ExecutionQuery(numbers=numbers)) if numbers else ()
    for one in inner:
        yield from _below(store, one, level + 1)
