"""Find hook classes: those known to this process, those from packages of a deployment, and which are enabled."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from phaseline.app.app_context import HAS_HOOKS
from phaseline.app.store_location import has_store
from phaseline.catalog.code import search_path
from phaseline.hooks.discovery import FROM_PACKAGE, FROM_SETTINGS, HookEntry, announced
from phaseline.hooks.registry import Registry
from phaseline.model.problems.problem import Place, Problem, ProblemsError
from phaseline.model.rows.hook_switches import EVERYWHERE
from phaseline.use_cases.lookup import installed_packages, secret_settings

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.settings import Settings
    from phaseline.hooks.declaration import KnownHook
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.hook_switches import Switch
    from phaseline.use_cases.lookup.installed_packages import InstalledPackage

NO_OPTIONS: Mapping[str, Value] = MappingProxyType({})
GENERAL = "hooks"
"""Cache key for the registry of the hook classes that do not come from packages."""
BROKEN = "PL-H001"
"""Code of the problem of a hook class that cannot be used."""


def make_registry(ctx: RequestContext, packaged: Iterable[HookEntry] = ()) -> Registry:
    """Return a registry of the ``packaged`` classes and all classes that distributions or the settings name.

    Each class is imported and asked for its declarations.
    """
    settings = ctx.settings
    entries = [*announced(heat=settings.heat_compat), *_named(settings), *packaged]
    return Registry(entries, ctx.catalog.load_hook, heat_critical=settings.heat_critical)


def general_hooks(ctx: RequestContext) -> Registry | None:
    """Return the hook classes that distributions or the settings name, or None if there are none.

    They are imported at the first use, and again after any process has requested a reload.
    """
    return ctx.app.cache(GENERAL, lambda: _made_anew(ctx), ctx.app.last_reload) if ctx.app.has_hooks() else None


def _made_anew(ctx: RequestContext) -> Registry:
    """Return the registry with all classes imported again, because another process may have requested a reload."""
    ctx.catalog.forget_hooks()
    return make_registry(ctx)


def forget_hooks(ctx: RequestContext) -> None:
    """Drop the cached registries of hook classes. Running executions keep their classes."""
    ctx.app.forget(GENERAL)
    ctx.app.forget(HAS_HOOKS)
    ctx.catalog.forget_hooks()


def _named(settings: Settings) -> Iterator[HookEntry]:
    for row in json.loads(settings.hook_classes or "[]"):
        yield named(settings, row["class"], row["name"], row["folder"], row["options"])


def named(
    settings: Settings, target: str, name: str, folder: str = "", options: Mapping[str, Value] = NO_OPTIONS
) -> HookEntry:
    """Return the entry of a hook class that the settings name and that no distribution announces.

    Without a ``folder`` the class is searched in the folders of plugins and in installed code.
    """
    if not folder:
        module = target.partition(":")[0]
        folder = next((one for one in settings.plugin_folders if search_path.find_spec(module, [one]) is not None), "")
    return HookEntry(FROM_SETTINGS, "", name, target, folder, dict(options))


def hooks_of(ctx: RequestContext, deployment: int) -> Registry:
    """Return the hook classes of a deployment: the general ones, and those of packages enabled for it."""
    own = Registry(packaged(ctx, deployment), ctx.catalog.load_hook)
    registry = general_hooks(ctx)
    return own if registry is None else registry.with_more(own) if own.hooks else registry


def known_hooks(ctx: RequestContext, deployment: int) -> Registry:
    """Return the hook classes of a deployment.

    If ``deployment`` is 0, return the general classes and those of packages enabled for any deployment, each once.
    """
    if deployment != EVERYWHERE or not has_store(ctx.app) or not ctx.store.has_packages:
        return hooks_of(ctx, deployment)
    packages = installed_packages.enabled_anywhere(ctx)
    entries = {entry.key: entry for _, package in packages for entry in _hooks_in(ctx, package)}
    return hooks_of(ctx, EVERYWHERE).with_more(Registry(entries.values(), ctx.catalog.load_hook))


def packaged(ctx: RequestContext, deployment: int) -> Iterator[HookEntry]:
    """Yield the hook classes of packages that are enabled for a deployment."""
    for known in installed_packages.enabled(ctx, deployment) if deployment else ():
        yield from _hooks_in(ctx, known)


def _hooks_in(ctx: RequestContext, known: InstalledPackage) -> Iterator[HookEntry]:
    """Yield the hook classes of an enabled package."""
    settings = secret_settings.sealed(ctx, known.package.form, known.settings) if known.package.code.hooks else {}
    for hook in known.package.code.hooks:
        module, _, name = hook.target.partition(":")
        folder = next((one for one in known.folders if search_path.find_spec(module, [one]) is not None), "")
        yield HookEntry(
            FROM_PACKAGE,
            str(known.row),
            hook.name or name,
            hook.target,
            folder,
            dict(hook.options),
            optional=hook.is_optional,
            settings=settings,
        )


def in_use(ctx: RequestContext, hooks: Sequence[KnownHook], deployment: int) -> tuple[KnownHook, ...]:
    """Return the classes that are enabled for a deployment.

    Raises: PL-H001 for each unusable one, unless the settings allow it.
    """
    if not hooks:
        return ()
    switches = ctx.store.hook_switches.all()
    found = tuple(hook for hook in hooks if switched_off(hook, switches, deployment) is None)
    broken = [hook for hook in found if hook.fault]
    if broken and ctx.settings.on_broken_hooks == "refuse":
        raise ProblemsError(tuple(problem_of(hook) for hook in broken))
    return found


def switched_off(hook: KnownHook, switches: Iterable[Switch], deployment: int) -> Switch | None:
    """Return the switch that disables a class for a deployment, or None if the class is enabled.

    Only a class that is declared as optional can be disabled for one deployment.
    """
    for switch in switches:
        if switch.name in (hook.name, hook.entry.key):
            if switch.deployment == EVERYWHERE:
                return switch
            if switch.deployment == deployment and hook.optional:
                return switch
    return None


def problem_of(hook: KnownHook) -> Problem:
    """Return the problem of an unusable class, with its reason and the remedy."""
    text = f"the hook class '{hook.name}' ({hook.entry.target}) cannot be used: {hook.fault}"
    mend = (
        f"repair the class, then look at it: phaseline hooks list; or work without it: phaseline hooks disable {hook.name}, "
        "or hooks.on_broken = ignore in the settings"
    )
    return Problem(BROKEN, text, mend, Place(path=hook.entry.key))
