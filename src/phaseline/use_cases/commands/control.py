"""Decisions about an existing execution: resume, follow, retry, complete, wake, rerun, cancel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from phaseline.lang.did_you_mean import did_you_mean
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.model.execution.breakpoints import PREFIX as BREAKPOINT
from phaseline.model.execution.breakpoints import clearing
from phaseline.model.graph.graph import SubjectKind, is_of_state, owners_of, phase_of
from phaseline.model.graph.status import EntryStatus
from phaseline.model.problems.problem import ProblemsError, problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows.rows import RequestKind
from phaseline.plan.requests.request_problems import raise_if_completed, raise_if_ended, raise_if_not_cleanable
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.submission import Submission, ask
from phaseline.use_cases.loading.moved_folders import raise_if_folders_missing
from phaseline.use_cases.lookup.blocking_executions import beside, raise_if_reopening
from phaseline.use_cases.lookup.entries import last_own_graph
from phaseline.use_cases.lookup.find import find_execution, listed
from phaseline.use_cases.queries.addressed_execution import find_failed, find_open, find_started, the_fitting_one

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.graph.graph import Graph
    from phaseline.model.rows.orders import NewOrder
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import TenantStore

RETRIED = (EntryStatus.FAILED, EntryStatus.CANCELED, EntryStatus.UNSURE, EntryStatus.SLEEPING)
COMPLETED = (EntryStatus.FAILED, EntryStatus.UNSURE, EntryStatus.SLEEPING, EntryStatus.CANCELED)
NAMED = 5
"""Number of entries that an error names if none of them can be selected."""


@once("resume")
def resume(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    given: NewOrder | None = None,
) -> Submission:
    """Continue an execution that a crash or an interrupt left open. Completed operations are not called again.

    Raises: PL-C017 if it has ended, PL-C024 if the folder of its code is missing.
    """
    row = find_started(ctx.store, id, deployment, "resume")
    raise_if_ended(row, "nothing is left to resume")
    _raise_if_folders_missing(ctx, row)
    with ctx.store.as_one(given) as answer:
        answer["execution"] = row.id
    return Submission(row)


def watch(ctx: RequestContext, id: str | None = None, *, deployment: str | None = None) -> Submission:
    """Follow an execution to its end, whichever process runs it; run it if no process does.

    If the execution has ended, show it and wait only for the answer to a request about it that is still unanswered.
    """
    row = find_execution(ctx.store, id, deployment, to_change=True)
    asked = [request.number for request in ctx.store.requests_of(row.number) if not request.answered_at]
    return Submission(row, asked[-1] if asked and row.status.is_ended else 0)


@once("retry")
def retry(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    instances: Sequence[str] = (),
    clean: bool = False,
    given: NewOrder | None = None,
) -> Submission:
    """Call failed, canceled and unsure entries again, and continue with the entries that waited for them.

    Entries that sleep before an automatic retry are called now. ``instances``: only entries of these instances.
    ``clean``: clean up half-created instances first (W8). Raises: PL-C017 if the execution completed or has nothing to
    retry, PL-C014 if no entry fits, PL-C024 if the folder of its code is missing, PL-C028 while an abandoned call that
    must not be repeated still runs.
    """
    row = find_failed(ctx.store, id, deployment, RETRIED)
    raise_if_reopening(ctx.store, row)
    raise_if_completed(row)
    _raise_if_folders_missing(ctx, row)
    if clean:
        raise_if_not_cleanable(row)
    body: dict[str, Value] = {"clean": True} if clean else {}
    if instances and ctx.store.graphs(row.number):
        body.update(chosen(ctx.store, row, instances, (), RETRIED))
    submission = ask(ctx, RequestKind.RETRY, row, body, beside=beside(ctx.store, row), given=given)
    if not row.request.is_surrounded:
        return submission

    return altered(submission, notes=_notes_of_pinned_versions(ctx.store, row))


def _notes_of_pinned_versions(store: TenantStore, row: ExecutionRow) -> tuple[str, ...]:
    """Return a sentence for each package that the execution uses in another version than the enabled one."""
    stages = store.around(row.number).stages if row.request.is_surrounded and store.has_packages else None
    if stages is None:
        return ()
    pinned = {task.origin.plugin: task.origin.version for task in stages}
    used = {use.package for use in store.packages.uses(row.deployment) if use.is_enabled}
    in_force = {package.name: package.version for package in store.packages.all() if package.number in used}
    return tuple(
        f"{row.id} runs the tasks of {name}=={version}, with which it was made; "
        + (f"{name}=={in_force[name]} is for the next execution" if name in in_force else "it is not enabled any more")
        for name, version in sorted(pinned.items())
        if in_force.get(name) != version
    )


@once("complete")
def complete(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    instances: Sequence[str],
    operations: Sequence[str] = (),
    reason: str,
    given: NewOrder | None = None,
) -> Submission:
    """Mark entries as completed by a user's decision, and continue with the entries that waited for them.

    The decision is stored with the reason. ``instances``: ids of the instances of these entries; ``operations``: only
    entries of these operations (full names or their last part). Raises: PL-C014 if no entry fits, PL-C027 if the
    execution has no operation of that name, PL-C029 without a reason.
    """
    if not reason.strip():
        mend = 'give the reason for which the call counts as done: --reason "seen in the console of the cloud"'
        raise problem_error("PL-C029", "the reason is empty", mend)
    store = ctx.store

    def choose(row: ExecutionRow) -> dict[str, Value]:
        return chosen(store, row, instances, operations, COMPLETED)

    row = the_fitting_one(store, id, deployment, "complete", choose)
    raise_if_reopening(store, row)
    _raise_if_closed(row)
    body = {**choose(row), "reason": reason}
    return ask(ctx, RequestKind.COMPLETE, row, body, beside=beside(ctx.store, row), given=given)


@once("wake")
def wake(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    instances: Sequence[str],
    operations: Sequence[str] = (),
    given: NewOrder | None = None,
) -> Submission:
    """Call sleeping entries now (T9). Instances stopped at a breakpoint are refused: clear the breakpoint instead.

    Raises: PL-C017 if the execution has ended, and the errors of ``complete``.
    """

    def choose(row: ExecutionRow) -> dict[str, Value]:
        return chosen(ctx.store, row, instances, operations, (EntryStatus.SLEEPING,), but_stops=True)

    row = the_fitting_one(ctx.store, id, deployment, "wake", choose)
    raise_if_ended(row, "no call in it sleeps")
    return ask(ctx, RequestKind.WAKE, row, choose(row), given=given)


@once("rerun")
def rerun(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    instances: Sequence[str],
    phases: Sequence[str],
    given: NewOrder | None = None,
) -> Submission:
    """Call completed phases again while their nodes are still in the state of the phase (T19).

    The decision is stored with its actor. Raises: PL-C014 if no entry fits, or a node has left the state; PL-C027 if
    the execution has no phase of that name.
    """

    def choose(row: ExecutionRow) -> dict[str, Value]:
        return chosen(ctx.store, row, instances, phases, (EntryStatus.COMPLETED,), only_phases=True)

    row = the_fitting_one(ctx.store, id, deployment, "rerun", choose)
    raise_if_reopening(ctx.store, row)
    body = choose(row)
    return ask(ctx, RequestKind.RERUN, row, body, beside=beside(ctx.store, row), given=given)


@once("cancel")
def cancel(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    how: Literal["wait", "force", "kill"] = "wait",
    given: NewOrder | None = None,
) -> Submission:
    """Cancel an open execution: no new call begins; ``how`` decides about running calls (decision 2).

    "wait": await them; "force": do not await them; "kill": end them, also those that an earlier cancel did not await.
    Raises: PL-C017 if the execution has ended.
    """
    row = find_open(ctx.store, id, deployment, "cancel", lambda _: True)
    if how != "kill" or ctx.store.owner() is None:
        raise_if_ended(row, "nothing is left to cancel")
    return ask(ctx, RequestKind.CANCEL, row, {"how": how}, given=given)


def _raise_if_folders_missing(ctx: RequestContext, row: ExecutionRow) -> None:
    """Raise PL-C024 if a folder with the deployment's code is missing and the execution can still make calls."""
    if row.request.workflow == REACH_WORKFLOW:
        return  # the code of phases is in the folders of the settings
    deployment = ctx.store.deployment(row.deployment_name)
    if deployment is not None and deployment.number == row.deployment:
        raise_if_folders_missing(ctx, deployment)


