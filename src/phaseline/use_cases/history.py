"""What happened in an execution: the lines that scripts and plugins wrote, and events in the words of the ancestor (W12)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from phaseline.model.frozen import frozen
from phaseline.model.graph import owners_of
from phaseline.model.problem import fail
from phaseline.model.resources import REACH
from phaseline.use_cases.finding import find_execution, find_instance
from phaseline.use_cases.line_filter import ANY, LineFilter, Sieve
from phaseline.use_cases.values import Line

if TYPE_CHECKING:
    from phaseline.model.graph import Graph
    from phaseline.model.rows import EventRow, ExecutionRow
    from phaseline.model.topology import Topology
    from phaseline.ports import Store
    from phaseline.use_cases.narrated import Narrated
    from phaseline.use_cases.workplace import Workplace

Causes = dict[tuple[int, str], "deque[EventRow]"]
"""{(instance that was called, operation): stored events of its calls, oldest first}."""
READ_AT_ONCE = 10_000
"""Rows of logs and events fetched with one question."""
BY_HAND = "completed_by_hand"
CAUSES = frozenset({"task_failed", "task_rescheduled", BY_HAND})
"""Stored events that say how a call of an entry ended."""


@frozen
class History:
    """Lines of one execution, oldest first: the last of ``total``."""

    execution: str
    deployment: str
    lines: Sequence[Line]
    total: int = 0


def logs(
    place: Workplace,
    id: str | None = None,
    *,
    deployment: str | None = None,
    instance: str | None = None,
    wanted: LineFilter = ANY,
    limit: int | None = None,
) -> History:
    """The last ``limit`` lines of scripts, plugins and the engine; of one instance only if it is named, and those ``wanted``."""
    store = place.store
    row = find_execution(store, id, deployment)
    number = None
    if instance is not None:
        number = instance_number(store, row, instance)
    ids = instance_ids(store, row)
    sieve = Sieve(wanted, store.topology(row.deployment)) if wanted else None
    found: list[Line] = []
    after = total = 0
    while rows := store.logs(row.number, after=after, instance=number, limit=READ_AT_ONCE):
        after = rows[-1].sequence
        lines = [
            Line(line.at, line.level, row.deployment_name, instance_id(ids, line.instance), line.operation, line.text)
            for line in rows
        ]
        lines = lines if sieve is None else [line for line in lines if sieve.lets_through(line)]
        total += len(lines)
        found.extend(lines)
        if limit is not None:
            del found[:-limit]
        if len(rows) < READ_AT_ONCE:
            break
    return History(row.id, row.deployment_name, found, total)


def events(
    place: Workplace,
    id: str | None = None,
    *,
    deployment: str | None = None,
    wanted: LineFilter = ANY,
    limit: int | None = None,
) -> History:
    """The last ``limit`` events ``wanted``: those of the execution, and what each instance went through, computed from its calls."""
    store = place.store
    row = find_execution(store, id, deployment)
    ids = instance_ids(store, row)
    told: list[Line] = []
    causes: Causes = {}
    for event in _event_rows(store, row):
        if event.type in CAUSES:
            causes.setdefault((event.instance, event.operation), deque()).append(event)
        if event.type not in CAUSES or event.type == BY_HAND:
            name = instance_id(ids, event.instance)
            told.append(
                Line(event.at, event.type, row.deployment_name, name, event.operation, event.message, event.actor)
            )
    if row.request.workflow == REACH:
        from phaseline.use_cases.resources.telling import told_of

        told.extend(told_of(store, row))
        narrated = None
    else:
        from phaseline.use_cases.narrated import Narrated

        narrated = Narrated(store, row, causes)
    return _cut(store, row, told, narrated, wanted, limit)


def _cut(
    store: Store, row: ExecutionRow, told: list[Line], narrated: Narrated | None, wanted: LineFilter, limit: int | None
) -> History:
    """The last of the lines ``told`` and of those ``narrated``, of which only as many are told as are needed."""
    sieve = Sieve(wanted, store.topology(row.deployment)) if wanted else None
    is_wanted = _anything if sieve is None else sieve.lets_through
    told = list(filter(is_wanted, told))
    total = len(told)
    if narrated is None:
        pass
    elif limit is None or wanted.text:  # a text is looked for in every line
        found = list(narrated.all() if sieve is None else filter(is_wanted, narrated.all()))
        told, total = told + found, total + len(found)
    else:
        found, count = narrated.last(limit, is_wanted, None if sieve is None else sieve.instances)
        told, total = told + found, total + count
    told.sort(key=lambda line: (line.at, _rank(line.level)))
    return History(row.id, row.deployment_name, told if limit is None else told[max(0, len(told) - limit) :], total)


def _anything(_: Line) -> bool:
    return True


def _rank(kind: str) -> int:
    """Of lines of one millisecond: how an execution ended comes last, what else it did as a whole first."""
    if kind in {"workflow_succeeded", "workflow_failed", "workflow_cancelled"}:
        return 2
    return 1 if kind in {"task", "workflow_node_event", "late_result"} else 0


def instance_ids(store: Store, row: ExecutionRow) -> Sequence[str]:
    """Instance ids by number. A deleted deployment's topology stays until its executions are purged."""
    return store.topology(row.deployment).ids


def instance_number(store: Store, row: ExecutionRow, text: str) -> int:
    """The instance of this id, or with this beginning, in the execution's deployment, be it deleted. Raises: PL-C012, PL-C013."""
    number = store.topology(row.deployment).number_of.get(text)
    if number is not None:
        return number
    now = store.deployment(row.deployment_name)
    if now is None or now.number != row.deployment:
        raise fail("PL-C012", f"the execution {row.id} knows no instance '{text}'", "Leave --instance out.")
    return find_instance(store, text, row.deployment_name)[2]


def instance_id(ids: Sequence[str], number: int) -> str:
    """The id of an instance, empty where the line is about none."""
    return ids[number] if 0 <= number < len(ids) else ""


def _event_rows(store: Store, row: ExecutionRow) -> Iterator[EventRow]:
    after = 0
    while rows := store.events(row.number, after=after, limit=READ_AT_ONCE):
        yield from rows
        after = rows[-1].sequence
        if len(rows) < READ_AT_ONCE:
            return


def owners(graph: Graph, topology: Topology) -> np.ndarray:
    """By position: the instance in whose sequence an entry stands, -1 for milestones."""
    found = np.full(len(graph), -1, np.int64)
    for step in graph.steps:
        subject = graph.subject[step.first : step.first + step.count]
        found[step.first : step.first + step.count] = owners_of(topology, step.kind, subject)
    return found
