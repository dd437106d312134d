"""The lines of an execution while they come, for programs that iterate over them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from phaseline.model.status import ExecutionStatus
from phaseline.use_cases.finding import find_execution
from phaseline.use_cases.tail import Tail

if TYPE_CHECKING:
    from phaseline.use_cases.values import Line
    from phaseline.use_cases.workplace import Workplace

LOOK_S = 0.2
"""How often it is looked for something new."""
PATIENCE_S = 10.0
"""So long nobody may own the store until it is taken for granted that nothing will come."""


def lines_of(place: Workplace, id: str | None = None, *, deployment: str | None = None) -> Iterator[Line]:
    """Everything from the beginning on, and then what is new; ends when the execution has ended or needs a person.

    It ends as well when nobody runs the execution for ten seconds. Raises, at once: PL-C011 if there is no such one.
    """
    return _lines(place, find_execution(place.store, id, deployment).id)


def _lines(place: Workplace, id: str) -> Iterator[Line]:
    store, tail = place.store, Tail(place, id)
    seen_at = time.monotonic()
    while True:
        row = store.execution(id)
        is_over = row is None or row.status.is_ended or row.status is ExecutionStatus.ATTENTION
        while lines := tail.new():
            yield from lines
        if is_over:
            return
        now = time.monotonic()
        if store.owner() is not None:
            seen_at = now
        elif now - seen_at > PATIENCE_S:
            return
        time.sleep(LOOK_S)
