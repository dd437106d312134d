"""Deployment groups: lists and details (GR1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.deployment.sealed_values import veiled
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.use_cases.queries.deployments import briefs

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.groups import GroupRow
    from phaseline.ports.tenant_store import TenantStore

MOST_SHOWN = 1_000
"""Most members whose names a view has."""


@frozen
class GroupView:
    """A deployment group. ``members``: names, at most ``MOST_SHOWN``; ``count`` is the number of all members.

    ``statuses`` is {status: number of members with it}; empty in lists. ``inputs`` are those of all new members.
    ``warnings`` are remarks of the command that made or changed it.
    """

    name: str
    description: str
    count: int
    blueprint: str
    inputs: Mapping[str, Value]
    labels: Sequence[str]
    created_at: int
    created_by: str
    members: Sequence[str] = ()
    statuses: Mapping[str, int] | None = None
    warnings: Sequence[Problem] = ()


def list_groups(ctx: RequestContext) -> Sequence[GroupView]:
    """Return all groups, by name, without their members."""
    return [_view(row, row.member_count) for row in ctx.store.groups.all()]


def show_group(ctx: RequestContext, name: str) -> GroupView:
    """Return one group with its members. Raises: PL-C160."""
    return group_view(ctx, find_group(ctx.store, name))


def group_view(ctx: RequestContext, row: GroupRow, warnings: Sequence[Problem] = ()) -> GroupView:
    """Return a group with its members and their statuses."""
    members = ctx.store.groups.members(row)
    numbers = tuple(member.number for member in members)
    rows = ctx.store.listings.deployments(DeploymentQuery(numbers=numbers)) if numbers else ()
    statuses = Counter(view.status for view in briefs(ctx.store, rows))
    shown = [member.name for member in members[:MOST_SHOWN]]
    return _view(row, len(members), shown, dict(sorted(statuses.items())), warnings)


def find_group(store: TenantStore, name: str) -> GroupRow:
    """Return the group of this name. Raises: PL-C160."""
    found = store.groups.find(name)
    if found is None:
        names = [row.name for row in store.groups.all()]
        hint = did_you_mean(name, names) or "see: phaseline groups list"
        if not names:
            hint = "make one: phaseline groups create NAME --blueprint FILE --count N"
        raise problem_error("PL-C160", f"there is no deployment group '{name}'", hint, subject=name)
    return found


def _view(
    row: GroupRow,
    count: int,
    members: Sequence[str] = (),
    statuses: Mapping[str, int] | None = None,
    warnings: Sequence[Problem] = (),
) -> GroupView:
    inputs = {name: veiled(value) for name, value in row.inputs.items()}
    told = row.labels, row.created_at, row.created_by, members, statuses, warnings
    return GroupView(row.name, row.description, count, row.blueprint, inputs, *told)
