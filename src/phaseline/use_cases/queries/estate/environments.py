"""Environments, and the tree of what belongs to a deployment (LB7, LB10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.labels import OBJECT_TYPE
from phaseline.model.rows.deployment_summaries import ENVIRONMENT, Families
from phaseline.model.rows.row_queries import DeploymentQuery, RowTest
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.queries import deployments
from phaseline.use_cases.queries.estate import filtered_deployments
from phaseline.views.views import Page

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.views.views import DeploymentView


def list_environments(ctx: RequestContext, *, where: str = "", limit: int | None = None) -> Page[DeploymentView]:
    """Return the deployments that are environments. ``where``: an expression over the row, or ``@NAME``.

    Raises: PL-C150 to PL-C154 and those of expressions.
    """
    with ctx.store.at_once():
        is_one = RowTest(OBJECT_TYPE, "is", ENVIRONMENT, is_label=True)
        query, listed = DeploymentQuery(limit=limit), deployments.listed
        rows, total, seen = filtered_deployments.filtered_rows(ctx, query, where, listed=listed, checks=(is_one,))
        return Page(listed(ctx.store, rows) if seen is None else seen, total)


def tree(ctx: RequestContext, name: str) -> Sequence[DeploymentView]:
    """Return a deployment and all that belongs to it, each after one to which it belongs.

    ``parents`` of the views are those within the tree. Raises: PL-C010 if there is no such deployment.
    """
    with ctx.store.at_once():
        top = find_deployment(ctx.store, name)
        families = Families(ctx.store.listings.facts([]).kin)
        numbers = [top.number, *(families.known[one].number for one in families.below(top.name))]
        rows = {row.number: row for row in ctx.store.listings.deployments(DeploymentQuery(numbers=numbers))}
        views = deployments.listed(ctx.store, [rows[number] for number in numbers if number in rows])
    names = {view.name for view in views}
    return [
        altered(view, parents=() if view.name == top.name else tuple(one for one in view.parents if one in names))
        for view in views
    ]
