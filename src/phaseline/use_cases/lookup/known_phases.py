"""Remember in the store the phases that engines have known (PD8, P94).

So no phase is skipped because its plugin is missing. A phase is forgotten if its package is found, is valid, and no
longer defines the phase; if the phase is disabled; or by a command.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from phaseline.catalog.phases import plugin_set
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.phases.definitions import PhaseDefinition
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.lookup.installed_packages import packages_version, phase_places

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.catalog.phases.plugin_set import LoadedPlugins, PhasePlugins
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.model.rows.phase_tables import PhaseTables
    from phaseline.ports.store_upkeep import StoreUpkeep

TEXTS = ("name", "plugin", "package", "constraint", "description", "version")
LISTS = ("states", "resource_types", "providers", "dependencies")


REFUSED_TOLD = 5


@frozen
class ForgottenPhase:
    """A phase that was forgotten."""

    phase: str


def read(ctx: RequestContext, folders: Iterable[str], tables: PhaseTables | None = None) -> LoadedPlugins:
    """Read the plugins of folders and packages without running them, and add known phases whose plugin is missing.

    ``tables``: what the store has of phases, if the caller has read it.
    """
    places = phase_places(ctx, None if tables is None else tables.packages)
    plugins = plugin_set.PhasePlugins((*folders, *places))
    plugins.remember(remembered(ctx, tables))
    return plugins.load()


def phase_plugins(ctx: RequestContext) -> PhasePlugins:
    """Return the phase plugins in the settings' folders and in packages. Their ``load`` imports their code."""
    return ctx.app.cache("phase plugins", lambda: _unread(ctx))


def _unread(ctx: RequestContext) -> PhasePlugins:
    return ctx.catalog.phases(lambda: (*ctx.settings.plugin_folders, *phase_places(ctx)))


def found_phases(ctx: RequestContext) -> LoadedPlugins:
    """Return the phases and types that plugins define now, and the problems of plugins; cached until packages change.

    This is not the object that the engine of this process uses, which changes only by a reload.
    """
    return ctx.app.cache("found phases", _unread(ctx).load, lambda: packages_version(ctx))


def load(ctx: RequestContext) -> LoadedPlugins:
    """Load the plugins of the settings with their code, for the engine, and store their phases as known."""
    plugins = phase_plugins(ctx)
    plugins.remember(remembered(ctx))
    loaded = plugins.load()
    _remember(ctx.app.upkeep, ctx.store.known_phases(), loaded)
    return loaded


def remembered(ctx: RequestContext, tables: PhaseTables | None = None) -> list[PhaseDefinition]:
    """Return the phases that the last engine knew."""
    return [_from_row(row) for row in _rows(ctx, tables).values()]


def in_force(ctx: RequestContext, tables: PhaseTables | None = None) -> set[str]:
    """Return the names, in lower case, of the phases that the running engine can call.

    Changed files have no influence before a reload. Return an empty set if no engine runs.
    """
    rows = _rows(ctx, tables)
    return {key for key, row in rows.items() if row["is_in_force"]} if rows and ctx.store.owner() else set()


def _rows(ctx: RequestContext, tables: PhaseTables | None) -> dict[str, Mapping[str, Any]]:
    """Return {name: stored phase}, or {} if there is no store."""
    try:
        known = ctx.store.known_phases() if tables is None else tables.known
    except ProblemsError as error:
        if error.problems[0].code != "PL-S007":
            raise
        return {}
    return {key: row for key, text in known.items() if (row := _read(text)) is not None}


def _read(text: str) -> Mapping[str, Any] | None:
    """Return a stored phase, or None for an unreadable row, which is treated as if the phase was never known."""
    try:
        row = json.loads(text)
        _from_row(row)
    except (ValueError, LookupError, TypeError):
        return None
    return {"is_in_force": False, **row}


def _remember(store: StoreUpkeep, before: Mapping[str, str], loaded: LoadedPlugins) -> None:
    """Store the known phases: usable ones, ones whose plugin is missing, and refused ones that were known before.

    Each is stored with the path of its package. ``before``: the phases that are stored now.
    """
    places = {
        plugin.phase.key: verdict.package.place
        for plugin, verdict in loaded.plugins
        if plugin.phase is not None and not plugin.is_disabled
    }
    lost = {name.lower() for name in loaded.gone}
    rows: dict[str, str] = {}
    for phase in loaded.registry.phases:
        row: Mapping[str, object] | None = None
        if phase.is_valid or phase.key in lost:
            row = _row(phase, places.get(phase.key, phase.package))
        elif phase.key in before:
            row = _read(before[phase.key])
        if row is not None:
            rows[phase.key] = json.dumps({**row, "is_in_force": phase.is_valid}, sort_keys=True)
    if rows != before:
        store.know_phases(rows)


def _row(phase: PhaseDefinition, place: str) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(phase, name) for name in (*TEXTS, *LISTS)}
    return {**row, "package": place, "constraint_names": sorted(phase.constraint_names)}


def _from_row(row: Mapping[str, Any]) -> PhaseDefinition:
    lists: dict[str, Any] = {name: tuple(row[name]) for name in LISTS}
    texts: dict[str, Any] = {name: row[name] for name in TEXTS}
    return PhaseDefinition(**texts, **lists, constraint_names=frozenset(row["constraint_names"]))


def refused_sentences(loaded: LoadedPlugins) -> list[str]:
    """Return sentences about refused plugins.

    If a phase of such a plugin can be read, resources wait for it. They skip its other phases.
    """
    found = [(verdict.package.place, problem) for verdict in loaded.verdicts for problem in verdict.errors[:1]]
    told = [
        f"nothing of {where} is called, for it is refused: {problem.code} {problem.message}; see: phaseline plugins check"
        for where, problem in found[:REFUSED_TOLD]
    ]
    left = len(found) - REFUSED_TOLD
    return [*told, *([f"{left:,} more plugins are refused"] if left > 0 else [])]


def forget_phase(ctx: RequestContext, name: str) -> ForgottenPhase:
    """Forget a phase whose plugin is missing, so that resources continue without it. Raises: PL-D053, PL-D056."""
    loaded = read(ctx, ctx.settings.plugin_folders)
    phase = loaded.registry.get(name)
    if phase is None:
        raise problem_error("PL-D053", f"there is no phase '{name}'", "list the phases: phaseline phases list")
    if phase.name not in loaded.gone:
        message = f"the phase '{phase.name}' is defined by the plugin '{phase.plugin}' ({phase.where})"
        raise problem_error(
            "PL-D056",
            message,
            "remove its plugin, or write Disabled = true in its definition, then reload: phaseline plugins reload",
        )
    known = {key: text for key, text in ctx.store.known_phases().items() if key != phase.key}
    ctx.app.upkeep.know_phases(known)
    if ctx.store.owner() is not None:
        ctx.store.ask(RequestKind.RELOAD, 0, {}, ctx.actor)
    return ForgottenPhase(phase.name)


def known_phases(ctx: RequestContext, tables: PhaseTables | None = None) -> PhaseRegistry:
    """Return the types and phases that the plugins of the settings define, without running the plugins.

    ``tables``: what the store has of phases, if the caller has read it.
    """
    return read(ctx, ctx.settings.plugin_folders, tables).registry
