"""Pause a phase until a user lifts the pause. The pause is stored with the actor and the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import problem_error
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.resources.requests import answered, answered_again
from phaseline.use_cases.lookup.known_phases import known_phases

if TYPE_CHECKING:
    from collections.abc import Mapping

    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.use_cases.commands.submission import Submissions
    from phaseline.use_cases.lookup.running_engine import RunningEngine

BY_USER = "paused by a user"


@frozen
class Paused:
    """The result of ``pause`` and ``unpause``.

    ``is_changed`` False: the phase was already paused or, for ``unpause``, not paused. ``is_running``: an engine runs,
    and has received the change.
    """

    phase: str
    is_paused: bool
    is_changed: bool
    actor: str
    reason: str
    is_running: bool


def _paused_again(ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> Submissions[Paused]:
    phase, is_new = str(found.answer["phase"]), bool(found.answer["is_changed"])
    return answered_again(ctx, found, lambda engine: _paused(ctx, phase, engine, is_new=is_new))


@once("pause", _paused_again)
def pause(
    ctx: RequestContext, name: str, *, reason: str = BY_USER, given: NewOrder | None = None
) -> Submissions[Paused]:
    """Pause a phase: resources that reach it wait, running calls continue. Raises: PL-D053."""
    phase = _name(ctx, name)
    why = reason.strip() or BY_USER
    with ctx.store.as_one(given) as answer:
        is_new = ctx.store.pause_phase(phase, ctx.actor, why)
        asked = _asked(ctx, phase, why, is_paused=True) if is_new else []
        answer.update({"phase": phase, "is_changed": is_new})
    return answered(ctx, asked, lambda engine: _paused(ctx, phase, engine, is_new=is_new))


@once("unpause", _paused_again)
def unpause(ctx: RequestContext, name: str, *, given: NewOrder | None = None) -> Submissions[Paused]:
    """Lift a pause, whichever user set it. Raises: PL-D053 for a phase that is neither known nor paused."""
    phase = _name(ctx, name)
    with ctx.store.as_one(given) as answer:
        was_paused = ctx.store.unpause_phase(phase)
        asked = _asked(ctx, phase, "", is_paused=False) if was_paused else []
        answer.update({"phase": phase, "is_changed": was_paused})
    return answered(ctx, asked, lambda engine: _paused(ctx, phase, engine, is_new=was_paused))


def _asked(ctx: RequestContext, phase: str, reason: str, *, is_paused: bool) -> list[int]:
    """Store the request that informs the engine of the change; return its number in a list."""
    body: dict[str, Value] = {"phase": phase, "is_paused": is_paused, "reason": reason}
    return [ctx.store.ask(RequestKind.PAUSE, 0, body, ctx.actor)]


def _paused(ctx: RequestContext, phase: str, engine: RunningEngine, *, is_new: bool) -> Paused:
    row = ctx.store.paused_phases().get(phase.lower())
    actor, reason = (row.actor, row.reason) if row is not None else (ctx.actor.name, "")
    return Paused(phase, row is not None, is_new, actor, reason, engine.is_there)


def _name(ctx: RequestContext, name: str) -> str:
    """Return the name of a phase as spelled in its definition, or in its stored pause."""
    registry = known_phases(ctx)
    phase = registry.get(name)
    if phase is not None:
        return phase.name
    row = ctx.store.paused_phases().get(name.lower())
    if row is not None:
        return row.name
    hint = did_you_mean(name, [each.name for each in registry.phases])
    mend = f"{hint} " if hint else ""
    raise problem_error("PL-D053", f"there is no phase '{name}'", f"{mend}list the phases: phaseline phases list")
