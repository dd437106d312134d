"""Find names for shell completion, quickly and without creating or upgrading a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from phaseline.app.store_location import store_file
from phaseline.model.rows import row_queries
from phaseline.use_cases.tools.doctor import older_schema

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.settings import Settings

OFFERED = 200
"""Largest number of names that are offered."""
Named = Literal["deployments", "executions", "instances", "clusters", "resources", "secrets", "blueprints"]


def may_look(settings: Settings) -> bool:
    """Return True if there is a store that can be read without an upgrade."""
    file = store_file(settings.store_url)
    return file is not None and file.exists() and not older_schema(file)


def deployment_names(ctx: RequestContext, beginning: str) -> list[str]:
    """Return the names of deployments that begin with the given text."""
    rows = ctx.store.listings.deployments(row_queries.DeploymentQuery(begins=beginning, limit=OFFERED))
    return _fitting((row.name for row in rows), beginning)


def execution_ids(ctx: RequestContext, beginning: str) -> list[str]:
    """Return the ids of executions that begin with the given text, the latest first."""
    wanted = row_queries.ExecutionQuery(begins=beginning, is_latest_first=True, limit=OFFERED)
    return _fitting((row.id for row in ctx.store.listings.executions(wanted)), beginning)


def instance_ids(ctx: RequestContext, beginning: str) -> list[str]:
    """Return the ids of instances that begin with the given text."""
    rows = ctx.store.listings.with_ids(beginning, limit=OFFERED)
    return _fitting((id for _, ids in rows for id in ids), beginning)


def cluster_names(ctx: RequestContext, beginning: str) -> list[str]:
    """Return the names of clusters that begin with the given text."""
    rows = ctx.store.listings.deployments(
        row_queries.DeploymentQuery(begins=beginning, kind="resources", limit=OFFERED)
    )
    return _fitting((row.name for row in rows), beginning)


def resource_names(ctx: RequestContext, beginning: str) -> list[str]:
    """Return the names of resources that begin with the given text."""
    rows = ctx.store.listings.with_ids(beginning, kind="resources", limit=OFFERED)
    return _fitting((id for _, ids in rows for id in ids), beginning)


def secret_names(ctx: RequestContext, beginning: str) -> list[str]:
    """Return the names of secrets that begin with the given text."""
    return _fitting((row.name for row in ctx.store.secrets.all()), beginning)


def blueprint_ids(ctx: RequestContext, beginning: str) -> list[str]:
    """Return the ids of stored blueprints that begin with the given text."""
    return _fitting(sorted({row.id for row in ctx.store.stored_blueprints.all()}), beginning)


def _fitting(names: Iterable[str], beginning: str) -> list[str]:
    found: list[str] = []
    for name in names:
        if name.startswith(beginning):
            found.append(name)
        if len(found) == OFFERED:
            break
    return found


KINDS: Mapping[Named, Callable[[RequestContext, str], list[str]]] = {
    "deployments": deployment_names,
    "executions": execution_ids,
    "instances": instance_ids,
    "clusters": cluster_names,
    "resources": resource_names,
    "secrets": secret_names,
    "blueprints": blueprint_ids,
}


def offered_names(ctx: RequestContext, kind: Named, beginning: str) -> Sequence[str]:
    """Return the names of a kind that begin with the given text, or none if there is no store of this version."""
    return KINDS[kind](ctx, beginning) if may_look(ctx.settings) else []
