"""Read the log lines and events of an execution that are new since the last read, for watching it live."""

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
"""Number of log lines, and likewise of events, that one query fetches; later queries fetch the rest."""


class LogTail:
    """Reads new log lines of an execution that pass the filter ``wanted``, and remembers how far it has read.

    ``instance``: read only lines of this instance.
    """

    def __init__(
        self,
        ctx: RequestContext,
        id: str | None = None,
        *,
        deployment: str | None = None,
        instance: str | None = None,
        wanted: LineFilter = ANY,
    ) -> None:
        """Watch the execution with this id, or the latest one of ``deployment``.

        Raises: PL-C011, PL-C012, PL-C013, PL-C018.
        """
        self._store = store = ctx.store
        self.row = find_execution(store, id, deployment)
        self._instance = None if instance is None else instance_number(store, self.row, instance)
        self._ids = instance_ids(store, self.row)
        self._sieve = Sieve(wanted, store.topology(self.row.deployment)) if wanted else None
        self._after = 0

    def new(self, limit: int | None = None) -> Iterator[list[Line]]:
        """Yield the lines that are new since the last call, in pages of a thousand.

        With ``limit``, yield only the last ``limit`` of them, as one page.
        """
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
    """Reads new events that pass the filter ``wanted``.

    To recognize new events it keeps the columns of the last read, not the lines.
    """

    def __init__(
        self, ctx: RequestContext, id: str | None = None, *, deployment: str | None = None, wanted: LineFilter = ANY
    ) -> None:
        """Watch the execution with this id, or the latest one of ``deployment``.

        Raises: PL-C011, PL-C012, PL-C013, PL-C018.
        """
        self._store = store = ctx.store
        self.row = find_execution(store, id, deployment)
        self._wanted = wanted
        Sieve(wanted, store.topology(self.row.deployment))  # a filter that does not fit raises before anything is read
        self._look: EventLook | None = None

    def new(self, limit: int | None = None) -> Iterator[list[Line]]:
        """Yield the events that are new since the last call, in pages.

        The first call yields the last ``limit`` events; ``limit`` None: all.
        """
        former, self._look = self._look, EventLook(self._store, self.row, self._look)
        if former is None:
            yield from self._look.pages(self._wanted, limit).pages
        else:
            yield from self._look.added(former, self._wanted).pages


class Tail:
    """Reads new log lines and stored events of an execution together, and remembers how far it has read."""

    def __init__(self, ctx: RequestContext, execution: str) -> None:
        """Watch the execution with this id from its first line on."""
        self._store = ctx.store
        self._row = ctx.store.execution(execution)
        self._ids = instance_ids(ctx.store, self._row) if self._row is not None else ()
        self._log = self._event = 0

    def new(self) -> list[Line]:
        """Return the lines that are new since the last call, by time; at most ``AT_ONCE`` of each kind."""
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
