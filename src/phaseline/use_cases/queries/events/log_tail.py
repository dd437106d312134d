"""New lines in the logs and events of an execution since the last look, for watching it live."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from phaseline.use_cases.lookup.find import find_execution
from phaseline.use_cases.queries.events.events_and_logs import EventLook, instance_id, instance_ids, instance_number
from phaseline.use_cases.queries.events.line_filter import ANY, LineFilter, Sieve
from phaseline.views.views import Line

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import LogLine

AT_ONCE = 1_000
"""The number of lines of each kind read by one look; the rest comes with later looks."""


class LogTail:
    """Live lines of logs, those ``wanted``, of one instance only if it is named; remembers its position."""

    def __init__(
        self,
        ctx: RequestContext,
        id: str | None = None,
        *,
        deployment: str | None = None,
        instance: str | None = None,
        wanted: LineFilter = ANY,
    ) -> None:
        """Watch the execution of this id, or the latest of a deployment. Raises: PL-C011, PL-C012, PL-C013, PL-C018."""
        self._store = store = ctx.store
        self.row = find_execution(store, id, deployment)
        self._instance = None if instance is None else instance_number(store, self.row, instance)
        self._ids = instance_ids(store, self.row)
        self._sieve = Sieve(wanted, store.topology(self.row.deployment)) if wanted else None
        self._after = 0

    def new(self, limit: int | None = None) -> Iterator[list[Line]]:
        """Lines that came since the last look: the last ``limit`` of them, or all in pages of a thousand."""
        kept: deque[Line] = deque(maxlen=limit)
        while rows := self._store.logs(self.row.number, after=self._after, instance=self._instance, limit=AT_ONCE):
            self._after = rows[-1].sequence
            lines = [line for line in map(self._line, rows) if self._sieve is None or self._sieve.lets_through(line)]
            if limit is None:
                yield lines
            kept.extend(lines if limit is not None else ())
        if kept:
            yield list(kept)

    def _line(self, row: LogLine) -> Line:
        who = instance_id(self._ids, row.instance)
        return Line(row.at, row.level, self.row.deployment_name, who, row.operation, row.text)


class EventTail:
    """Live events, those ``wanted``; remembers the columns of the last look, not the lines."""

    def __init__(
        self, ctx: RequestContext, id: str | None = None, *, deployment: str | None = None, wanted: LineFilter = ANY
    ) -> None:
        """Watch the execution of this id, or the latest of a deployment. Raises: PL-C011, PL-C012, PL-C013, PL-C018."""
        self._store = store = ctx.store
        self.row = find_execution(store, id, deployment)
        self._wanted = wanted
        Sieve(wanted, store.topology(self.row.deployment))  # a filter that does not fit raises before anything is read
        self._look: EventLook | None = None

    def new(self, limit: int | None = None) -> Iterator[list[Line]]:
        """Events that came since the last look, a page at a time; of the first look the last ``limit``."""
        former, self._look = self._look, EventLook(self._store, self.row, self._look)
        if former is None:
            yield from self._look.pages(self._wanted, limit).pages
        else:
            yield from self._look.added(former, self._wanted).pages


class Tail:
    """Live logs and events of an execution; remembers its position."""

    def __init__(self, ctx: RequestContext, execution: str) -> None:
        """Watch this execution from its first line on."""
        self._store = ctx.store
        self._row = ctx.store.execution(execution)
        self._ids = instance_ids(ctx.store, self._row) if self._row is not None else ()
        self._log = self._event = 0

    def new(self) -> list[Line]:
        """Lines that came since the last look, by time."""
        row = self._row
        if row is None:
            return []
        logs = self._store.logs(row.number, after=self._log, limit=AT_ONCE)
        events = self._store.events(row.number, after=self._event, limit=AT_ONCE)
        self._log = logs[-1].sequence if logs else self._log
        self._event = events[-1].sequence if events else self._event
        found = [
            Line(
                line.at,
                line.level,
                row.deployment_name,
                instance_id(self._ids, line.instance),
                line.operation,
                line.text,
            )
            for line in logs
        ]
        found += [
            Line(
                event.at,
                event.type,
                row.deployment_name,
                instance_id(self._ids, event.instance),
                event.operation,
                event.message,
                event.actor,
            )
            for event in events
        ]
        found.sort(key=lambda line: line.at)
        return found
