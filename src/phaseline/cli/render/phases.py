"""Phases and plugins as text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from phaseline.cli.render.problems import problem_text, problems_text
from phaseline.cli.render.table import clean, colored, counted, facts, moment, number, section, table, took

if TYPE_CHECKING:
    from phaseline.cli.render.table import Columns
    from phaseline.embedded.reload_plugins import Reloaded
    from phaseline.model.phases.definitions import PhasePolicy
    from phaseline.use_cases.commands.resources.pause_phase import Paused
    from phaseline.use_cases.lookup.known_phases import ForgottenPhase
    from phaseline.use_cases.queries.packages.listing import PackageView
    from phaseline.use_cases.queries.phases import PhaseView, PluginView
    from phaseline.use_cases.queries.resources.engine_metrics import EngineNow
    from phaseline.use_cases.queries.resources.phase_activity import PhaseNow, RunNow
    from phaseline.use_cases.tools.plugin_checks import CheckedPlugins

RUNS_SHOWN = 3
NO_PLUGINS = (
    "No plugins. They are searched in the folders of --plugins and of the setting plugins.path,\n"
    "and in the installed packages (entry points of the groups phaseline.phases,\n"
    "phaseline.operations and phaseline.packages)."
)


def plugin_list(views: Sequence[PluginView]) -> str:
    """Return a table of plugins; if there are none, the folders that were searched."""
    if not views:
        return NO_PLUGINS
    columns: Columns[PluginView] = {
        "name": lambda view: view.name,
        "kind": lambda view: view.kind,
        "status": lambda view: view.status,
        "phase": lambda view: view.phase or "-",
        "package": lambda view: view.package or "-",
        "version": lambda view: view.version or "-",
    }
    if any(view.kind == "package" for view in views):
        columns = {**columns, "enabled in": lambda view: view.enabled_in, "order": lambda view: view.stages}
    return table(columns, views)


def plugin_text(view: PluginView) -> str:
    """Return a text with everything about one plugin."""
    lines = [
        *facts(
            10,
            ("kind", view.kind),
            ("phase", view.phase),
            ("function", view.function and f"{view.function}{_form(view)}"),
            ("package", view.package),
            ("version", view.version),
            ("functions", view.operations),
            ("defined", view.where),
        ),
        *(f"  {title.replace('_', ' ')}: {', '.join(names)}" for title, names in view.defines.items()),
        *section("attributes of its own", _attributes(view.attributes)),
    ]
    told = [problem_text(problem) for problem in view.problems]
    return "\n\n".join(["\n".join([f"{clean(view.name)}: {colored(view.status)}", *map(clean, lines)]), *told])


NO_SUCH_PHASE = "No phase has that state and resource type. List all phases: phaseline phases list"


def phase_list(views: Sequence[PhaseView], *, is_part: bool = False) -> str:
    """Return a table of phases; if there are none, the folders that were searched for plugins.

    ``is_part``: the user requested only a selection of the phases.
    """
    if not views:
        return NO_SUCH_PHASE if is_part else NO_PLUGINS
    columns: Columns[PhaseView] = {
        "phase": lambda view: view.name,
        "states": lambda view: ", ".join(view.states),
        "resource types": lambda view: ", ".join(view.resource_types),
        "after": lambda view: view.dependencies,
        "plugin": lambda view: view.plugin,
    }
    live: Columns[PhaseView] = {
        "last run": lambda view: view.now and moment(view.now.last_run_at),
        "next run": lambda view: view.now and moment(view.now.next_run_at),
        "now": lambda view: view.now and _brief_now(view.now),
    }
    is_live = any(view.now is not None for view in views)
    broken = [f"{view.name} cannot be used: {reason}" for view in views for reason in view.obstacles]
    broken += [f"{view.name}: {view.note}" for view in views if view.note]
    text = table({**columns, **live} if is_live else columns, views)
    return "\n".join([text, *([""] if broken else []), *map(clean, broken)])


def phase_text(view: PhaseView) -> str:
    """Return a text with everything about one phase."""
    lines = [
        f"  {view.description}",
        f"  states          {', '.join(view.states)}",
        f"  resource types  {', '.join(view.resource_types)}",
        *facts(16, ("providers", view.providers), ("constraint", view.constraint)),
        *section("after", (f"{state}: {', '.join(names)}" for state, names in view.needs.items() if names)),
        *(_now(view.now) if view.now is not None else []),
        *(_engine(view.engine) if view.engine is not None else []),
        *section("how it is called", _policy(view.policy)),
        *section("attributes", _attributes(view.attributes)),
        f"  plugin          {view.plugin}{f' {view.version}' if view.version else ''}",
        *facts(16, ("function", view.function and f"{view.function}{_form(view)}")),
        f"  defined         {view.where}",
        *(f"  cannot be used: {reason}" for reason in view.obstacles),
        *facts(16, ("note", view.note)),
    ]
    status = "invalid" if view.is_invalid else "waits for others" if view.obstacles else "good"
    return "\n".join([f"{clean(view.name)}: {colored(status)}", *map(clean, lines)])


def _form(view: PhaseView | PluginView) -> str:
    return f" ({view.form}{', async' if view.is_async else ''})" if view.form else ""


def _brief_now(now: PhaseNow) -> str:
    """Return a short text: the activity of a phase, the number of resources in it, and whether it is paused."""
    counts = ", ".join(f"{count:,} {word.lower()}" for word, count in now.counts.items())
    marks = f"{', overdue' if now.is_overdue else ''}{', paused' if now.paused else ''}"
    return f"{now.activity}{marks}" + (f": {counts}" if counts else "")


def _now(now: PhaseNow) -> list[str]:
    lines = facts(
        16,
        ("now", _brief_now(now)),
        ("paused", now.paused and f"{moment(now.paused_at)} by {now.paused}"),
        ("next run", (now.next_run_at and moment(now.next_run_at)) or None),
    )
    if now.runs:
        last = f"{moment(now.last_run_at)}, {number(now.last_run_size, 'resource')} in {took(now.last_run_ms)}"
        mean = f"{now.mean_run_size:,} resources and {took(now.mean_run_ms)} on average"
        lines += facts(16, ("last run", last), ("runs", f"{now.runs:,} in {took(now.run_ms)}; {mean}"))
    lines += [f"    {_run(run)}" for run in now.latest[-RUNS_SHOWN:]]
    if now.called:
        lines += facts(16, ("waited", f"{took(now.mean_wait_ms)} on average for a call, {now.called:,} resources"))
    if now.failures or now.retries:
        lines += facts(16, ("failures", f"{now.failures:,}, retries {now.retries:,} (of the last hundred runs)"))
    return lines


def _run(run: RunNow) -> str:
    """Return a text about one run of a phase: its time, number of resources, duration and outcomes."""
    ends = {"completed": run.completed, "again": run.again, "failed": run.failed}
    lasted = "running" if run.took_ms is None else took(run.took_ms)
    counts = counted({word: count for word, count in ends.items() if count})
    return f"run {run.run}  {moment(run.started_at)}  {number(run.size, 'resource')}  {lasted}  {counts}"


def _engine(engine: EngineNow) -> list[str]:
    """Return lines about the process that called phases last, and its load."""
    timers, told = engine.timers, engine.listeners
    busy = ", ".join(f"{name} {pool.busy} of {pool.size}" for name, pool in engine.pools.items())
    lag = f"woken {took(timers.mean_lag_ms)} late on average, {took(timers.longest_lag_ms)} at most"
    listeners = f"{told.told:,} called, {told.errors:,} raised, {told.waiting:,} waiting, {told.dropped:,} dropped"
    return [
        f"  engine          {f'busy: {busy}' if engine.is_running else f'ended, measured {moment(engine.measured_at)}'}",
        *([f"    timers        {lag}"] if timers.wakings else []),
        *([f"    listeners     {listeners}"] if told.told or told.waiting or told.dropped else []),
    ]


def paused_text(found: Paused) -> str:
    """Return a text about whether the phase is paused now, with the user that decided this and the reason."""
    who = f"{found.actor}: {found.reason}"
    if found.is_paused:
        return clean(f"{found.phase} is paused{'' if found.is_changed else ' already'} ({who})")
    return clean(f"{found.phase} is called again" if found.is_changed else f"{found.phase} was not paused")


def forgotten_text(found: ForgottenPhase) -> str:
    """Return a line that the phase was removed from the list of known phases."""
    return clean(f"{found.phase} is forgotten: resources leave their states without it")


def checked_text(found: CheckedPlugins) -> str:
    """Return every problem, then the number of checked files. If no file was found, return the folders searched."""
    if found.is_empty and found.is_good:
        places = ", ".join(map(clean, found.looked_at)) or "no folder (see --plugins and the setting plugins.path)"
        return (
            f"No plugin or package was found. Plugins with phases and listeners were searched in {places},\n"
            "and among the installed packages (entry points of the group phaseline.phases)."
        )
    counts = [number(len(found.packages), "package")] if found.packages else []
    if found.plugins or not found.packages:
        counts += [number(found.plugins, "plugin"), number(found.phases, "phase")]
    told = ", ".join(counts)
    lines = [problems_text(found.problems)] if found.problems else []
    return "\n\n".join([*lines, f"{told}: {'good' if found.is_good else 'refused'}"])


def reloaded_text(found: Reloaded) -> str:
    """Return every problem, then the plugins that are used from now on, as text."""
    lines = [problems_text(found.problems)] if found.problems else []
    told = [f"{clean(name)}: the previous version stays in use" for name in found.kept]
    told += [f"{clean(name)}: its plugin was removed; resources that need it wait" for name in found.gone]
    usable = f"{number(found.phases, 'phase')} can be used"
    who = f"The engine (process {found.pid}) has reloaded its plugins" if found.pid else "No engine runs; checked only"
    return "\n\n".join([*lines, "\n".join([*told, f"{who}: {usable}"])])


def _policy(policy: PhasePolicy) -> list[str]:
    """Return lines with the options of a phase that differ from the defaults."""
    return [
        f"{one.name} = {getattr(policy, one.name)}"
        for one in fields(policy)
        if getattr(policy, one.name) != one.default
    ]


def _attributes(attributes: Mapping[str, object]) -> list[str]:
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in attributes.items()]


def package_or_plugin_text(found: PackageView | PluginView) -> str:
    """Return a text about a package or another plugin."""
    if hasattr(found, "kind"):
        return plugin_text(found)  # type: ignore[arg-type]  # of the two only plugins have a kind
    from phaseline.cli.render.authoring.packages import package_text

    return package_text(found)
