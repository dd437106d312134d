"""Logs and events of an execution: lines that scripts and plugins wrote, and events in the terms of Cloudify (W12)."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from phaseline.lang.fast_dataclasses import frozen
from phaseline.model.problems.problem import problem_error
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.use_cases.lookup.find import find_execution, find_instance
from phaseline.use_cases.lookup.read_ahead import read_calls
from phaseline.use_cases.queries.events import event_pages as events_event_pages
from phaseline.use_cases.queries.events.event_columns import EventColumns, rank
from phaseline.use_cases.queries.events.line_filter import ANY, LineFilter, Sieve
from phaseline.use_cases.queries.resources import path_events
from phaseline.views.views import Line

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import EventRow, ExecutionRow
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.use_cases.lookup.read_ahead import ReadAhead
    from phaseline.use_cases.queries.events.event_pages import Narrated

Causes = dict[tuple[int, str], "deque[EventRow]"]
"""{(number of the called instance, operation): stored events of its calls, oldest first}."""
READ_AT_ONCE = 10_000
"""Number of rows of logs or events that one query fetches."""
BY_HAND = "completed_by_hand"
CAUSES = frozenset({"task_failed", "task_rescheduled", BY_HAND})
"""Types of the stored events that record how a call of an entry ended."""


@frozen
class EventHistory:
    """The latest lines of one execution, oldest first. ``total``: the number of all lines that pass the filter."""

    execution: str
    deployment: str
    lines: Sequence[Line]
    total: int = 0


def logs(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    instance: str | None = None,
    wanted: LineFilter = ANY,
    limit: int | None = None,
) -> EventHistory:
    """Return the last ``limit`` log lines of scripts, plugins and the engine that pass the filter ``wanted``.

    ``instance``: return only lines of this instance.
    """
    store = ctx.store
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
            del found[: max(0, len(found) - limit)]
        if len(rows) < READ_AT_ONCE:
            break
    return EventHistory(row.id, row.deployment_name, found, total)


@frozen
class EventPages:
    """Events of one execution by time: the last ``shown`` of ``total`` events. ``pages`` can be read only once."""

    execution: str
    deployment: str
    pages: Iterator[list[Line]]
    shown: int
    total: int


def events(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    wanted: LineFilter = ANY,
    limit: int | None = None,
) -> EventHistory:
    """Return the last ``limit`` events that pass the filter ``wanted``.

    They are events of the execution itself, and events of its instances, which are computed from their calls.
    """
    found = event_pages(ctx, id, deployment=deployment, wanted=wanted, limit=limit)
    return EventHistory(found.execution, found.deployment, [line for page in found.pages for line in page], found.total)


def event_pages(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    wanted: LineFilter = ANY,
    limit: int | None = None,
) -> EventPages:
    """Return the events that ``events`` returns, but in pages, so that not all lines are in memory at once."""
    with ctx.store.at_once():
        row = find_execution(ctx.store, id, deployment)
        look = EventLook(ctx.store, row, reads=read_calls(ctx.store, row))
    return look.pages(wanted, limit)


class EventLook:
    """The events of an execution as stored at one time. ``former``: an earlier ``EventLook``, for ``added``."""

    def __init__(
        self, store: TenantStore, row: ExecutionRow, former: EventLook | None = None, *, reads: ReadAhead | None = None
    ) -> None:
        """Read the execution, its graphs, and the events stored since ``former`` was created, or all events.

        Results of calls are read when lines are computed. ``reads``: everything except the stored events, if the
        caller has read it, together with ``row``, in the same transaction.
        """
        known = store if reads is None else reads
        causes: Causes = {}
        self._told: list[tuple[Line, int]] = []
        with store.at_once():
            self.row = row = row if reads is not None else store.execution(row.id) or row
            self._topology = known.topology(row.deployment)
            self.last: int = 0 if former is None else former.last
            for event in _event_rows(store, row, self.last):
                self.last = event.sequence
                if event.type in CAUSES:
                    causes.setdefault((event.instance, event.operation), deque()).append(event)
                if event.type not in CAUSES or event.type == BY_HAND:
                    self._told.append((self._line(event), event.instance))
            self.narrated: Narrated | None = None
            self.resources: list[Line] = []
            if row.request.workflow == REACH_WORKFLOW:
                self.resources = list(path_events.path_lines(known, row))
            else:
                self.narrated = events_event_pages.Narrated(
                    known, row, causes, None if former is None else former.narrated
                )

    def _line(self, event: EventRow) -> Line:
        name = instance_id(self._topology.ids, event.instance)
        return Line(event.at, event.type, self.row.deployment_name, name, event.operation, event.message, event.actor)

    def pages(self, wanted: LineFilter, limit: int | None) -> EventPages:
        """Return the last ``limit`` events that pass the filter ``wanted``.

        Earlier events are not computed, unless the filter has a text. ``limit`` None: return all events.
        """
        sieve = Sieve(wanted, self._topology) if wanted else None
        if limit is not None and not wanted.text:  # a text is searched for in every line
            return self._last(sieve, limit)
        found = self._columns([(line, -1) for line in self.resources], sieve)
        if self.narrated is not None:
            _fill(found, self.narrated.by_instance(), sieve)
        return self._paged(found.pages(limit), len(found), limit)

    def added(self, former: EventLook, wanted: LineFilter) -> EventPages:
        """Return the events that pass the filter ``wanted`` and were not yet there when ``former`` was created."""
        sieve = Sieve(wanted, self._topology) if wanted else None
        had = Counter(former.resources)
        new = [(line, -1) for line in self.resources if not _taken(had, line)]
        found = self._columns(new, sieve)
        if self.narrated is not None:
            _fill(found, self.narrated.added(), sieve)
        return self._paged(found.pages(), len(found), None)

    def _columns(self, others: Sequence[tuple[Line, int]], sieve: Sieve | None) -> EventColumns:
        found = EventColumns(self._topology, self.row.deployment_name)
        told, self._told = self._told, []  # the look is kept, these lines are no longer needed
        for line, instance in (*told, *others):
            if sieve is None or sieve.lets_through(line):
                found.add(line, instance)
        return found

    def _last(self, sieve: Sieve | None, limit: int) -> EventPages:
        is_wanted = _anything if sieve is None else sieve.lets_through
        told = [line for line in (*(line for line, _ in self._told), *self.resources) if is_wanted(line)]
        total = len(told)
        if self.narrated is not None:
            found, count = self.narrated.last(limit, is_wanted, None if sieve is None else sieve.instances)
            told, total = told + found, total + count
        told.sort(key=lambda line: (line.at, rank(line.level)))
        return self._paged(iter([told[max(0, len(told) - limit) :]]), total, limit)

    def _paged(self, pages: Iterator[list[Line]], total: int, limit: int | None) -> EventPages:
        shown = total if limit is None else min(limit, total)
        return EventPages(self.row.id, self.row.deployment_name, pages, shown, total)


def _fill(columns: EventColumns, stories: Iterable[tuple[int, Sequence[Line]]], sieve: Sieve | None) -> None:
    for number, lines in stories:
        for line in lines:
            if sieve is None or sieve.lets_through(line):
                columns.add(line, number)


def _taken(had: Counter[Line], line: Line) -> bool:
    """Return whether ``had`` contains the line, and remove the line from it."""
    had[line] -= 1
    return had[line] >= 0


def _anything(_: Line) -> bool:
    return True


def instance_ids(store: TenantStore, row: ExecutionRow) -> Sequence[str]:
    """Return the instance ids by instance number.

    This also works for a deleted deployment: its topology stays stored until its executions are purged.
    """
    return store.topology(row.deployment).ids


def instance_number(store: TenantStore, row: ExecutionRow, text: str) -> int:
    """Return the number of the instance with this id, or with this unique beginning of an id.

    The instance belongs to the deployment of the execution, which may have been deleted. Raises: PL-C012, PL-C013.
    """
    number = store.topology(row.deployment).number_of.get(text)
    if number is not None:
        return number
    now = store.deployment(row.deployment_name)
    if now is None or now.number != row.deployment:
        raise problem_error("PL-C012", f"the execution {row.id} knows no instance '{text}'", "leave --instance out")
    return find_instance(store, text, row.deployment_name)[2]


def instance_id(ids: Sequence[str], number: int) -> str:
    """Return the id of the instance with this number, or "" if the line is about no instance (number -1)."""
    return ids[number] if 0 <= number < len(ids) else ""


def _event_rows(store: TenantStore, row: ExecutionRow, after: int) -> Iterator[EventRow]:
    while rows := store.events(row.number, after=after, limit=READ_AT_ONCE):
        yield from rows
        after = rows[-1].sequence
        if len(rows) < READ_AT_ONCE:
            return
