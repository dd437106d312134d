"""Lists of deployments with a filter: expressions, rules and sites (LB3, LB4, LB5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from phaseline.lang.fast_dataclasses import altered
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.model.rows.row_queries import RowTest
from phaseline.records.filters.row_condition import RowCondition
from phaseline.use_cases.lookup.estate.row_filters import condition_of
from phaseline.use_cases.lookup.estate.sites import require_site
from phaseline.use_cases.queries.estate.row_evaluation import chosen, time_value

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.row_queries import DeploymentQuery, RowCheck
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.records.values import Value
    from phaseline.views.views import DeploymentView

    Listed: TypeAlias = Callable[[TenantStore, Sequence[DeploymentRow]], Sequence[DeploymentView]]
    """The function that lists use to show rows: ``queries.deployments.listed``."""

_OF_ROWS = frozenset(
    [
        *("id", "name", "blueprint_file", "description", "kind", "created_by", "created_at", "tenant_name"),
        *("instance_count", "labels", "values of labels"),
    ]
)
"""Attributes for which only the rows and their labels are read."""
_OF_FACTS = frozenset(("blueprint_id", "display_name"))


class FilteredPage(NamedTuple):
    """A page of deployments, and the number of all that are selected. ``views``: those of the rows, if they were read."""

    rows: Sequence[DeploymentRow]
    total: int
    views: Sequence[DeploymentView] | None = None


def filtered_rows(
    ctx: RequestContext,
    wanted: DeploymentQuery,
    where: str,
    rules: Sequence[str] = (),
    site: str = "",
    *,
    listed: Listed,
    checks: Sequence[RowCheck] = (),
) -> FilteredPage:
    """Return the page of the deployments that a query and filters select.

    ``checks`` must be true, too. Raises: PL-C150 to PL-C155, and those of expressions.
    """
    condition = condition_of(ctx.store, "deployments", where, rules) or RowCondition("true", "deployments")
    if site:
        require_site(ctx.store, site)
        checks = (*checks, RowTest("site_name", "is", site))
    wanted = altered(wanted, checks=(*condition.checks, *checks))
    if condition.rest is None:
        return FilteredPage(*ctx.store.listings.page(wanted))
    rows = ctx.store.listings.deployments(altered(wanted, limit=None, after=""))
    needs_views = bool(condition.names - _OF_ROWS - _OF_FACTS)
    views = listed(ctx.store, rows) if needs_views else ()
    attributes = _attributes(ctx.store, rows, condition.names, views)
    verdicts = chosen(ctx, condition, attributes, [row.number for row in rows], "deployment")
    found = [at for at, is_chosen in enumerate(verdicts) if is_chosen]
    shown = [at for at in found if rows[at].name > wanted.after][: wanted.limit]
    seen = [views[at] for at in shown] if needs_views else None
    return FilteredPage([rows[at] for at in shown], len(found), seen)


def _attributes(
    store: TenantStore, rows: Sequence[DeploymentRow], names: frozenset[str], views: Sequence[DeploymentView]
) -> list[dict[str, Value]]:
    """Return the attributes of these deployments that a condition reads; what is empty is undefined.

    ``views``: those of the rows, or none if the condition reads no attribute of them.
    """
    found = [_of_row(row) for row in rows]
    if names & _OF_FACTS:
        facts = store.listings.facts([row.number for row in rows], with_names="display_name" in names)
        for row, known in zip(rows, found, strict=True):
            known["blueprint_id"] = facts.blueprint_ids.get(row.number)
            known["display_name"] = facts.display_names.get(row.number) or row.name
    for view, known in zip(views, found, strict=False):
        known.update({name: getattr(view, name) or None for name in _TEXTS})
        known.update({name: getattr(view, name) for name in _COUNTS})
    return found


_TEXTS = (
    "status",
    "site_name",
    "installation_status",
    "latest_execution_status",
    "deployment_status",
    "sub_services_status",
    "sub_environments_status",
)
_COUNTS = ("sub_services_count", "sub_environments_count", "drifted_instances", "unavailable_instances")


def _of_row(row: DeploymentRow) -> dict[str, Value]:
    return {
        "id": row.name,
        "name": row.name,
        "blueprint_file": row.blueprint_file,
        "description": row.description,
        "kind": row.kind,
        "created_by": row.created_by,
        "created_at": time_value(row.created_at),
        "tenant_name": row.tenant,
        "instance_count": row.instance_count,
    }
