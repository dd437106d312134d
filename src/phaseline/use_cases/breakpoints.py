"""Instances that have stopped at a breakpoint: which they are, and letting them go on (H46)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.breakpoints import LABEL, PREFIX, Breakpoint, read_breakpoint
from phaseline.model.frozen import altered, frozen
from phaseline.model.problem import fail
from phaseline.model.rows import RequestKind
from phaseline.model.status import EntryStatus
from phaseline.use_cases.asking import ask
from phaseline.use_cases.executions import as_statuses
from phaseline.use_cases.finding import find_deployment
from phaseline.use_cases.owning import conduct

if TYPE_CHECKING:
    from phaseline.model.blueprint import Value
    from phaseline.model.execution import Request
    from phaseline.model.rows import ExecutionRow
    from phaseline.ports import Store
    from phaseline.use_cases.watching import Watcher
    from phaseline.use_cases.workplace import Workplace

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


def with_breakpoints(place: Workplace, deployment: int, request: Request) -> Request:
    """The request with the breakpoints of its deployment, which are labels of it; what is none of these is left out."""
    found: list[Breakpoint] = []
    for text in (label.value for label in place.store.labels.of(deployment) if label.key == LABEL):
        try:
            found.append(read_breakpoint(text))
        except ValueError:
            continue
    more = tuple(one for one in found if one not in request.breakpoints)
    return altered(request, breakpoints=request.breakpoints + more) if more else request


def list_breakpoints(place: Workplace, deployment: str | None = None) -> Sequence[Stopped]:
    """Who stands at a breakpoint, of all deployments or of one, the oldest execution first."""
    number = find_deployment(place.store, deployment).number if deployment else None
    rows = place.store.executions(number, only_open=True)
    return [one for row in rows if row.request.breakpoints for one in stopped_in(place.store, row)]


def clear(
    place: Workplace,
    point: str,
    *,
    deployment: str | None = None,
    instances: Sequence[str] = (),
    watcher: Watcher | None = None,
) -> Sequence[Stopped]:
    """Let those go on that stand at a point, or only these of them; who they were.

    Where no engine is at work this process is it, until the execution has ended or stops again. The instances may be named by their node or by the beginning of their id. Raises: PL-C092 if nobody stands there.
    """
    standing = list_breakpoints(place, deployment)
    chosen = [one for one in standing if one.point == point and (not instances or _is_named(one, instances))]
    if not chosen:
        told = [f"{one.point} of {one.instance}" for one in standing[:NAMED]]
        more = f" and {len(standing) - NAMED:,} more" if len(standing) > NAMED else ""
        mend = (
            f"Somebody stands at: {', '.join(told)}{more}."
            if told
            else "Nobody stands at any: phaseline breakpoints list"
        )
        whom = f" of {', '.join(instances)}" if instances else ""
        raise fail("PL-C092", f"nobody{whom} has stopped at '{point}'", mend, subject=point)
    for execution, graph in dict.fromkeys((one.execution, one.graph) for one in chosen):
        row = place.store.execution(execution)
        assert row is not None, "it is open"
        mine = [one.position for one in chosen if (one.execution, one.graph) == (execution, graph)]
        body: dict[str, Value] = {"graph": graph, "positions": list(mine), "reason": f"cleared {point}"}
        ticket = ask(place, RequestKind.COMPLETE, row, body)
        if place.store.owner() is None:
            conduct(place, ticket, watcher)
    return chosen


def _is_named(one: Stopped, instances: Sequence[str]) -> bool:
    return any(one.node == name or one.instance.startswith(name) for name in instances)


def clearing(point: str, deployment: str) -> str:
    """The command that lets those go on who stand at a point."""
    return f"phaseline breakpoints clear {point} -d {deployment}"


def stopped_in(store: Store, row: ExecutionRow) -> Iterator[Stopped]:
    """Who stands at a breakpoint in one execution."""
    topology = store.topology(row.deployment)
    for known in store.graphs(row.number):
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
