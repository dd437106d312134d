"""Specify a new deployment by blueprint, name, inputs and labels, and check that its name is free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from phaseline.app.store_location import has_store
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.blueprint.labels import PARENT
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.problems.problem import problem_error
from phaseline.use_cases.loading import blueprint_loading, deployment_rows
from phaseline.use_cases.lookup import label_syntax
from phaseline.use_cases.lookup.estate import parents, sites
from phaseline.use_cases.prepare import providers
from phaseline.use_cases.queries import deployments

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Blueprint, Value
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint


UNFINISHED = (ExecutionStatus.FAILED, ExecutionStatus.CANCELED)
"""Final statuses of an execution after which it can be retried."""


@frozen
class DeploymentSpec:
    """A new deployment: a blueprint file, a name (None: the name of the file's folder), inputs and plugin folders.

    With ``runtime_only``, functions are evaluated when their values are needed, not when the deployment is created
    (B41). ``labels`` are texts ``KEY=VALUE``, which are added to the labels of the blueprint.
    ``allow_missing_providers``: accept that deployments which the blueprint reads do not exist (DP12). ``site`` is the
    name of its site, and ``environment`` that of an environment to which it belongs (LB5, LB7); "" for none.
    """

    file: str
    name: str | None = None
    inputs: Mapping[str, Value] = field(default_factory=dict)
    plugin_folders: Sequence[str] = ()
    yes_many: bool = False
    runtime_only: bool = False
    labels: Sequence[str] = ()
    allow_missing_providers: bool = False
    site: str = ""
    environment: str = ""


def load_order(ctx: RequestContext, order: DeploymentSpec) -> LoadedBlueprint:
    """Load the blueprint of the future deployment. Raises ``ProblemsError`` with all problems."""
    loaded = blueprint_loading.load(
        ctx,
        order.file,
        inputs=order.inputs,
        plugin_folders=order.plugin_folders,
        yes_many=order.yes_many,
        runtime_only=order.runtime_only,
    )
    return with_labels_of(ctx, loaded, order)


def with_labels_of(ctx: RequestContext, loaded: LoadedBlueprint, order: DeploymentSpec) -> LoadedBlueprint:
    """Return the blueprint with the labels of the order, after a check of its site and of what it belongs to.

    Raises: PL-C068 for a label, PL-C155 for an unknown site, PL-C158 for a deployment to which it cannot belong.
    """
    texts = order.labels
    if order.environment:
        texts = (*texts, f"{PARENT}={order.environment}")
    if texts:
        loaded = with_given(loaded, texts)
    belongs = loaded.blueprint.labels.get(PARENT)
    if (order.site or belongs) and has_store(ctx.app):
        if order.site:
            sites.require_site(ctx.store, order.site)
        if order.environment:
            parents.raise_if_no_environment(ctx.store, order.environment)
        if belongs:
            name = blueprint_loading.deployment_name(order.file, order.name)
            parents.raise_if_parents_unfit(ctx.store, name, loaded.blueprint.labels)
    return loaded


def require_free_name(ctx: RequestContext, name: str) -> DeploymentRow | None:
    """Return the existing deployment that a new one of this name would replace, or None if there is none.

    Raises: PL-S010 if it has an open execution, or instances that may exist.
    """
    existing = ctx.store.deployment(name)
    if existing is not None:
        _raise_if_in_use(ctx, existing)
    return existing


def provider_warnings(
    ctx: RequestContext, name: str, blueprint: Blueprint, *, allow_missing: bool = False, is_plan: bool = False
) -> tuple[Problem, ...]:
    """Return warnings about the deployments that a blueprint reads (DP4, DP12, DP14); () if it reads none.

    Raises: PL-B170, PL-B074 and PL-C130, as ``providers.check_providers`` does; a plan (``is_plan``) has warnings instead.
    """
    if not deployment_rows.dependencies(blueprint):
        return ()
    if is_plan:
        return providers.foresee_providers(ctx, name, blueprint)
    return providers.check_providers(ctx, name, blueprint, allow_missing=allow_missing)


def use_by(found: ExecutionRow) -> str:
    """Return the end of an error message: which execution of the deployment is open."""
    is_install = found.request.workflow == "install"
    return f"and is being installed by {found.id}" if is_install else f"and {found.id} has not ended"


def _raise_if_in_use(ctx: RequestContext, row: DeploymentRow) -> None:
    """Raise PL-S010 if the deployment has an open execution, or instances that may exist."""
    found = deployments.open_execution(ctx.store, row)
    living = deployments.living_count(ctx.store, row)
    if found is not None:
        way = f"wait for it: phaseline executions follow {found.id}"
    elif living:
        failed = [one for one in ctx.store.executions(row.number)[-1:] if one.status in UNFINISHED]
        retry = f"try again what failed: phaseline executions retry {failed[0].id}; or " if failed else ""
        away = "resources delete --all" if row.kind == "resources" else "uninstall"
        way = f"{retry}remove it first: phaseline {away} -d {row.name}"
    else:
        return
    held = f"with {living} instance{'s' * (living != 1)} that may exist"
    if found is not None:
        held = use_by(found)
    message = f"there is a deployment '{row.name}' already, {held}"
    forget = "" if found else f", or delete its records: phaseline deployments delete {row.name} --force"
    mend = f"{way}; or choose another name with -d{forget}"
    raise problem_error("PL-S010", message, mend, subject=row.name)


def with_given(loaded: LoadedBlueprint, texts: Sequence[str]) -> LoadedBlueprint:
    """Return the blueprint with the labels ``KEY=VALUE`` added to its own. Raises: PL-C068."""
    found = {key: list(values) for key, values in loaded.blueprint.labels.items()}
    for label in label_syntax.parse_labels(texts, may_be_key=False):
        values = found.setdefault(label.key, [])
        if label.value not in values:
            values.append(label.value)
    blueprint = altered(loaded.blueprint, labels=found)
    return altered(loaded, blueprint=blueprint, topology=altered(loaded.topology, blueprint=blueprint))
