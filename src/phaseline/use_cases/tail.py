"""What is new in the logs and events of an execution since the last look, for whoever watches it live."""

from __future__ import annotations

from typing import TYPE_CHECKING

from phaseline.use_cases.history import instance_id, instance_ids
from phaseline.use_cases.values import Line

if TYPE_CHECKING:
    from phaseline.use_cases.workplace import Workplace

AT_ONCE = 1_000
"""Lines of each kind taken by one look; the rest comes with the next ones."""


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
