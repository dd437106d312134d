"""List and show phases and plugins as their files define them; the files are read without running code.

The files are those in the plugin folders of the settings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from phaseline.catalog.code import function_entry_points
from phaseline.catalog.code import operation_modules as code_operation_modules
from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.phases.definitions import Attributes, PhaseDefinition, PhasePolicy
from phaseline.model.phases.registry import PhaseRegistry
from phaseline.model.problems.problem import Problem, ProblemsError, problem_error
from phaseline.use_cases.loading.blueprint_loading import raise_if_plugins_missing
from phaseline.use_cases.loading.type_catalog import find_definitions, list_definitions
from phaseline.use_cases.lookup import announced_packages
from phaseline.use_cases.lookup.known_phases import in_force, read
from phaseline.use_cases.queries.packages import listing
from phaseline.use_cases.queries.resources import engine_metrics, phase_activity

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from phaseline.app.app_context import RequestContext
    from phaseline.catalog.code.function_entry_points import FunctionPlace
    from phaseline.catalog.code.operation_modules import OperationModule
    from phaseline.catalog.phases.plugin_set import LoadedPlugins, PackageVerdict
    from phaseline.model.phases.definitions import PhasePlugin
    from phaseline.model.rows.phase_tables import PhaseTables
    from phaseline.use_cases.loading.type_catalog import TypesView
    from phaseline.use_cases.queries.packages.listing import PackageView
    from phaseline.use_cases.queries.resources.engine_metrics import EngineNow
    from phaseline.use_cases.queries.resources.phase_activity import PhaseNow

T = TypeVar("T")


Status = Literal["good", "refused", "disabled", "announced"]


@frozen
class PluginView:
    """One plugin of any kind.

    ``status`` "refused": the plugin or another one of its package has problems; "announced": a package of an installed
    distribution that ``plugins sync`` has not stored yet. ``package`` is empty for a plugin outside packages.
    ``where``: file, line and column. ``problems``: those of the whole package. ``operations``: functions, if ``kind``
    is "operations". ``defines``: {section: names}, if it is "types". ``stages`` (of its tasks) and ``enabled_in``
    (deployments): if it is "package".
    """

    name: str
    kind: str
    phase: str
    package: str
    version: str
    status: Status
    where: str
    function: str
    form: str
    is_async: bool
    attributes: Attributes
    problems: Sequence[Problem] = field(default_factory=tuple)
    operations: Sequence[str] = ()
    defines: Mapping[str, Sequence[str]] = field(default_factory=dict)
    stages: Sequence[str] = ()
    enabled_in: Sequence[str] = ()


@frozen
class PhaseView:
    """One phase as its plugin defines it. ``needs``: {state: the phases that must be complete before this phase}.

    ``obstacles``: reasons why resources that need the phase wait for an operator. ``note``: set if the version in use
    differs from the file. ``now``: its present activity; None in a list for a phase that no resource was ever in.
    ``engine``: the engine that calls it; None in a list.
    """

    name: str
    plugin: str
    package: str
    description: str
    states: Sequence[str]
    resource_types: Sequence[str]
    providers: Sequence[str]
    constraint: str
    dependencies: Sequence[str]
    needs: dict[str, Sequence[str]]
    policy: PhasePolicy
    attributes: Attributes
    version: str
    function: str
    form: str
    is_async: bool
    where: str
    is_invalid: bool
    error: str
    obstacles: Sequence[str]
    note: str = ""
    now: PhaseNow | None = None
    engine: EngineNow | None = None


def list_plugins(ctx: RequestContext, plugin_folders: Sequence[str] = ()) -> list[PluginView]:
    """Return plugins of every kind, by name.

    These are plugins with phases or listeners, modules with operations, type definitions, functions of other
    distributions, and packages.
    """
    found = [_plugin(plugin, verdict) for plugin, verdict in _load(ctx, plugin_folders).plugins]
    found += map(_operations, code_operation_modules.operation_modules(folders_of(ctx, plugin_folders)))
    found += map(_types, list_definitions(ctx))
    found += map(_function, function_entry_points.function_places())
    packages = listing.list_packages(ctx)
    found += map(_package, packages)
    found += _announced({package.origin for package in packages})
    return sorted(found, key=_place_in_list)


def _place_in_list(view: PluginView) -> tuple[str, str, str]:
    """Return the sort key (name in lower case, kind, place).

    Packages have no place in it, so that those of one name stay in the order of their versions.
    """
    return view.name.lower(), view.kind, "" if view.kind == "package" else view.where


def show_plugin(ctx: RequestContext, name: str, plugin_folders: Sequence[str] = ()) -> PluginView:
    """Return one plugin of any kind; of type definitions the newest version. Raises: PL-D054."""
    views = list_plugins(ctx, plugin_folders)
    found = next((view for view in views if view.name.lower() == name.lower()), None)
    if found is None or found.kind == "types":
        found = next(map(_types, find_definitions(ctx, name)), None)
    if found is None:
        hint = _hint(name, [view.name for view in views])
        raise problem_error(
            "PL-D054", f"there is no plugin '{name}'", f"{hint}list the plugins: phaseline plugins list"
        )
    return found


def list_phases(
    ctx: RequestContext, plugin_folders: Sequence[str] = (), *, state: str = "", resource_type: str = ""
) -> list[PhaseView]:
    """Return phases by name.

    ``state``: only phases of this state. ``resource_type``: only phases for resources of this type.
    """
    tables = _tables(ctx)
    registry = _load(ctx, plugin_folders, tables).registry
    phases = [
        phase
        for phase in registry.phases
        if (not state or state in phase.states)
        and (not resource_type or set(registry.types.line(resource_type)).intersection(phase.resource_types))
    ]
    now, used = phases_now(ctx, tables), in_force(ctx, tables)
    views = [_at(ctx, _phase(phase, registry, used), now.get(phase.key)) for phase in phases]
    if not state and not resource_type:
        views += [_nowhere(ctx, found) for key, found in now.items() if registry.get(key) is None and found.counts]
    return sorted(views, key=lambda view: view.name.lower())


def _nowhere(ctx: RequestContext, now: PhaseNow) -> PhaseView:
    """Return the view of a phase that resources are in but that no plugin defines."""
    nobody = PhaseDefinition(now.name, "", (), (), error=f"no plugin defines the phase '{now.name}'")
    return _at(ctx, altered(_phase(nobody, PhaseRegistry([nobody])), where=""), now)


def _at(ctx: RequestContext, view: PhaseView, now: PhaseNow | None) -> PhaseView:
    """Return the view of a phase, with its present activity and whether its call is overdue.

    If the phase has obstacles, its waiting entries are shown as blocked.
    """
    if now is not None and now.running_since_at:
        age_s = (ctx.clock.now() - now.running_since_at) / 1000
        now = altered(now, is_overdue=age_s > view.policy.overdue_after_s)
    if now is not None and view.obstacles:
        now = phase_activity.blocked(now)
    return altered(view, now=now)


def _tables(ctx: RequestContext) -> PhaseTables | None:
    """Return what the store has of phases, or None if there is no store."""

    def tables() -> PhaseTables:
        return ctx.store.listings.phase_tables()

    return _where_stored(tables, None)


def phases_now(ctx: RequestContext, tables: PhaseTables | None) -> Mapping[str, PhaseNow]:
    """Return {phase: its present activity}; empty if there is no store."""
    if tables is None:
        return {}
    with ctx.store.at_once():
        return phase_activity.phases_now(ctx.store, tables)


def _where_stored(read: Callable[[], T], nothing: T) -> T:
    """Return the result of ``read``, or ``nothing`` if there is no store."""
    try:
        return read()
    except ProblemsError as error:
        if error.problems[0].code != "PL-S007":
            raise
        return nothing


def show_phase(ctx: RequestContext, name: str, plugin_folders: Sequence[str] = ()) -> PhaseView:
    """Return one phase. Raises: PL-D053."""
    tables = _tables(ctx)
    registry = _load(ctx, plugin_folders, tables).registry
    phase = registry.get(name)
    if phase is None:
        hint = _hint(name, [each.name for each in registry.phases])
        raise problem_error("PL-D053", f"there is no phase '{name}'", f"{hint}list the phases: phaseline phases list")

    now = phases_now(ctx, tables).get(phase.key) or phase_activity.PhaseNow()
    view = _at(ctx, _phase(phase, registry, in_force(ctx, tables)), now)
    return altered(view, engine=_where_stored(lambda: engine_metrics.engine_now(ctx.store), None))


def _load(ctx: RequestContext, plugin_folders: Sequence[str], tables: PhaseTables | None = None) -> LoadedPlugins:
    return read(ctx, folders_of(ctx, plugin_folders), tables)


def folders_of(ctx: RequestContext, plugin_folders: Sequence[str]) -> tuple[str, ...]:
    """Return the given folders, then those of the settings. Raises: PL-O003 for a given folder that does not exist."""
    raise_if_plugins_missing(plugin_folders)
    return ctx.app.code_places(str(Path.cwd() / "blueprint.yaml"), tuple(plugin_folders)).plugin_folders


def _plugin(plugin: PhasePlugin, verdict: PackageVerdict) -> PluginView:
    code = plugin.code
    return PluginView(
        plugin.name,
        plugin.kind,
        plugin.phase.name if plugin.phase is not None else "",
        plugin.package,
        plugin.version,
        "refused" if verdict.errors else "disabled" if plugin.is_disabled else "good",
        str(plugin.where),
        str(code) if code is not None and code.function else "",
        code.form if code is not None and plugin.phase is not None else "",
        code is not None and code.is_async,
        plugin.attributes,
        verdict.problems,
    )


BARE = PluginView("", "", "", "", "", "good", "", "", "", False, Attributes())
"""A plugin view without details. It is copied for plugins that define no phase, because their views have few details."""


def _operations(module: OperationModule) -> PluginView:
    return altered(
        BARE,
        name=module.name,
        kind="operations",
        package=module.package,
        status="good" if module.file else "refused",
        where=module.file,
        operations=module.functions,
    )


def _function(found: FunctionPlace) -> PluginView:
    problems: tuple[Problem, ...] = ()
    if not found.file:
        mend = f"repair or remove the distribution '{found.package}'"
        problems = (Problem("PL-O001", f"there is no module for the function '{found.name}': {found.target}", mend),)
    return altered(
        BARE,
        name=found.name,
        kind="function",
        package=found.package,
        version=found.version,
        status="refused" if problems else "good",
        where=found.file,
        function=found.target,
        problems=problems,
    )


def _package(view: PackageView) -> PluginView:
    return altered(
        BARE,
        name=view.name,
        kind="package",
        version=view.version,
        where=view.origin or view.folder,
        stages=view.stages,
        enabled_in=view.enabled_in,
    )


def _announced(known: AbstractSet[str]) -> Iterator[PluginView]:
    """Yield the packages of installed distributions that ``plugins sync`` has not stored yet."""
    for source in announced_packages.announced_sources():
        if source.origin not in known:
            named = announced_packages.read_identity(Path(source.folder)) if source.folder else None
            name, version = named or (source.origin.rpartition(" ")[2], "")
            yield altered(
                BARE,
                name=name,
                kind="package",
                version=version,
                status="announced" if named else "refused",
                where=source.folder or source.origin,
                problems=source.problems,
            )


def _types(view: TypesView) -> PluginView:
    return altered(BARE, name=view.name, kind="types", version=view.version, where=view.where, defines=view.defines)


def _phase(phase: PhaseDefinition, registry: PhaseRegistry, used: Collection[str] = ()) -> PhaseView:
    """Return the view of a phase.

    ``used``: keys of the phases that the running engine has loaded. If the file of such a phase has an error now, the
    engine keeps the former version.
    """
    code = phase.code
    is_kept = bool(phase.error) and phase.key in used
    return PhaseView(
        phase.name,
        phase.plugin,
        phase.package,
        phase.description,
        phase.states,
        phase.resource_types,
        phase.providers,
        phase.constraint,
        phase.dependencies,
        {state: registry.needs(phase, state) for state in phase.states},
        phase.policy,
        phase.attributes,
        phase.version,
        str(code) if code is not None else "",
        code.form if code is not None else "",
        code is not None and code.is_async,
        str(phase.where),
        bool(phase.error) and not is_kept,
        phase.error,
        () if is_kept else registry.obstacles(phase),
        f"the engine keeps the former version; the present one is refused: {phase.error}" if is_kept else "",
    )


def _hint(name: str, known: Sequence[str]) -> str:
    hint = did_you_mean(name, known)
    return f"{hint} " if hint else ""
