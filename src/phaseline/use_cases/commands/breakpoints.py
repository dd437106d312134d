"""Breakpoints as users know them: those of a deployment, who has stopped at one, and letting them go on (H46)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.lang.fast_dataclasses import as_dict as fields_of
from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.blueprint.labels import Label
from phaseline.model.execution.breakpoints import LABEL, Breakpoint, read_points
from phaseline.model.problems.problem import problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands.labels import change_labels
from phaseline.use_cases.commands.orders.request_ids import once
from phaseline.use_cases.commands.resources.requests import refuse_refused, settle
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.ticket import Ticket, ask, conduct
from phaseline.use_cases.prepare.breakpoints import labelled, read
from phaseline.use_cases.queries.breakpoints import StoppedInstance, list_breakpoints

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.app.watcher import Watcher
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.ports import Store

NAMED = 5
"""How many that stand somewhere are named where nobody stands at a point; all are counted."""


@frozen
class Kept:
    """The breakpoints of all coming executions of a deployment or cluster. ``added`` and ``removed``: how many this changed.

    ``begun``: executions that are open and so do not stop at what was added.
    """

    deployment: str
    breakpoints: Sequence[str]
    added: int = 0
    removed: int = 0
    begun: Sequence[str] = ()


def add(ctx: RequestContext, deployment: str, points: Sequence[str] = (), *, timeout_s: float | None = None) -> Kept:
    """Let all executions of a deployment or cluster that are begun from now on stop there, too; all that it has then.

    They are its labels. Raises: PL-C010, PL-P047 for those at which nobody would stop.
    """
    row = find_deployment(ctx.store, deployment, to_change=bool(points))
    given = [read(text, timeout_s) for text in points]
    found = change_labels(ctx, row.name, add=[f"{LABEL}={one}" for one in given])
    begun = [one.id for one in ctx.store.executions(row.number, only_open=True)] if found.added else []
    return Kept(row.name, _kept_texts(ctx.store, row.number), added=found.added, begun=begun)


def remove(ctx: RequestContext, deployment: str, points: Sequence[str]) -> Kept:
    """Let executions that are begun from now on stop there no more. Who stands there stays until it is cleared.

    A point alone means all its breakpoints. Raises: PL-C010, PL-P047 for what it has not.
    """
    row = find_deployment(ctx.store, deployment, to_change=True)
    texts = [label.value for label in ctx.store.labels.of(row.number) if label.key == LABEL]
    gone: dict[str, None] = {}
    for point in points:
        mine = [text for text in texts if point in {text, text.partition("=")[0]} or str(read(point)) == text]
        if not mine:
            has = ", ".join(texts) or "none"
            raise problem_error(
                "PL-P047", f"'{row.name}' has no breakpoint '{point}'", f"It has: {has}.", subject=point
            )
        gone |= dict.fromkeys(mine)
    found = change_labels(ctx, row.name, remove=[f"{LABEL}={text}" for text in gone])
    return Kept(row.name, _kept_texts(ctx.store, row.number), removed=found.removed)


def list_kept(ctx: RequestContext, deployment: str | None = None) -> Sequence[Kept]:
    """The deployments and clusters that keep breakpoints, or what one of them keeps, if anything."""
    store = ctx.store
    if deployment is not None:
        rows = [find_deployment(store, deployment)]
    else:
        numbers = store.labels.having([Label(LABEL, "")])
        rows = [row for row in store.deployments() if row.number in numbers] if numbers else []
    found = [Kept(row.name, _kept_texts(store, row.number)) for row in rows]
    return [one for one in found if one.breakpoints]


def _kept_texts(store: Store, deployment: int) -> list[str]:
    return [str(one) for one in labelled(store, deployment)]


def _cleared_again(
    ctx: RequestContext, found: GivenOrder, arguments: Mapping[str, object]
) -> Sequence[StoppedInstance]:
    cleared: Any = found.answer["cleared"]
    stopped = [StoppedInstance(**one) for one in cleared]
    rows = [ctx.store.execution(id) for id, _ in dict.fromkeys((one.execution, one.graph) for one in stopped)]
    asked = zip(rows, found.requests, strict=True)
    open_ones = [Ticket(row, number) for row, number in asked if row is not None and not row.status.is_ended]
    watcher: Any = arguments["watcher"]
    _seen_through(ctx, open_ones, watcher, detach=bool(arguments["detach"]))
    return stopped


@once("clear", _cleared_again)
def clear(
    ctx: RequestContext,
    point: str,
    *,
    deployment: str | None = None,
    instances: Sequence[str] = (),
    watcher: Watcher | None = None,
    detach: bool = False,
    given: NewOrder | None = None,
) -> Sequence[StoppedInstance]:
    """Let those go on that stand at a point, or only these of them; who they were.

    ``point``: as a breakpoint is given, so that a bare name is before it, and names may follow; ``*`` stands for any part of it, and alone
    for every point. Where no engine is at work this process is it, until the execution has ended or stops again; with
    ``detach`` another one is. Resources go on with the next engine.
    The instances may be named by their node or by the beginning of their id. Raises: PL-C092 if nobody stands there, PL-P047 for what is no point.
    """
    meant = read(point, of=read_points)
    standing = list_breakpoints(ctx, deployment)
    chosen = [one for one in standing if _is_meant(one, meant) and (not instances or _is_named(one, instances))]
    if not chosen:
        told = [f"{one.point} of {one.instance}" for one in standing[:NAMED]]
        more = f" and {len(standing) - NAMED:,} more" if len(standing) > NAMED else ""
        mend = (
            f"Somebody stands at: {', '.join(told)}{more}."
            if told
            else "Nobody stands at any: phaseline breakpoints list"
        )
        whom = f" of {', '.join(instances)}" if instances else ""
        raise problem_error("PL-C092", f"nobody{whom} has stopped at '{_told(meant)}'", mend, subject=point)
    tickets: list[Ticket] = []
    with ctx.store.as_one(given) as answer:
        answer["cleared"] = [fields_of(one) for one in chosen]
        for execution, graph in dict.fromkeys((one.execution, one.graph) for one in chosen):
            row = ctx.store.execution(execution)
            assert row is not None, "it is open"
            mine = [one for one in chosen if (one.execution, one.graph) == (execution, graph)]
            points = ", ".join(dict.fromkeys(one.point for one in mine))
            positions: list[Value] = [one.position for one in mine]
            body: dict[str, Value] = {"graph": graph, "positions": positions, "reason": f"cleared {points}"}
            tickets.append(ask(ctx, RequestKind.COMPLETE, row, body))
    _seen_through(ctx, tickets, watcher, detach=detach)
    return chosen


def _seen_through(ctx: RequestContext, tickets: Sequence[Ticket], watcher: Watcher | None, *, detach: bool) -> None:
    """Await the answers about resources; where no engine is at work, carry the other executions on. Raises: what the owner refused."""
    of_resources = [ticket.request for ticket in tickets if ticket.row.request.workflow == REACH_WORKFLOW]
    if of_resources:
        settle(ctx, of_resources)
        refuse_refused(ctx, of_resources)
    for ticket in tickets:
        if ticket.request not in of_resources and ctx.store.owner() is None:
            conduct(ctx, ticket, watcher, detach=detach)


def _is_meant(one: StoppedInstance, meant: Breakpoint) -> bool:
    return meant.covers(one.point) and (meant.concerns(one.node) or meant.concerns(one.instance))


def _told(meant: Breakpoint) -> str:
    """As somebody writes it who means everybody there."""
    return str(meant).removesuffix("=*")


def _is_named(one: StoppedInstance, instances: Sequence[str]) -> bool:
    return any(one.node == name or one.instance.startswith(name) for name in instances)
