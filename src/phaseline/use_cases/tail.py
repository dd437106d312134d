"""What is new in the logs and events of an execution since the last look, for whoever watches it live."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from phaseline.use_cases.finding import find_execution
from phaseline.use_cases.history import instance_id, instance_ids, instance_number
from phaseline.use_cases.line_filter import ANY, LineFilter, Sieve
from phaseline.use_cases.values import Line

if TYPE_CHECKING:
    from phaseline.use_cases.workplace import Workplace

AT_ONCE = 1_000
"""Lines of each kind taken by one look; the rest comes with the next ones."""


class LogTail:
    """Lines of logs as they come, those ``wanted``, of one instance only if it is named; remembers how far it has read."""

    def __init__(
        self,
        place: Workplace,
        id: str | None = None,
        *,
        deployment: str | None = None,
        instance: str | None = None,
        wanted: LineFilter = ANY,
    ) -> None:
        """Of the execution of this id, or the latest of a deployment. Raises: PL-C011, PL-C012, PL-C013, PL-C018."""
        self._store = store = place.store
        self.row = find_execution(store, id, deployment)
        self._instance = None if instance is None else instance_number(store, self.row, instance)
        self._ids = instance_ids(store, self.row)
        self._sieve = Sieve(wanted, store.topology(self.row.deployment)) if wanted else None
        self._after = 0

    def is_over(self) -> bool:
        """Whether the execution has ended: a retry may write more."""
        row = self._store.execution(self.row.id)
        return row is None or row.status.is_ended

    def new(self, limit: int | None = None) -> list[Line]:
        """Lines that came since the last look, the last ``limit`` of them."""
        found: deque[Line] = deque(maxlen=limit)
        while rows := self._store.logs(self.row.number, after=self._after, instance=self._instance, limit=AT_ONCE):
            self._after = rows[-1].sequence
            for one in rows:
                who = instance_id(self._ids, one.instance)
                line = Line(one.at, one.level, self.row.deployment_name, who, one.operation, one.text)
                if self._sieve is None or self._sieve.lets_through(line):
                    found.append(line)
        return list(found)


class Tail:
    """Remembers how far it has read."""

    def __init__(self, place: Workplace, execution: str) -> None:
        """Of this execution everything from now on that is not read yet, its beginning included."""
        self._store = place.store
        self._row = place.store.execution(execution)
        self._ids = instance_ids(place.store, self._row) if self._row is not None else ()
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
