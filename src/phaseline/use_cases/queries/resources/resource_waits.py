"""Explain why a resource is in its state: for each phase of the state, whether it applies and what it waits for."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.execution.breakpoints import PREFIX as BREAKPOINT
from phaseline.model.execution.breakpoints import clearing
from phaseline.records import syntax_tree
from phaseline.records.expression import Expression
from phaseline.records.unparsing import value_text
from phaseline.records.values import ErrorValue
from phaseline.use_cases.lookup.known_phases import known_phases
from phaseline.use_cases.lookup.running_engine import engine_now
from phaseline.use_cases.queries.resources.phase_entries import NOT_LOADED, KnownPhases, entries_of
from phaseline.use_cases.queries.resources.resource_records import record_of
from phaseline.use_cases.queries.resources.selection import choose_one
from phaseline.views.phase_entry import PhaseEntryView

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.phases.definitions import PhaseDefinition
    from phaseline.model.phases.registry import PhaseRegistry
    from phaseline.records.record import Record
    from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot

NOT_FOR_IT = "does not apply"
STILL_CALLED = ("Running", "Canceling")
"""Statuses that are still shown after the resource got another target: their calls have not returned."""
ORDER = ("Failed", "Canceling", "Running", "Sleeping", "Waiting", "Blocked", "Unsure", "Completed", "Canceled")
"""Order in which phases are shown: statuses that hold the resource come first, blockers before what they block."""


SHOWN = 5
"""Number of attributes of a constraint that are shown with their values."""


@frozen
class PhaseReason:
    """The status of one phase of the resource and the reason for it.

    ``status``: as in its PhaseMap, or ``does not apply``. ``until_at``: time of the next call. ``mend``: the command
    that would let the phase continue.
    """

    phase: str
    status: str
    text: str
    until_at: int = 0
    mend: str = ""


@frozen
class Why:
    """The state of a resource and what holds it there. ``note``: what to do if it needs a target or an engine."""

    name: str
    cluster: str
    state: str
    target: str
    text: str
    phases: Sequence[PhaseReason]
    note: str


def why(ctx: RequestContext, name: str, *, cluster: str | None = None) -> Why:
    """Explain the state of a resource by its present attributes and the present definitions of phases.

    Raises: PL-C031, PL-C032.
    """
    registry = known_phases(ctx)
    snapshot, number = choose_one(ctx.store, name, cluster)
    document = snapshot.document(number)
    known = KnownPhases(registry, ctx.store.paused_phases())
    stay = snapshot.stay(number)
    state, target = snapshot.state(number), snapshot.target(number)
    is_past = stay is not None and snapshot.is_superseded(stay, number)
    entries = [
        entry
        for entry in entries_of(snapshot, number, document, known)
        if stay is not None and entry.phase in stay.phases and (not is_past or entry.status in STILL_CALLED)
    ]
    is_failed = any(entry.status == "Failed" for entry in entries)
    record = record_of(snapshot, number, document, is_failed=is_failed, entries=None)
    reasons = [
        _entry(entry, name, snapshot.row.name, _dropped(entry, registry))
        for entry in sorted(entries, key=lambda entry: ORDER.index(entry.status))
    ]
    told = {entry.phase.lower() for entry in entries}
    now = ctx.clock.now() / 1000
    handled = [
        phase
        for phase in registry.phases
        if state in phase.states and not is_past and phase.key not in told
        if not _is_last(registry, snapshot, number, state)
    ]
    reasons += [_absent(phase, registry, snapshot.type(number), record, now) for phase in handled]
    return Why(
        name=snapshot.name(number),
        cluster=snapshot.row.name,
        state=state,
        target=target,
        text=_where(snapshot, number, state, target),
        phases=reasons,
        note=_note(ctx, snapshot, number),
    )


def _is_last(registry: PhaseRegistry, snapshot: ClusterSnapshot, number: int, state: str) -> bool:
    return registry.types.is_last(snapshot.type(number), state)


def _where(snapshot: ClusterSnapshot, number: int, state: str, target: str) -> str:
    standing = snapshot.standing(number)
    if standing == "arrived":
        return f"it has reached {target}"
    if not target:
        return "it was never given a target"
    at = f"in {state}" if state else "in no state yet"
    words = {"moving": "on its way to", "failed": "failed on its way to", "still": "left on its way to"}
    return f"{at}, {words[standing]} {target}"


def _note(ctx: RequestContext, snapshot: ClusterSnapshot, number: int) -> str:
    standing = snapshot.standing(number)
    name = snapshot.name(number)
    if standing == "still":
        row = snapshot.by_number.get(int(snapshot.newest[number]))
        ended = f"{row.id} was {row.status.value}: {row.reason}. " if row is not None and row.reason else ""
        return f"{ended}Give it a target: phaseline resources target STATE {quote(name)}"
    if standing in {"arrived", "failed"}:
        return ""
    if engine_now(ctx).is_there:
        return ""
    return "Start an engine, for none runs: phaseline engine run --until-idle"


def _dropped(entry: PhaseEntryView, registry: PhaseRegistry) -> list[str]:
    """Return the phases that the entry waits for although the present definition no longer names them.

    A definition may have been changed since the entry was made.
    """
    phase = registry.get(entry.phase)
    if phase is None or not entry.waiting_for:
        return []
    needed: set[str] = set()
    asked = [phase]
    while asked:
        one = asked.pop()
        for need in registry.needs(one, entry.state):
            known = registry.get(need)
            if known is not None and need.lower() not in needed:
                asked.append(known)
            needed.add(need.lower())
    names = [waits.partition(" (")[0] for waits in entry.waiting_for]
    return [name for name in names if name.lower() not in needed]


def _entry(entry: PhaseEntryView, name: str, cluster: str, dropped: Sequence[str]) -> PhaseReason:
    named = f"{quote(name)} --phase {quote(entry.phase)}"
    mend, text = "", entry.message or entry.note
    if entry.status == "Failed":
        mend = f"phaseline resources retry {named}"
    elif entry.status == "Sleeping" and entry.phase.startswith(BREAKPOINT):
        mend = clearing(entry.phase.removeprefix(BREAKPOINT), cluster, name)
    elif entry.status == "Sleeping":
        mend = f"phaseline resources wake {named}"
    elif entry.status == "Blocked":
        waits = f"waits for {', '.join(entry.waiting_for)}" if entry.waiting_for else ""
        text = ": ".join(part for part in (waits, entry.note) if part) or text
        if dropped and not entry.note:
            text += f"; its definition no longer names {', '.join(dropped)}"
            phases = " ".join(f"--phase {quote(phase)}" for phase in dropped)
            return PhaseReason(
                entry.phase, entry.status, text, 0, f"phaseline resources complete {quote(name)} {phases} --reason TEXT"
            )
        mend = _mend_of_obstacle(entry, named) if entry.note else ""
    elif entry.status == "Waiting":
        text = entry.note or "it is called as soon as a call can begin"
        mend = f"phaseline phases unpause {quote(entry.phase)}" if entry.note.startswith("paused") else ""
    elif entry.status == "Running":
        text = f"run {entry.run}" + (f": {entry.message}" if entry.message else "")
    elif entry.status == "Canceling":
        text = f"run {entry.run} is awaited before it goes its new way"
    return PhaseReason(entry.phase, entry.status, text, entry.next_run_at, mend)


def _mend_of_obstacle(entry: PhaseEntryView, named: str) -> str:
    if entry.note.startswith("paused"):
        return f"phaseline phases unpause {quote(entry.phase)}"
    if entry.note == f"the phase '{entry.phase}' {NOT_LOADED}":
        return f"phaseline resources complete {named} --reason TEXT"
    return "phaseline plugins reload"


def _absent(phase: PhaseDefinition, registry: PhaseRegistry, kind: str, record: Record, now: float) -> PhaseReason:
    """Return why a phase of the state does not apply to the resource.

    The reason is its type, its provider, or the constraint with the values of its attributes.
    """
    if not set(registry.types.line(kind)).intersection(phase.resource_types):
        return PhaseReason(phase.name, NOT_FOR_IT, f"it is for {', '.join(phase.resource_types)}, this is a {kind}")
    provider = record.get("Provider")
    has_provider = registry.types.uses_provider(kind)
    if has_provider and not phase.takes_provider(provider if isinstance(provider, str) else None):
        has = f"has {value_text(provider)}" if provider is not None else "has none"
        return PhaseReason(
            phase.name, NOT_FOR_IT, f"it is for Provider {', '.join(phase.providers)}, the resource {has}"
        )
    if phase.constraint:
        return _constrained(phase, record, now)
    return PhaseReason(phase.name, "not asked yet", "it applies when the resource enters the state again")


def _constrained(phase: PhaseDefinition, record: Record, now: float) -> PhaseReason:
    expression = Expression(phase.constraint)
    value = expression.evaluate(record, now=now)
    written = {
        node.name.lower(): node.name for node in syntax_tree.walk(expression.node) if isinstance(node, syntax_tree.Name)
    }
    values = ", ".join(f"{written[key]} = {value_text(record.get(key))}" for key in sorted(written)[:SHOWN])
    verdict = expression.judge(record, now=now)
    if isinstance(verdict, ErrorValue):
        return PhaseReason(phase.name, NOT_FOR_IT, f"{phase.constraint} is an error: {verdict.reason}")
    shown = f"{phase.constraint} is {value_text(value)}" + (f" ({values})" if values else "")
    if verdict:
        return PhaseReason(phase.name, "not asked yet", f"{shown}; it is asked again when the resource changes")
    return PhaseReason(phase.name, NOT_FOR_IT, shown)