def _raise_if_closed(row: ExecutionRow) -> None:
    """Raise PL-C017 for an ended execution with hooks.

    Its hooks were already called for the end; to continue it, all its hooks would have to be called again.
    """
    if row.status.is_ended and row.request.is_surrounded:
        message = f"the execution {row.id} is {row.status.value}, and its hooks know that: no call of it can be completed by hand"
        raise problem_error(
            "PL-C017", message, f"try again what failed: phaseline executions retry {row.id}", subject=row.id
        )


def chosen(
    store: TenantStore,
    row: ExecutionRow,
    instances: Sequence[str],
    operations: Sequence[str],
    statuses: Sequence[EntryStatus],
    *,
    only_phases: bool = False,
    but_stops: bool = False,
) -> dict[str, Value]:
    """Return the body of a request: {"graph": id of the last graph, "positions": positions of the selected entries}.

    An entry is selected if it belongs to one of the instances and operations and has one of the statuses.
    ``only_phases``: each name in ``operations`` must be that of a phase. ``but_stops``: leave out entries that are
    breakpoints. Raises: PL-C014 if no entry fits, PL-C027 for an unknown name.
    """
    if row.request.workflow == REACH_WORKFLOW:
        message = f"{row.id} brings resources to a target: it is controlled by the commands about resources"
        mend = f"retry or complete the resource: phaseline resources retry {instances[0]} -d {row.deployment_name}, or resources complete"
        raise problem_error("PL-C014", message, mend, subject=row.id)
    last = last_own_graph(store, row)
    found: list[ControlledEntry] = []
    if last is not None:
        graph = store.graph(last.id)
        _raise_if_unknown(row, graph, operations, only_phases=only_phases)
        found = _spots(store, row, last.id, graph, instances)
        if operations:
            found = [spot for spot in found if not {spot.phase, short(spot.phase)}.isdisjoint(operations)]
    spots = [spot for spot in found if spot.status in statuses]
    fitting: list[Value] = [spot.position for spot in spots if not (but_stops and spot.phase.startswith(BREAKPOINT))]
    if fitting and last is not None:
        return {"graph": last.id, "positions": fitting}
    if spots:
        raise _stands(row, spots[0])
    words = ", ".join(status.word for status in statuses)
    message = f"no operation of {', '.join(instances)} in {row.id} is one of: {words}"
    if operations and found:
        message = f"none of these is one of {words}: {', '.join(map(str, found[:NAMED]))}"
    elif operations:
        message = f"{row.id} calls {', '.join(map(repr, operations))} on other instances, not on {', '.join(instances)}"
    raise problem_error(
        "PL-C014", message, f"look at the status of each operation: phaseline executions show {row.id}", subject=row.id
    )


