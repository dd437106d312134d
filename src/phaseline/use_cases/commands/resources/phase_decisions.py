"""Decisions of users about phases of resources: retry, complete, rerun, wake, signal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import altered, as_dict, frozen
from phaseline.model.execution.breakpoints import PREFIX as BREAKPOINT
from phaseline.model.execution.breakpoints import clearing
from phaseline.model.graph.status import EntryStatus
from phaseline.model.phases.phase_data import ENGINE_KEYS
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error
from phaseline.model.rows.rows import RequestKind
from phaseline.records.formats.json_codec import to_json, undefined_in
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.resources.requests import answered_again, ask_for
from phaseline.use_cases.loading import record_files
from phaseline.use_cases.lookup.known_phases import known_phases
from phaseline.use_cases.queries.resources.selection import ResourceSelector, choose
from phaseline.use_cases.queries.resources.state_stays import WORDS

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.use_cases.commands.submission import Submissions
    from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot
    from phaseline.use_cases.queries.resources.state_stays import Stay

Verb = Literal["retry", "complete", "rerun", "wake", "signal"]
FITTING: Mapping[Verb, frozenset[EntryStatus]] = {
    "retry": frozenset({EntryStatus.FAILED, EntryStatus.UNSURE}),
    "complete": frozenset(
        {
            EntryStatus.FAILED,
            EntryStatus.UNSURE,
            EntryStatus.BLOCKED,
            EntryStatus.SKIPPED,
            EntryStatus.WAITING,
            EntryStatus.SLEEPING,
        }
    ),
    "rerun": frozenset({EntryStatus.COMPLETED}),
    "wake": frozenset({EntryStatus.SLEEPING}),
    "signal": frozenset({EntryStatus.SLEEPING}),
}
"""{verb: statuses of the phases to which it applies if the user names phases} (T9, T10, T18, T19)."""
UNNAMED: Mapping[Verb, frozenset[EntryStatus]] = {
    **FITTING,
    "complete": frozenset({EntryStatus.FAILED, EntryStatus.UNSURE}),
}
"""{verb: statuses of the phases to which the verb applies if the user names no phase}."""
KINDS: Mapping[Verb, RequestKind] = {
    "retry": RequestKind.RETRY,
    "complete": RequestKind.COMPLETE,
    "rerun": RequestKind.RERUN,
    "wake": RequestKind.WAKE,
    "signal": RequestKind.SIGNAL,
}
LACKING: Mapping[Verb, str] = {
    "retry": "has failed",
    "complete": "has failed",
    "rerun": "has completed",
    "wake": "sleeps",
    "signal": "sleeps",
}
"""{verb: end of the error "no phase of the resource …", such as "has failed"}."""
NOBODY: Mapping[Verb, str] = {"signal": "PL-C093"}
"""{verb: code of the error if the verb applies to no phase}; other verbs raise PL-C041."""
OF_PHASES: frozenset[Verb] = frozenset({"wake", "signal"})
"""Verbs that apply only to phases, not to breakpoints: a breakpoint must be cleared instead."""
MOST_TOLD = 20


@frozen
class Decided:
    """The result of a decision: how many resources and phases (``entries``) it applied to.

    ``executions``: the executions that continue; ``is_running``: an engine runs.
    """

    what: str
    resources: int
    entries: int
    phases: Sequence[str]
    executions: Sequence[str]
    is_running: bool


def _decided_again(ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> Submissions[Decided]:
    decided: Any = found.answer
    return answered_again(ctx, found, lambda engine: altered(Decided(**decided), is_running=engine.is_there))


@once("resources retry", _decided_again)
def retry(
    ctx: RequestContext,
    choice: ResourceSelector,
    *,
    phases: Sequence[str] = (),
    changes: Mapping[str, str] | None = None,
    given: NewOrder | None = None,
) -> Submissions[Decided]:
    """Call failed phases again, without the data that they stored.

    ``changes``: {attribute: value in the informal syntax}, set on all selected resources before the calls. Raises:
    PL-C040 for a named phase that has not failed, PL-C041 if no phase failed, and the errors of ``choose``.
    """
    edits, removed = _edits(changes or {})
    return _decide(
        ctx,
        "retry",
        choice,
        phases,
        lambda numbers: {"edits": _for_each(numbers, edits, removed)} if edits or removed else {},
        given,
    )


@once("resources complete", _decided_again)
def complete(
    ctx: RequestContext,
    choice: ResourceSelector,
    *,
    reason: str,
    phases: Sequence[str] = (),
    given: NewOrder | None = None,
) -> Submissions[Decided]:
    """Mark phases as completed by a user's decision, which is stored with the actor and the reason.

    ``phases`` empty: mark the failed phases. Raises: PL-C029 for an empty reason, and the errors of ``retry``.
    """
    if not reason.strip():
        mend = 'give the reason for which the call counts as done: --reason "seen in the console of the cloud"'
        raise problem_error("PL-C029", "the reason is empty", mend)
    return _decide(ctx, "complete", choice, phases, lambda _: {"reason": reason}, given)


@once("resources rerun", _decided_again)
def rerun(
    ctx: RequestContext, choice: ResourceSelector, *, phases: Sequence[str], given: NewOrder | None = None
) -> Submissions[Decided]:
    """Call completed phases again, while their resources are still in the state of the phase."""
    return _decide(ctx, "rerun", choice, phases, lambda _: {}, given)


@once("resources wake", _decided_again)
def wake(
    ctx: RequestContext, choice: ResourceSelector, *, phases: Sequence[str] = (), given: NewOrder | None = None
) -> Submissions[Decided]:
    """Call sleeping phases now.

    Raises: PL-C041 if no phase sleeps, or if a named resource is stopped at a breakpoint, and the errors of
    ``choose``.
    """
    return _decide(ctx, "wake", choice, phases, lambda _: {}, given)


@once("resources signal", _decided_again)
def signal(
    ctx: RequestContext,
    choice: ResourceSelector,
    *,
    data: Value,
    phases: Sequence[str] = (),
    given: NewOrder | None = None,
) -> Submissions[Decided]:
    """Add data to the ``signals`` in the stored data of sleeping phases, and call these phases now.

    Raises: PL-C093 if no phase sleeps, PL-R011 and PL-R012 for data that a record cannot have, and the errors of
    ``choose``.
    """
    return _decide(ctx, "signal", choice, phases, lambda _: {"data": data}, given)


class _Found:
    """Collects the entries to which a decision applies, by execution and graph."""

    def __init__(self) -> None:
        self.positions: dict[int, dict[int, list[np.ndarray]]] = {}
        self.numbers: dict[int, list[np.ndarray]] = {}
        self.ids: dict[int, str] = {}
        self.phases: dict[str, None] = {}
        self.met: set[str] = set()
        self.problems: list[Problem] = []
        self.resources = 0
        self.entries = 0


def _decide(
    ctx: RequestContext,
    verb: Verb,
    choice: ResourceSelector,
    phases: Sequence[str],
    more: Callable[[np.ndarray], Mapping[str, Value]],
    given: NewOrder | None,
) -> Submissions[Decided]:
    chosen = choose(ctx, choice, verb=verb)
    found = _Found()
    for snapshot, numbers in chosen:
        _gather(snapshot, numbers, verb, phases, found, is_named=bool(choice.names))
    _raise_if_unknown_phases(ctx, [name for name in phases if name.lower() not in found.met])
    if found.problems:
        raise ProblemsError(found.problems[:MOST_TOLD])
    if not found.positions:
        raise _nothing(verb, phases, sum(len(numbers) for _, numbers in chosen))
    asked: list[tuple[RequestKind, int, Mapping[str, Value]]] = []
    for execution, graphs in found.positions.items():
        rows: list[Value] = [
            [graph, np.sort(np.concatenate(parts)).tolist()] for graph, parts in sorted(graphs.items())
        ]
        about = np.unique(np.concatenate(found.numbers[execution]))
        body: dict[str, Value] = {"id": found.ids[execution], "chosen": rows, **more(about)}
        asked.append((KINDS[verb], execution, body))
    decided = Decided(
        verb, found.resources, found.entries, list(found.phases), list(found.ids.values()), is_running=False
    )
    return ask_for(
        ctx, asked, lambda engine: altered(decided, is_running=engine.is_there), given=given, told=as_dict(decided)
    )


def _gather(
    snapshot: ClusterSnapshot, numbers: np.ndarray, verb: Verb, phases: Sequence[str], found: _Found, *, is_named: bool
) -> None:
    inside: list[np.ndarray] = []
    for stay, here in snapshot.by_stay(numbers):
        present = here[snapshot.newest[here] == stay.execution]
        inside.append(_gather_stay(snapshot, stay, present, verb, phases, found))
    done = np.unique(np.concatenate(inside)) if inside else numbers[:0]
    found.resources += len(done)
    if is_named:
        for number in np.setdiff1d(numbers, done).tolist():
            if len(found.problems) < MOST_TOLD:
                found.problems.append(_unfit(snapshot, number, verb, phases))


def _gather_stay(
    snapshot: ClusterSnapshot, stay: Stay, numbers: np.ndarray, verb: Verb, phases: Sequence[str], found: _Found
) -> np.ndarray:
    """Add the entries of one stay to which the verb applies to ``found``; return the numbers of their resources.

    ``numbers``: the chosen resources. ``phases``: the chosen phases; empty: all.
    """
    wanted = {name.lower() for name in phases}
    fitting = list(FITTING[verb] if phases else UNNAMED[verb])
    having: list[np.ndarray] = []
    for phase in stay.phases:
        found.met.add(phase.lower())
        if phases and phase.lower() not in wanted:
            continue
        positions = stay.positions(phase, numbers)
        fits = np.isin(stay.status[positions], fitting)
        if verb in OF_PHASES and phase.startswith(BREAKPOINT):
            fits[:] = False
        if phases and not fits.all() and verb == "retry":
            found.problems += _not_failed(snapshot, stay, phase, numbers[~fits])
        if fits.any():
            execution = stay.execution
            found.ids[execution] = snapshot.by_number[execution].id
            found.positions.setdefault(execution, {}).setdefault(stay.graph, []).append(positions[fits])
            found.numbers.setdefault(execution, []).append(numbers[fits])
            found.phases[phase] = None
            found.entries += int(fits.sum())
            having.append(numbers[fits])
    return np.unique(np.concatenate(having)) if having else numbers[:0]


def _raise_if_unknown_phases(ctx: RequestContext, names: Sequence[str]) -> None:
    """Raise PL-D053 for names of phases that no resource is in and no plugin defines."""
    if not names:
        return
    registry = known_phases(ctx)
    problems = []
    for name in names:
        if registry.get(name) is None:
            hint = did_you_mean(name, [phase.name for phase in registry.phases])
            mend = f"{hint} " if hint else ""
            problems.append(
                Problem("PL-D053", f"there is no phase '{name}'", f"{mend}list the phases: phaseline phases list")
            )
    if problems:
        raise ProblemsError(problems)


def _not_failed(snapshot: ClusterSnapshot, stay: Stay, phase: str, numbers: np.ndarray) -> list[Problem]:
    """Return the problems of a retry of phases that have not failed; such a retry changes nothing (P51)."""
    found = []
    for number in numbers[:MOST_TOLD].tolist():
        status = stay.status_of(phase, number)
        word = WORDS.get(status, "not for it").lower()
        mend = "leave --phase out to retry what failed; a completed phase is called again by: phaseline resources rerun"
        message = f"the phase '{phase}' of the resource '{snapshot.name(number)}' is {word}, it has not failed"
        found.append(Problem("PL-C040", message, mend, Place(subject=snapshot.name(number))))
    return found


def _unfit(snapshot: ClusterSnapshot, number: int, verb: Verb, phases: Sequence[str]) -> Problem:
    name = snapshot.name(number)
    stay = snapshot.stay(number)
    known = list(stay.phases) if stay is not None else []
    missing = [phase for phase in phases if phase.lower() not in {other.lower() for other in known}]
    if missing:
        hint = did_you_mean(missing[0], known)
        mend = f"{hint} " if hint else ""
        message = f"the resource '{name}' is in no phase '{missing[0]}' now"
        return Problem("PL-C040", message, f"{mend}see: phaseline resources show {name}", Place(subject=name))
    code = NOBODY.get(verb, "PL-C041")
    point = _stands_at(stay, number) if verb in OF_PHASES and stay is not None else ""
    if point:
        mend = f"clear it first: {clearing(point, snapshot.row.name, name)}"
        return Problem(code, f"the resource '{name}' is stopped at {point}", mend, Place(subject=name))
    message = f"no phase of the resource '{name}' {LACKING[verb]}"
    mend = f"look at its phases: phaseline resources show {name}"
    return Problem(code, message, mend, Place(subject=name))


def _stands_at(stay: Stay, number: int) -> str:
    """Return the breakpoint at which a resource is stopped, or "" if it is not stopped."""
    points = (name for name in stay.phases if name.startswith(BREAKPOINT))
    standing = (name for name in points if stay.status_of(name, number) is EntryStatus.SLEEPING)
    return next(standing, "").removeprefix(BREAKPOINT)


def _nothing(verb: Verb, phases: Sequence[str], meant: int) -> ProblemsError:
    of = f" in {', '.join(phases)}" if phases else ""
    message = f"none of {meant} resources {LACKING[verb]}{of}" if meant else "no resource fits"
    return problem_error(NOBODY.get(verb, "PL-C041"), message, "look at the resources: phaseline resources list")


def _edits(changes: Mapping[str, str]) -> tuple[list[Value], list[Value]]:
    """Return ([path, value] of each attribute to be set, paths of attributes to be removed).

    Raises: PL-R025 for attributes that only the engine writes, and the errors of ``parse_definition``.
    """
    if not changes:
        return [], []

    record = record_files.attributes_of(changes)
    wrong = [name for name in record.get_attribute_names() if name.lower() in ENGINE_KEYS]
    if wrong:
        raise problem_error("PL-R025", f"'{wrong[0]}' is written by the engine alone", "leave it out", subject="--set")
    removed = undefined_in(record)
    written: list[Value] = [[[name], value] for name, value in to_json(record).items() if name not in removed]
    return written, [[name] for name in removed]


def _for_each(numbers: np.ndarray, edits: list[Value], removed: list[Value]) -> list[Value]:
    return [{"instance": number, "written": edits, "removed": removed} for number in numbers.tolist()]
