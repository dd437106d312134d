"""Check the installation of a blueprint or the removal of a deployment, with all problems and warnings.

Nothing is stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.app.store_location import has_store
from phaseline.lang.fast_namedtuples import NamedTuple
from phaseline.plan.preview import agent_warnings
from phaseline.use_cases.loading import blueprint_loading, deployment_rows, moved_folders
from phaseline.use_cases.lookup.blocking_executions import is_read, raise_if_busy, raise_if_invalid
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.prepare import consumers, deployment_spec, foreseen_stops
from phaseline.use_cases.prepare.options import DEFAULT_OPTIONS, ExecutionOptions
from phaseline.use_cases.prepare.pre_post import new_execution, with_stops

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.rows import DeploymentRow, NewExecution
    from phaseline.use_cases.loading.blueprint_loading import LoadedBlueprint
    from phaseline.use_cases.prepare.deployment_spec import DeploymentSpec


class ChosenInstall(NamedTuple):
    """The request of an installation, from which its plan is made and its execution is stored.

    ``replaces`` is the number of the deployment of the same name that it replaces, or 0.
    """

    loaded: LoadedBlueprint
    request: Request
    replaces: int


class PreparedInstall(NamedTuple):
    """A checked installation that can be stored.

    ``execution`` has its hook classes and stage tasks. Its ``created_at`` is stored with the deployment, too. ``site`` is
    the name of the deployment's site, or "".
    """

    name: str
    chosen: ChosenInstall
    execution: NewExecution
    warnings: tuple[Problem, ...]
    site: str = ""


class ChosenUninstall(NamedTuple):
    """The request of an uninstall, from which its plan is made and its execution is stored."""

    deployment: DeploymentRow
    topology: Topology
    request: Request


class PreparedUninstall(NamedTuple):
    """A checked uninstall that no other execution blocks."""

    chosen: ChosenUninstall
    execution: NewExecution
    warnings: tuple[Problem, ...]


def choose_install(
    ctx: RequestContext, name: str | None, loaded: LoadedBlueprint, manner: ExecutionOptions
) -> ChosenInstall:
    """Return the installation request for a loaded blueprint.

    Raises: PL-S010 if the name is taken, PL-P047 for breakpoints at which nothing stops.
    """
    existing = deployment_spec.require_free_name(ctx, name) if name is not None and has_store(ctx.app) else None
    request = with_stops(ctx, manner.request("install", ctx, {}, loaded.topology), loaded.topology)
    return ChosenInstall(loaded, request, 0 if existing is None else existing.number)


def prepare_install(
    ctx: RequestContext, order: DeploymentSpec, *, manner: ExecutionOptions = DEFAULT_OPTIONS
) -> PreparedInstall:
    """Check an installation and return what is to be stored for it. Raises: ``ProblemsError`` with all problems."""
    name = blueprint_loading.deployment_name(order.file, order.name)
    loaded = deployment_spec.load_order(ctx, order)
    chosen = choose_install(ctx, name, loaded, manner)
    request = chosen.request
    raise_if_invalid(loaded.topology, request)
    stops = foreseen_stops.look_before_first(ctx, manner.breakpoints, request, loaded) if manner.breakpoints else ()
    agents = agent_warnings.agent_warning(loaded.topology.nodes)
    deployment_rows.raise_if_secrets_missing(ctx, loaded.blueprint)
    allow_missing = order.allow_missing_providers
    providers = deployment_spec.provider_warnings(ctx, name, loaded.blueprint, allow_missing=allow_missing)
    # Packages enabled for the replaced deployment are enabled for this one.
    execution, more = new_execution(ctx, chosen.replaces, request, made=loaded.topology)
    warnings = (*stops, *loaded.warnings, *providers, *((agents,) if agents else ()), *more)
    return PreparedInstall(name, chosen, execution, warnings, order.site)


def choose_uninstall(
    ctx: RequestContext, name: str, manner: ExecutionOptions, *, ignore_failure: bool, to_change: bool
) -> ChosenUninstall:
    """Return the uninstall request for a deployment, with the deployment and its topology.

    ``to_change``: require the whole name; otherwise its beginning is enough. Raises: PL-C010 if there is no such
    deployment, PL-C013 if several names begin with ``name``, PL-C024 if the deployment's folder is missing.
    """
    deployment = find_deployment(ctx.store, name, to_change=to_change)
    moved_folders.raise_if_folders_missing(ctx, deployment)
    topology = ctx.store.topology(deployment.number)
    request = manner.request("uninstall", ctx, {"ignore_failure": True} if ignore_failure else {}, topology)
    request = with_stops(ctx, request, topology, deployment=deployment.number)
    return ChosenUninstall(deployment, topology, request)


def prepare_uninstall(
    ctx: RequestContext,
    name: str,
    *,
    ignore_failure: bool = False,
    force: bool = False,
    manner: ExecutionOptions = DEFAULT_OPTIONS,
) -> PreparedUninstall:
    """Check an uninstall.

    ``force``: uninstall it although other deployments read it. Raises: the errors of ``choose_uninstall``, PL-C016 while
    an execution of the deployment is open, PL-C131 while other deployments read it.
    """
    chosen = choose_uninstall(ctx, name, manner, ignore_failure=ignore_failure, to_change=True)
    deployment, topology, request = chosen
    raise_if_invalid(topology, request)
    raise_if_busy(ctx.store, deployment, topology, request)
    if is_read(ctx.store, deployment):
        request = consumers.guarded(ctx, deployment, topology, request, force=force)
        chosen = ChosenUninstall(deployment, topology, request)
    warnings: tuple[Problem, ...] = ()
    if manner.breakpoints:
        warnings = foreseen_stops.look_before_start(ctx, manner.breakpoints, request, (deployment, topology))
    execution, _ = new_execution(ctx, deployment.number, request)
    return PreparedUninstall(chosen, execution, warnings)
