"""Lists of deployments with a filter: expressions, rules and sites (LB3, LB4, LB5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.rows.row_tests import RowTest
from phaseline.records.filters.row_condition import RowCondition
from phaseline.use_cases.lookup.estate.row_filters import condition_of, page_of_deployments
from phaseline.use_cases.lookup.estate.sites import require_site
from phaseline.use_cases.queries import deployments
from phaseline.views.views import Page

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.row_queries import DeploymentQuery
    from phaseline.views.views import DeploymentView


def filtered_page(
    ctx: RequestContext, wanted: DeploymentQuery, status: str | None, where: str, rules: Sequence[str], site: str
) -> Page[DeploymentView]:
    """Return the page of the deployments that a query and filters select. Raises: PL-C140 to PL-C145."""
    condition = condition_of(ctx.store, "deployments", where, rules) or RowCondition("true", "deployments")
    if site:
        require_site(ctx.store, site)
        condition.checks = (*condition.checks, RowTest("site_name", "is", site))
    if status != deployments.UNREADABLE:
        rows, total = page_of_deployments(ctx, wanted, condition)
        return Page(deployments.listed(ctx.store, rows), total)
    rows, _ = page_of_deployments(ctx, altered(wanted, limit=None), condition)
    views = [view for view in deployments.listed(ctx.store, rows) if view.status == status]
    return Page(views[: wanted.limit], len(views))
