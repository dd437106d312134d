"""Breakpoints as users know them: those of a deployment, who has stopped at one, and letting them go on (H46)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from phaseline.embedded.run_execution import conduct
from phaseline.lang.fast_dataclasses import altered, frozen
from phaseline.lang.fast_dataclasses import told as fields_of
from phaseline.model.blueprint.labels import Label
from phaseline.model.execution.breakpoints import LABEL, PREFIX, Breakpoint, read_breakpoint, read_points
from phaseline.model.graph.status import EntryStatus
from phaseline.model.problems.problem import ProblemsError, fail
from phaseline.model.resources.resources import REACH
from phaseline.model.rows.rows import RequestKind
from phaseline.use_cases.commands.labels import change_labels
from phaseline.use_cases.commands.resources.requests import refuse_refused, settle
from phaseline.use_cases.lookup.find import find_deployment
from phaseline.use_cases.lookup.ticket import Ticket, ask, once
from phaseline.use_cases.queries.executions import as_statuses

if TYPE_CHECKING:
    from phaseline.app.app_context import Workplace
    from phaseline.app.watcher import Watcher
    from phaseline.model.blueprint.blueprint import Value
    from phaseline.model.deployment.topology import Topology
    from phaseline.model.execution.execution import Request
    from phaseline.model.problems.problem import Problem
    from phaseline.model.rows.orders import GivenOrder, NewOrder
    from phaseline.model.rows.rows import DeploymentRow, ExecutionRow
    from phaseline.ports import Store

NAMED = 5
"""How many that stand somewhere are named where nobody stands at a point; all are counted."""


@frozen
class Stopped:
    """An instance that stands at a breakpoint. ``graph`` and ``position``: of its entry."""

    point: str
    instance: str
    node: str
    deployment: str
    execution: str
    message: str
    graph: int
    position: int


def with_breakpoints(
    place: Workplace, request: Request, topologies: Sequence[Topology], deployment: int = 0
) -> Request:
    """The request with the breakpoints of its deployment, which are labels of it. ``deployment`` 0: one that is to be made.

    Raises: PL-P047 for those of the request, and of what is to be made or comes with another blueprint, at which nobody would stop. A label
    that has become wrong since it was given is in nobody's way.
    """
    from phaseline.plan.requests.request_validation import stop_problems
    from phaseline.use_cases.loading.resource_nodes import phases_on_paths

    kept = labelled(place.store, deployment) if deployment else ()
    new = _written(topologies[-1]) if not deployment or len(topologies) > 1 else ()
    given = (*request.breakpoints, *(one for one in new if one not in kept))
    if given:
        phases = [phase for one in topologies for phase in phases_on_paths(place, one.blueprint)]
        problems = tuple(stop_problems(given, topologies, dict.fromkeys(phases)))
        if problems:
            raise ProblemsError(problems)
    stops = (*request.breakpoints, *kept) if deployment else given
    return altered(request, breakpoints=tuple(dict.fromkeys(stops)))


def labelled(store: Store, deployment: int) -> tuple[Breakpoint, ...]:
    """The breakpoints that a deployment or cluster has by its labels; what is none of these is left out."""
    found: list[Breakpoint] = []
    for text in (label.value for label in store.labels.of(deployment) if label.key == LABEL):
        with suppress(ValueError):
            found.append(read_breakpoint(text))
    return tuple(found)


def _written(topology: Topology) -> tuple[Breakpoint, ...]:
    """Those that are labels in the blueprint. Raises: PL-P047."""
    return tuple(read(text) for text in topology.blueprint.labels.get(LABEL, ()) if isinstance(text, str))


def read(text: str, timeout_s: float | None = None, *, of: Callable[[str], Breakpoint] = read_breakpoint) -> Breakpoint:
    """A breakpoint as it is written. ``of``: what reads it. Raises: PL-P047."""
    try:
        found = of(text)
        return altered(found, timeout_s=timeout_s) if found.timeout_s is None else found
    except ValueError as error:
        mend = "Write POINT=NAMES, such as pre-create=app_* or post-Acme.Create=node-*."
        raise fail("PL-P047", str(error), mend) from None


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


def add(place: Workplace, deployment: str, points: Sequence[str] = (), *, timeout_s: float | None = None) -> Kept:
    """Let all executions of a deployment or cluster that are begun from now on stop there, too; all that it has then.

    They are its labels. Raises: PL-C010, PL-P047 for those at which nobody would stop.
    """
    row = find_deployment(place.store, deployment, to_change=bool(points))
    given = [read(text, timeout_s) for text in points]
    found = change_labels(place, row.name, add=[f"{LABEL}={one}" for one in given])
    begun = [one.id for one in place.store.executions(row.number, only_open=True)] if found.added else []
    return Kept(row.name, _kept_texts(place.store, row.number), added=found.added, begun=begun)


def remove(place: Workplace, deployment: str, points: Sequence[str]) -> Kept:
    """Let executions that are begun from now on stop there no more. Who stands there stays until it is cleared.

    A point alone means all its breakpoints. Raises: PL-C010, PL-P047 for what it has not.
    """
    row = find_deployment(place.store, deployment, to_change=True)
    texts = [label.value for label in place.store.labels.of(row.number) if label.key == LABEL]
    gone: dict[str, None] = {}
    for point in points:
        mine = [text for text in texts if point in {text, text.partition("=")[0]} or str(read(point)) == text]
        if not mine:
            has = ", ".join(texts) or "none"
            raise fail("PL-P047", f"'{row.name}' has no breakpoint '{point}'", f"It has: {has}.", subject=point)
        gone |= dict.fromkeys(mine)
    found = change_labels(place, row.name, remove=[f"{LABEL}={text}" for text in gone])
    return Kept(row.name, _kept_texts(place.store, row.number), removed=found.removed)


def list_kept(place: Workplace, deployment: str | None = None) -> Sequence[Kept]:
    """The deployments and clusters that keep breakpoints, or what one of them keeps, if anything."""
    store = place.store
    if deployment is not None:
        rows = [find_deployment(store, deployment)]
    else:
        numbers = store.labels.having([Label(LABEL, "")])
        rows = [row for row in store.deployments() if row.number in numbers] if numbers else []
    found = [Kept(row.name, _kept_texts(store, row.number)) for row in rows]
    return [one for one in found if one.breakpoints]


def _kept_texts(store: Store, deployment: int) -> list[str]:
    return [str(one) for one in labelled(store, deployment)]


def refuse_unfit(place: Workplace, row: DeploymentRow, labels: Sequence[Label]) -> None:
    """Raise PL-P047 for labels that are to be breakpoints of a deployment or cluster, and at which nobody would stop."""
    given = [read(label.value) for label in labels if label.key == LABEL]
    problems = tuple(_unfit(place, row, given)) if given else ()
    if problems:
        raise ProblemsError(problems)


def _unfit(place: Workplace, row: DeploymentRow, given: Sequence[Breakpoint]) -> Iterator[Problem]:
    from phaseline.plan.requests.request_validation import stop_problems
    from phaseline.use_cases.commands.resources.apply import known_phases
    from phaseline.use_cases.loading.resource_nodes import phases_on_paths
    from phaseline.use_cases.prepare.breakpoints import unfit_stops

    if row.kind == "resources":
        yield from unfit_stops(given, (), known_phases(place))
        return
    topology = place.store.topology(row.number)
    yield from stop_problems(given, [topology], phases_on_paths(place, topology.blueprint))


def list_breakpoints(place: Workplace, deployment: str | None = None) -> Sequence[Stopped]:
    """Who stands at a breakpoint, of all deployments or of one, the oldest execution first."""
    number = find_deployment(place.store, deployment).number if deployment else None
    rows = place.store.executions(number, only_open=True)
    return [one for row in rows if row.request.breakpoints for one in stopped_in(place.store, row)]


def _cleared_again(place: Workplace, found: GivenOrder, arguments: Mapping[str, object]) -> Sequence[Stopped]:
    cleared: Any = found.answer["cleared"]
    stopped = [Stopped(**one) for one in cleared]
    rows = [place.store.execution(id) for id, _ in dict.fromkeys((one.execution, one.graph) for one in stopped)]
    asked = zip(rows, found.requests, strict=True)
    open_ones = [Ticket(row, number) for row, number in asked if row is not None and not row.status.is_ended]
    watcher: Any = arguments["watcher"]
    _seen_through(place, open_ones, watcher, detach=bool(arguments["detach"]))
    return stopped


@once("clear", _cleared_again)
def clear(
    place: Workplace,
    point: str,
    *,
    deployment: str | None = None,
    instances: Sequence[str] = (),
    watcher: Watcher | None = None,
    detach: bool = False,
    given: NewOrder | None = None,
) -> Sequence[Stopped]:
    """Let those go on that stand at a point, or only these of them; who they were.

    ``point``: as a breakpoint is given, so that a bare name is before it, and names may follow; ``*`` stands for any part of it, and alone
    for every point. Where no engine is at work this process is it, until the execution has ended or stops again; with
    ``detach`` another one is. Resources go on with the next engine.
    The instances may be named by their node or by the beginning of their id. Raises: PL-C092 if nobody stands there, PL-P047 for what is no point.
    """
    meant = read(point, of=read_points)
    standing = list_breakpoints(place, deployment)
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
        raise fail("PL-C092", f"nobody{whom} has stopped at '{_told(meant)}'", mend, subject=point)
    tickets: list[Ticket] = []
    with place.store.as_one(given) as answer:
        answer["cleared"] = [fields_of(one) for one in chosen]
        for execution, graph in dict.fromkeys((one.execution, one.graph) for one in chosen):
            row = place.store.execution(execution)
            assert row is not None, "it is open"
            mine = [one for one in chosen if (one.execution, one.graph) == (execution, graph)]
            points = ", ".join(dict.fromkeys(one.point for one in mine))
            positions: list[Value] = [one.position for one in mine]
            body: dict[str, Value] = {"graph": graph, "positions": positions, "reason": f"cleared {points}"}
            tickets.append(ask(place, RequestKind.COMPLETE, row, body))
    _seen_through(place, tickets, watcher, detach=detach)
    return chosen


def _seen_through(place: Workplace, tickets: Sequence[Ticket], watcher: Watcher | None, *, detach: bool) -> None:
    """Await the answers about resources; where no engine is at work, carry the other executions on. Raises: what the owner refused."""
    of_resources = [ticket.request for ticket in tickets if ticket.row.request.workflow == REACH]
    if of_resources:
        settle(place, of_resources)
        refuse_refused(place, of_resources)
    for ticket in tickets:
        if ticket.request not in of_resources and place.store.owner() is None:
            conduct(place, ticket, watcher, detach=detach)


def _is_meant(one: Stopped, meant: Breakpoint) -> bool:
    return meant.covers(one.point) and (meant.concerns(one.node) or meant.concerns(one.instance))


def _told(meant: Breakpoint) -> str:
    """As somebody writes it who means everybody there."""
    return str(meant).removesuffix("=*")


def _is_named(one: Stopped, instances: Sequence[str]) -> bool:
    return any(one.node == name or one.instance.startswith(name) for name in instances)


def stopped_in(store: Store, row: ExecutionRow) -> Iterator[Stopped]:
    """Who stands at a breakpoint in one execution."""
    topology = store.topology(row.deployment)
    for known in store.graphs(row.number):
        if EntryStatus.SLEEPING not in bytes(store.statuses(known.id)):
            continue
        graph = store.graph(known.id)
        steps = [step for step in graph.steps if step.phase.startswith(PREFIX)]
        if not steps:
            continue
        statuses = as_statuses(store.statuses(known.id))
        notes = {note.position: note.message for note in store.notes(known.id)}
        for step in steps:
            mine = np.arange(step.first, step.first + step.count)
            for position in mine[statuses[mine] == EntryStatus.SLEEPING].tolist():
                number = int(graph.subject[position])
                yield Stopped(
                    step.phase.removeprefix(PREFIX),
                    topology.ids[number],
                    topology.nodes[int(topology.node[number])].name,
                    row.deployment_name,
                    row.id,
                    notes.get(position, ""),
                    known.id,
                    position,
                )
