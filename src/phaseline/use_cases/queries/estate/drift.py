"""Results of the stored checks of deployments; no operation is called (LB9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.health.checks import ILL, CheckKind, CheckResult
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.queries import deployments
from phaseline.use_cases.queries.estate import filtered_deployments

if TYPE_CHECKING:
    import numpy as np

    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.listings import Roster

NAMED = 100
"""Largest number of instances that are named; of further ones the counts have the number."""


@frozen
class DriftView:
    """The results of the latest checks in one deployment.

    ``drifted``: ids of instances that differ from their model; ``unavailable``: of those that are not healthy. At most
    ``NAMED`` each; the counts are of all. ``unchecked``: number of instances whose drift was never checked, or is not
    known because the check failed.
    """

    deployment: str
    instance_count: int
    drifted_instances: int
    unavailable_instances: int
    unchecked: int
    drifted: Sequence[str] = ()
    unavailable: Sequence[str] = ()


def drift(
    ctx: RequestContext, names: Sequence[str] = (), *, where: str = "", rules: Sequence[str] = ()
) -> Sequence[DriftView]:
    """Return the results of stored checks, of these deployments or of those of a filter; by default of all.

    Raises: PL-C010 for an unknown name, PL-C150 to PL-C154 and those of expressions.
    """
    with ctx.store.at_once():
        numbers = {find_deployment(ctx.store, name).number for name in names} if names else None
        query, listed = DeploymentQuery(numbers=numbers), deployments.listed
        rows, _, _ = filtered_deployments.filtered_rows(ctx, query, where, rules, listed=listed)
        rosters = ctx.store.listings.rosters([row.number for row in rows])
    return [_view(row.name, rosters[row.number]) for row in rows if row.number in rosters]


def _view(name: str, roster: Roster) -> DriftView:
    size = len(roster.states)
    drifts, statuses = (roster.checks.column(kind, size) for kind in (CheckKind.DRIFT, CheckKind.STATUS))
    is_there = roster.is_there
    drifted = (drifts == CheckResult.DRIFTED) & is_there
    ill = ((statuses == ILL[0]) | (statuses == ILL[1])) & is_there
    unchecked = ((drifts == CheckResult.UNKNOWN) | (drifts == CheckResult.FAILED)) & is_there
    return DriftView(
        name,
        instance_count=int(is_there.sum()),
        drifted_instances=int(drifted.sum()),
        unavailable_instances=int(ill.sum()),
        unchecked=int(unchecked.sum()),
        drifted=_ids(roster, drifted),
        unavailable=_ids(roster, ill),
    )


def _ids(roster: Roster, which: np.ndarray) -> list[str]:
    return [roster.ids[number] for number in which.nonzero()[0][:NAMED].tolist()]
