"""Reload phase plugins and hook classes while an engine runs.

Running calls are not interrupted. If a plugin is refused, its previous version stays in use.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.catalog.phases.plugin_set import LoadedPlugins
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.rows import Owner
    from phaseline.use_cases.queries.hooks import HookView

LOOK_S = 0.05
PATIENCE_S = 60.0
"""How long, in seconds, to wait for the engine's answer; importing a plugin may take long."""
MOST_TOLD = 200


@frozen
class Reloaded:
    """The result of reloading plugins. ``pid``: of the engine.

    ``pid`` 0: no engine runs; the plugins were only checked, and the next engine reads them. ``phases``: number of
    usable phases. ``kept``: packages or plugins whose previous version stays in use. ``gone``: phases whose plugin is
    missing; resources that need them wait.
    """

    pid: int
    phases: int
    kept: Sequence[str]
    gone: Sequence[str]
    problems: Sequence[Problem]

    @property
    def is_good(self) -> bool:
        """True if no plugin was refused."""
        return not any(problem.severity == "error" for problem in self.problems)


@frozen
class HooksReloaded:
    """The result of reloading hook classes. ``pid`` 0: no engine runs; the next engine reads them when it starts."""

    pid: int
    hooks: Sequence[HookView]
    warnings: Sequence[str] = ()

    @property
    def is_good(self) -> bool:
        """True if all hook classes can be used."""
        return all(hook.state != "broken" for hook in self.hooks)


def reload_plugins(ctx: RequestContext) -> Reloaded:
    """Request that the engine reloads its phase plugins, and return its answer.

    If no engine runs, only check the plugins. Raises: PL-D055 if the engine does not answer within a minute.
    """
    from phaseline.model.rows.rows import RequestKind
    from phaseline.use_cases.lookup.known_phases import read

    owner = _engine(ctx)
    if owner is None:
        return _read_answer(_answer(read(ctx, ctx.settings.plugin_folders)), 0)
    request = ctx.store.ask(RequestKind.RELOAD, 0, {}, ctx.actor)
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        answer = ctx.store.answer_of(request)
        if answer is not None:
            return _read_answer(answer, owner.pid)
        if ctx.store.owner() is None:
            break
        time.sleep(LOOK_S)
    mend = "see what the engine does: phaseline engine status; a new engine reads all plugins when it starts"
    raise problem_error("PL-D055", f"the engine (process {owner.pid}) did not reload the plugins", mend)


def reload_hooks(ctx: RequestContext) -> HooksReloaded:
    """Reload hook classes for later actions, in the running engine and in all processes that use this store.

    The engine reloads phase plugins as well. Without an engine, a request is stored together with its answer, so that
    other processes notice the reload. Raises: PL-D055 if the engine does not answer.
    """
    from phaseline.app.store_location import has_store
    from phaseline.model.rows.rows import RequestKind
    from phaseline.use_cases.loading.hook_registry import forget_hooks
    from phaseline.use_cases.queries.hooks import list_hooks

    pid = reload_plugins(ctx).pid
    if not pid and has_store(ctx.app):
        ctx.store.ask(RequestKind.RELOAD, 0, {}, ctx.actor, answer={"done": True})
    forget_hooks(ctx)
    found = list_hooks(ctx)
    return HooksReloaded(pid, found.hooks, found.warnings)


def _engine(ctx: RequestContext) -> Owner | None:
    """Return the owner of the store, or None if there is no owner or no store."""
    try:
        return ctx.store.owner()
    except ProblemsError as error:
        if error.problems[0].code != "PL-S007":
            raise
        return None


def reloaded(ctx: RequestContext) -> Mapping[str, Value]:
    """Reload the phase plugins, import their code, and return the engine's answer to the request.

    Hook classes are imported only when they are called.
    """
    from phaseline.use_cases.loading.hook_registry import forget_hooks
    from phaseline.use_cases.lookup.known_phases import load

    forget_hooks(ctx)
    return _answer(load(ctx))


def _answer(loaded: LoadedPlugins) -> dict[str, Value]:
    return {
        "done": True,
        "phases": sum(phase.is_valid for phase in loaded.registry.phases),
        "kept": [verdict.package.name or verdict.package.place for verdict in loaded.verdicts if verdict.is_kept],
        "gone": list(loaded.gone),
        "problems": [_row(problem) for problem in loaded.problems[:MOST_TOLD]],
    }


def _row(problem: Problem) -> dict[str, Value]:
    place = problem.place
    return {
        "code": problem.code,
        "message": problem.message,
        "mend": problem.mend,
        "severity": problem.severity,
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "text": place.text,
    }


def _read_answer(answer: Mapping[str, Any], pid: int) -> Reloaded:
    """Return the engine's answer as a ``Reloaded``."""
    problems = [
        Problem(
            row["code"],
            row["message"],
            row["mend"],
            Place(row["file"], row["line"], row["column"], text=row["text"]),
            row["severity"],
        )
        for row in answer.get("problems", ())
    ]
    return Reloaded(pid, answer.get("phases", 0), answer.get("kept", ()), answer.get("gone", ()), problems)
