"""Give resources another target, stop them on their way to a target, or remove them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.lang.fast_dataclasses import altered, as_dict, frozen
from phaseline.model.deployment.index_ranges import ranges_of
from phaseline.model.execution.execution import Request
from phaseline.model.problems.problem import Place, Problem, ProblemsError, problem_error
from phaseline.model.rows.rows import NewExecution, RequestKind
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.resources.apply import reach
from phaseline.use_cases.commands.resources.requests import answered, answered_again, ask_for
from phaseline.use_cases.loading.resource_files import unreachable
from phaseline.use_cases.lookup.known_phases import known_phases
from phaseline.use_cases.prepare.breakpoints import unmet_stops, with_kept
from phaseline.use_cases.queries.resources.selection import ResourceSelector, choose

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.blueprint.state_paths import ResourceTypes
    from phaseline.model.execution.breakpoints import Breakpoint
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.use_cases.commands.submission import Submissions
    from phaseline.use_cases.queries.resources.cluster_snapshot import ClusterSnapshot

REMOVAL = ""
"""Target of resources that are to be removed."""
NAMED = 5


@frozen
class Moved:
    """The result of a command about targets.

    ``meant``: number of selected resources; ``changed``: number of changed ones; ``names``: the first changed ones.
    ``executions``: those that carry the change out. ``is_running``: an engine runs that continues with them.
    """

    what: str
    meant: int
    changed: int
    names: Sequence[str]
    executions: Sequence[str]
    is_running: bool


def _moved_again(ctx: RequestContext, found: GivenOrder, _: Mapping[str, object]) -> Submissions[Moved]:
    moved: Any = found.answer
    return answered_again(ctx, found, lambda engine: altered(Moved(**moved), is_running=engine.is_there))


@once("resources target", _moved_again)
def target(
    ctx: RequestContext,
    state: str,
    choice: ResourceSelector,
    *,
    force: bool = False,
    breakpoints: tuple[Breakpoint, ...] = (),
    given: NewOrder | None = None,
) -> Submissions[Moved]:
    """Give resources a new target; running calls are awaited first (6.5).

    Resources that have this target already do not change. ``force``: the resources start at once; later results of
    running calls are stored with them but do not move them. ``breakpoints``: points at which they stop, in addition to
    those of their cluster. Raises: PL-P047 for breakpoints at which no resource would stop, PL-R024 for each type
    without a path to the state, PL-C039 for resources that have failed on the way to this target, and the errors of
    ``choose``.
    """
    registry = known_phases(ctx)
    chosen = choose(ctx, choice, verb=f"target {state}")
    problems = [
        problem for snapshot, numbers in chosen for problem in _unreachable(snapshot, numbers, state, registry.types)
    ]
    if breakpoints:
        going = [(one.name(number), one.type(number), state) for one, numbers in chosen for number in numbers.tolist()]
        problems += unmet_stops(breakpoints, going, registry)
    if problems:
        raise ProblemsError(problems)
    moving = [(snapshot, _to_move(snapshot, numbers, state)) for snapshot, numbers in chosen]
    meant = sum(len(numbers) for _, numbers in chosen)
    return _sent(ctx, moving, state, meant, f"target {state}", force=force, breakpoints=breakpoints, given=given)


@once("resources delete", _moved_again)
def delete(ctx: RequestContext, choice: ResourceSelector, *, given: NewOrder | None = None) -> Submissions[Moved]:
    """Remove resources: running calls are awaited, then the resources and their data are deleted.

    No phase is called to undo earlier work. For that, first give the resources a target such as Terminated.
    """
    chosen = choose(ctx, choice, verb="delete")
    return _sent(ctx, chosen, REMOVAL, sum(len(numbers) for _, numbers in chosen), "deleted", given=given)


@once("resources cancel", _moved_again)
def cancel(ctx: RequestContext, choice: ResourceSelector, *, given: NewOrder | None = None) -> Submissions[Moved]:
    """Leave resources in their present states: no further phase is called, running calls are awaited.

    Raises: PL-C017 if no resource is on its way to a target, and the errors of ``choose``.
    """
    chosen = choose(ctx, choice, verb="cancel")
    asked: list[tuple[RequestKind, int, dict[str, object]]] = []
    names: list[str] = []
    executions: list[ExecutionRow] = []
    count = 0
    for snapshot, numbers in chosen:
        moving = _only(snapshot, numbers, lambda standing: standing in {"moving", "failed"})
        owners = snapshot.newest[moving]
        for owner in np.unique(owners).tolist():
            row = snapshot.by_number[owner]
            if row.status.is_ended:
                continue
            inside = moving[owners == owner]
            asked.append((RequestKind.CANCEL, owner, {"id": row.id, "how": "wait", "subjects": ranges_of(inside)}))
            executions.append(row)
            names += [snapshot.name(number) for number in inside[:NAMED].tolist()]
            count += len(inside)
    if not asked:
        mend = (
            "look at their states: phaseline resources list; a failed resource stays where it is without this command"
        )
        raise problem_error("PL-C017", "none of the selected resources is on its way to a target", mend)
    meant = sum(len(numbers) for _, numbers in chosen)
    moved = Moved("canceled", meant, count, names[:NAMED], [row.id for row in executions], is_running=False)
    return ask_for(
        ctx,
        asked,  # type: ignore[arg-type]  # plain JSON values
        lambda engine: altered(moved, is_running=engine.is_there),
        given=given,
        told=as_dict(moved),
    )


def _unreachable(snapshot: ClusterSnapshot, numbers: np.ndarray, state: str, types: ResourceTypes) -> list[Problem]:
    found = []
    nodes, first = np.unique(snapshot.topology.node[numbers], return_index=True)
    for node, at in zip(nodes.tolist(), first.tolist(), strict=True):
        name = snapshot.name(int(numbers[at]))
        problem = unreachable(snapshot.topology.nodes[node].type, state, types, Place(subject=name))
        found += [problem] if problem is not None else []
    return found


def _only(snapshot: ClusterSnapshot, numbers: np.ndarray, fits: Callable[[str], bool]) -> np.ndarray:
    return np.array([number for number in numbers.tolist() if fits(snapshot.standing(number))], np.int64)


def _to_move(snapshot: ClusterSnapshot, numbers: np.ndarray, state: str) -> np.ndarray:
    """Return the resources that have another target, or have this target but no execution that brings them there.

    Raises: PL-C039 for resources that failed on the way to this target.
    """
    found: list[int] = []
    failed: list[str] = []
    for number in numbers.tolist():
        if snapshot.target(number) != state:
            found.append(number)
            continue
        standing = snapshot.standing(number)
        if standing == "failed":
            failed.append(snapshot.name(number))
        elif standing == "still" and snapshot.state(number) != state:
            found.append(number)
    if failed:
        named = ", ".join(failed[:NAMED]) + (f" and {len(failed) - NAMED} more" if len(failed) > NAMED else "")
        mend = f"retry them: phaseline resources retry {failed[0]}"
        raise problem_error("PL-C039", f"{named} failed on the way to '{state}'", mend)
    return np.array(found, np.int64)


def _sent(
    ctx: RequestContext,
    moving: Sequence[tuple[ClusterSnapshot, np.ndarray]],
    state: str,
    meant: int,
    what: str,
    *,
    force: bool = False,
    breakpoints: tuple[Breakpoint, ...] = (),
    given: NewOrder | None = None,
) -> Submissions[Moved]:
    rows: list[ExecutionRow] = []
    names: list[str] = []
    count = 0
    with ctx.store.as_one(given) as answer:
        for snapshot, numbers in moving:
            if len(numbers):
                cluster = snapshot.row.number
                stops = with_kept(ctx.store, cluster, breakpoints)
                rows.append(_stored(ctx, cluster, reach(state, numbers, force=force, breakpoints=stops)))
                names += [snapshot.name(number) for number in numbers[:NAMED].tolist()]
                count += len(numbers)
        moved = Moved(what, meant, count, names[:NAMED], [row.id for row in rows], is_running=False)
        answer.update(as_dict(moved))
    begins = [
        _start(ctx.store, row.number) for row in rows
    ]  # an answer: the present states were left; an engine makes the calls
    return answered(ctx, begins, lambda engine: altered(moved, is_running=engine.is_there))


def _stored(ctx: RequestContext, deployment: int, request: Request) -> ExecutionRow:
    return ctx.store.create_execution(NewExecution(deployment, request, ctx.actor, ctx.clock.now()), asks=True)


def _start(store: TenantStore, execution: int) -> int:
    return next(row.number for row in store.requests_of(execution) if row.kind is RequestKind.START)
