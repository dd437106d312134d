"""Show which deployments a deployment reads, and which read it (DP11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from phaseline.calls.deployments.dependency_reads import read_by, readers_of, short_place
from phaseline.lang.fast_dataclasses import frozen
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.queries.deployments import briefs

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import DeploymentRow
    from phaseline.ports.tenant_store import TenantStore

MOST_SHOWN = 10_000
"""Most deployments in a tree; further ones are left out and counted."""


@frozen
class DependencyView:
    """One use of a provider by a consumer. ``place`` is node and property, ``creator`` the full place in the blueprint.

    ``provider`` is "" if a function computes it and has not been evaluated yet; ``is_missing`` is True if there is no
    deployment of this name.
    """

    consumer: str
    provider: str
    kind: str
    place: str
    creator: str
    function: str = ""
    is_missing: bool = False


@frozen
class DependencyBranch:
    """A deployment in a tree at ``depth``, with its status and the places by which the one above and this one are tied.

    ``is_again`` is True if its branch was shown before, so that it is left out here.
    """

    deployment: str
    depth: int
    status: str
    places: Sequence[str]
    is_again: bool = False


@frozen
class DependenciesView:
    """The deployments that one reads (``of``), and those that read it (``on``); None if it was not asked for.

    With a tree, ``providers`` and ``consumers`` are its branches, each before those below it.
    """

    deployment: str
    of: Sequence[DependencyView] | None = None
    on: Sequence[DependencyView] | None = None
    providers: Sequence[DependencyBranch] | None = None
    consumers: Sequence[DependencyBranch] | None = None


def dependencies(
    ctx: RequestContext, name: str, *, of: bool = True, on: bool = True, tree: bool = False
) -> DependenciesView:
    """Return which deployments this one reads (``of``), and which read it (``on``).

    ``tree``: also what these read, and so on. Raises: PL-C010 if there is no such deployment.
    """
    row = find_deployment(ctx.store, name)
    with ctx.store.at_once():
        return DependenciesView(
            row.name,
            of_deployment(ctx.store, row) if of else None,
            on_deployment(ctx.store, row) if on else None,
            _branches(ctx.store, row, is_up=True) if of and tree else None,
            _branches(ctx.store, row, is_up=False) if on and tree else None,
        )


def of_deployment(store: TenantStore, row: DeploymentRow) -> list[DependencyView]:
    """Return what a deployment reads of its providers."""
    return [
        DependencyView(
            row.name, found.name, one.kind, short_place(one.creator), one.creator, one.function,
            is_missing=found.row is None and found.name != "",
        )
        for found in read_by(store, row)
        for one in (found.dependency,)
    ]  # fmt: skip


def on_deployment(store: TenantStore, row: DeploymentRow) -> list[DependencyView]:
    """Return what others read of a deployment, by consumer."""
    found = [
        DependencyView(record.name, row.name, one.kind, short_place(one.creator), one.creator, one.function)
        for page in readers_of(store, row)
        for record in page
        for one in (record.dependency,)
    ]
    return sorted(found, key=lambda view: view.consumer)


def _branches(store: TenantStore, row: DeploymentRow, *, is_up: bool) -> list[DependencyBranch]:
    """Return the tree of providers (``is_up``) or of consumers of a deployment, without the deployment itself."""
    found: list[tuple[DeploymentRow | None, DependencyBranch]] = []
    seen = {row.name}
    ahead = [(1, step) for step in reversed(_steps(store, row, is_up=is_up))]
    while ahead and len(found) < MOST_SHOWN:
        depth, (name, below, places) = ahead.pop()
        is_again = name in seen
        found.append((below, DependencyBranch(name, depth, "", places, is_again=is_again)))
        seen.add(name)
        if below is not None and not is_again:
            ahead += [(depth + 1, step) for step in reversed(_steps(store, below, is_up=is_up))]
    rows = {one.number: one for one, _ in found if one is not None}
    statuses = {view.name: view.status for view in briefs(store, list(rows.values()))}
    return [
        DependencyBranch(one.deployment, one.depth, statuses.get(one.deployment, "missing"), one.places, one.is_again)
        for _, one in found
    ]


def _steps(
    store: TenantStore, row: DeploymentRow, *, is_up: bool
) -> list[tuple[str, DeploymentRow | None, Sequence[str]]]:
    """Return (name, row or None, places) of the deployments next to one in a tree, sorted by name."""
    places: dict[str, list[str]] = {}
    if is_up:
        for read in read_by(store, row):
            if read.name:
                places.setdefault(read.name, []).append(short_place(read.dependency.creator))
    else:
        for page in readers_of(store, row):
            for record in page:
                places.setdefault(record.name, []).append(short_place(record.dependency.creator))
    return [(name, store.deployment(name), tuple(dict.fromkeys(found))) for name, found in sorted(places.items())]