def _stands(row: ExecutionRow, spot: ControlledEntry) -> ProblemsError:
    point = spot.phase.removeprefix(BREAKPOINT)
    mend = f"clear it: {clearing(point, row.deployment_name, spot.instance)}"
    return problem_error("PL-C014", f"{spot.instance} is stopped at {point} in {row.id}", mend, subject=row.id)


@frozen
class ControlledEntry:
    """One entry of a graph: its operation, the instance that it is called on or for, and its status."""

    position: int
    phase: str
    instance: str
    status: EntryStatus

    def __str__(self) -> str:
        """Return the entry in the form ``start of web_x1 (completed)``."""
        return f"{short(self.phase)} of {self.instance} ({self.status.word})"


def _spots(
    store: TenantStore, row: ExecutionRow, number: int, graph: Graph, instances: Sequence[str]
) -> list[ControlledEntry]:
    """Return the entries of a graph for these instances; an entry of a relationship belongs to the source instance."""
    topology = store.topology(row.deployment)
    statuses = store.statuses(number)
    wanted = np.array(sorted(_numbers(instances, topology.number_of)), np.int64)
    found: list[ControlledEntry] = []
    for step in graph.steps:
        if step.kind is SubjectKind.NONE:
            continue
        subjects = graph.subject[step.first : step.first + step.count]
        owner = owners_of(topology, step.kind, subjects)
        for place in np.flatnonzero(np.isin(owner, wanted)).tolist():
            position = step.first + place
            phase = phase_of(step.phase) or step.phase
            found.append(
                ControlledEntry(position, phase, topology.ids[int(owner[place])], EntryStatus(statuses[position]))
            )
    return sorted(found, key=lambda spot: spot.position)


def _raise_if_unknown(row: ExecutionRow, graph: Graph, operations: Sequence[str], *, only_phases: bool) -> None:
    """Raise PL-C027 for a name that is neither the full name nor the last part of an operation of the graph."""
    phases = dict.fromkeys(
        phase_of(step.phase) or step.phase
        for step in graph.steps
        if step.kind is not SubjectKind.NONE
        and not is_of_state(step.phase)
        and not (only_phases and phase_of(step.phase) is None)
    )
    word = "phase" if only_phases else "operation"
    shorter = dict.fromkeys(map(short, phases))
    for name in operations:
        if name not in phases and name not in shorter:
            hint = did_you_mean(name, phases if "." in name else shorter)
            there = f"the last round of {row.id} calls: {', '.join(shorter) or 'none'}"
            mend = f"correct the name; {hint or there}"
            raise problem_error("PL-C027", f"{row.id} has no {word} '{name}'", mend, subject=row.id)


def short(phase: str) -> str:
    """Return the last part of the name of an operation."""
    return phase.rpartition(".")[2]


def _numbers(instances: Sequence[str], known: dict[str, int]) -> set[int]:
    found: set[int] = set()
    for text in instances:
        fitting = [number for id, number in known.items() if id == text] or [
            number for id, number in known.items() if id.startswith(text)
        ]
        if len(fitting) != 1:
            if fitting:
                names = listed(id for id in known if id.startswith(text))
                message = f"'{text}' is the beginning of {len(fitting)} instances: {names}"
                raise problem_error("PL-C013", message, "write more of the id, or name each instance")
            hint = did_you_mean(text, list(known)[:1000]) or "see them with: phaseline instances list"
            raise problem_error(
                "PL-C012", f"there is no instance '{text}' in this deployment", f"correct the id; {hint}"
            )
        found.add(fitting[0])
    return found
