"""List and show hook classes, and disable and enable them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.hook_switches import EVERYWHERE
from phaseline.model.rows.row_queries import DeploymentQuery
from phaseline.use_cases.loading.hook_registry import known_hooks, switched_off
from phaseline.use_cases.lookup.find import find_deployment

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.hooks.declaration import KnownHook
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.hook_switches import Switch


@frozen
class HookView:
    """A hook class as users see it.

    ``fault``: why it cannot be used. ``off``: the actor that disabled it, and the reason.
    ``deployments``: names of the deployments for which it is disabled individually. ``actions``: the only actions before
    and after which it is called; empty: all.
    """

    name: str
    state: Literal["ready", "off", "broken"]
    ordinal: float
    implementation: str
    group: str
    distribution: str
    methods: Sequence[str]
    actions: Sequence[str]
    critical: bool
    timeout_s: float
    nested: bool
    per_execution: bool
    optional: bool
    folder: str
    options: Mapping[str, Value]
    fault: str = ""
    off: str = ""
    deployments: Sequence[str] = ()


@frozen
class HookList:
    """All hook classes in the order of their calls, broken ones last. ``warnings``: remarks about oddities."""

    hooks: Sequence[HookView]
    warnings: Sequence[str] = ()


@frozen
class Switched:
    """The result of enabling or disabling a hook class for actions that begin later.

    ``deployment``: the deployment for which this was done; empty: for all. ``was_so``: the class was enabled or disabled
    as requested before. ``reason``: the new reason; empty if the stored reason is kept. ``former``: the actor that had
    disabled it, with the reason.
    """

    name: str
    deployment: str
    is_on: bool
    was_so: bool
    reason: str = ""
    former: str = ""


def list_hooks(ctx: RequestContext, deployment: str | None = None) -> HookList:
    """Return all hook classes, including those of packages that are enabled in any deployment.

    With a deployment, return the hook classes known to that deployment, and whether they are enabled for it. Raises:
    PL-C010 for an unknown deployment.
    """
    number = EVERYWHERE if deployment is None else find_deployment(ctx.store, deployment).number
    registry = known_hooks(ctx, number)
    switches = _switches(ctx)
    names = _names(ctx, switches)
    return HookList([_view(names, hook, switches, number) for hook in registry.hooks], registry.warnings)


def show_hooks(ctx: RequestContext, name: str, deployment: str | None = None) -> Sequence[HookView]:
    """Return the hook classes with this name. With a deployment, the views show whether they are enabled for it.

    Raises: PL-H002 if there is no such hook class, PL-C010.
    """
    switches = _switches(ctx)
    row = None if deployment is None else find_deployment(ctx.store, deployment)
    number = EVERYWHERE if row is None else row.number
    names = _names(ctx, switches)
    return [_view(names, hook, switches, number) for hook in find(ctx, name, number)]


def disable_hook(ctx: RequestContext, name: str, *, deployment: str | None = None, reason: str = "") -> Switched:
    """Disable a hook class from the next action on. For a single deployment this is allowed only if it is optional.

    If the hook class is already disabled, a new reason and its actor replace the stored ones. Raises: PL-H002 (no such
    class), PL-H003 (not optional), PL-C010 (no such deployment).
    """
    row = None if deployment is None else find_deployment(ctx.store, deployment, to_change=True)
    hooks = find(ctx, name, EVERYWHERE if row is None else row.number)
    fixed = [hook for hook in hooks if not hook.optional]
    if row is not None and fixed:
        text = f"the hook class '{name}' is not optional: no deployment can do without it"
        raise problem_error("PL-H003", text, f"switch it off for all, if you may: phaseline hooks disable {name}")
    number = EVERYWHERE if row is None else row.number
    former = ctx.store.hook_switches.put_off(name, number, reason, ctx.actor)
    whose = "" if row is None else row.name
    if former is None:
        return Switched(name, whose, is_on=False, was_so=False, reason=reason)
    return Switched(name, whose, is_on=False, was_so=True, reason=reason, former=_who(former))


def enable_hook(ctx: RequestContext, name: str, *, deployment: str | None = None) -> Switched:
    """Enable a disabled hook class. Raises: PL-H002, PL-C010."""
    row = None if deployment is None else find_deployment(ctx.store, deployment, to_change=True)
    is_changed = ctx.store.hook_switches.put_on(name, EVERYWHERE if row is None else row.number)
    if not is_changed:
        find(ctx, name, EVERYWHERE if row is None else row.number)
    return Switched(name, "" if row is None else row.name, is_on=True, was_so=not is_changed)


def find(ctx: RequestContext, name: str, deployment: int = EVERYWHERE) -> Sequence[KnownHook]:
    """Return the hook classes with this name, or the single one with this key.

    With a deployment, search its hook classes; otherwise search all, with those of packages enabled in any deployment.
    Raises: PL-H002.
    """
    registry = known_hooks(ctx, deployment)
    found = registry.find(name)
    if not found:
        hint = did_you_mean(name, [hook.name for hook in registry.hooks])
        mend = f"{hint} see: phaseline hooks list".strip()
        raise problem_error("PL-H002", f"there is no hook class '{name}'", mend)
    return found


def _switches(ctx: RequestContext) -> Sequence[Switch]:
    """Return all stored switches of hook classes; none if there is no store."""
    try:
        return ctx.store.hook_switches.all()
    except ProblemsError as error:
        if error.problems[0].code != "PL-S007":
            raise
        return ()


def _names(ctx: RequestContext, switches: Sequence[Switch]) -> Mapping[int, str]:
    """Return {number: name} of the deployments with switches of their own that are not deleted."""
    numbers = {one.deployment for one in switches if one.deployment}
    rows = ctx.store.listings.deployments(DeploymentQuery(numbers=numbers)) if numbers else ()
    return {row.number: row.name for row in rows}


def _view(names: Mapping[int, str], hook: KnownHook, switches: Sequence[Switch], deployment: int) -> HookView:
    switch = switched_off(hook, switches, deployment)
    entry = hook.entry
    own = [one.deployment for one in switches if one.name in (hook.name, entry.key) and one.deployment]
    return HookView(
        hook.name,
        "off" if switch is not None else "broken" if hook.fault else "ready",
        hook.ordinal,
        entry.target,
        entry.group,
        entry.distribution,
        hook.methods,
        hook.actions,
        hook.critical,
        hook.timeout_s,
        hook.nested,
        hook.per_execution,
        hook.optional,
        entry.folder,
        entry.options,
        hook.fault,
        "" if switch is None else _who(switch),
        sorted(names[number] for number in own if number in names),
    )


def _who(switch: Switch) -> str:
    """Return the actor that disabled the hook class, and the reason."""
    return f"{switch.actor}: {switch.reason}" if switch.reason else switch.actor
