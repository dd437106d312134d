"""Live lines of an execution: decide when to read new lines, and when to stop waiting for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

from phaseline.app.watcher import LOOK_S, PATIENCE_S
from phaseline.model.graph.status import ExecutionStatus
from phaseline.store.sql import errors
from phaseline.use_cases.lookup.find import find_execution
from phaseline.use_cases.queries.events.line_filter import ANY, LineFilter
from phaseline.use_cases.queries.events.log_tail import EventTail, LogTail, Tail

if TYPE_CHECKING:
    from phaseline.app.app_context import RequestContext
    from phaseline.model.rows.rows import ExecutionRow
    from phaseline.ports.tenant_store import TenantStore
    from phaseline.views.views import Line

SHARE = 10
"""Reading new lines may take at most one tenth (1 / ``SHARE``) of the time, to keep the load on the store low."""


def lines_of(ctx: RequestContext, id: str | None = None, *, deployment: str | None = None) -> Iterator[Line]:
    """Yield all log lines and events from the first on, then new ones as they arrive.

    Stop when the execution has ended, needs an operator, or was run by no process for ten seconds. Raises, at once:
    PL-C011 for an unknown execution.
    """
    return _lines(ctx, find_execution(ctx.store, id, deployment).id)


def _lines(ctx: RequestContext, id: str) -> Iterator[Line]:
    tail = Tail(ctx, id)
    for _ in news(ctx.store, id, ends_for_people=True):
        while lines := tail.new():
            yield from lines


def news(
    store: TenantStore, id: str, *, ends_for_people: bool = False, pause: Callable[[float], object] = time.sleep
) -> Generator[None, None, bool]:
    """Yield whenever an execution may have new lines; yield a last time after it has ended.

    Wait between two yields nine times as long as the caller worked after the first, to keep the load on the store low.
    Return False if the execution is open and for ten seconds no process has owned the store or waited to own it;
    otherwise return True. ``ends_for_people``: stop as well when the execution waits for an operator.
    """
    seen, is_new = 0, False
    seen_at, look_at = time.monotonic(), 0.0
    while True:
        if now := store.changed(seen):
            seen, is_new = now, True
        row = store.execution(id) if is_new else None  # read first: lines written before the end are then still found
        waits = ends_for_people and row is not None and row.status is ExecutionStatus.ATTENTION
        is_over = is_new and (row is None or row.status.is_ended or waits)
        begun = time.monotonic()
        if is_new and (is_over or begun >= look_at):
            yield
            is_new = False
            look_at = time.monotonic() + (time.monotonic() - begun) * (SHARE - 1)
        if is_over:
            return True
        if store.owner() is not None or store.somebody_waits():
            seen_at = time.monotonic()
        elif time.monotonic() - seen_at > PATIENCE_S:
            return False
        pause(LOOK_S)


def left_alone(store: TenantStore, row: ExecutionRow) -> str:
    """Return a sentence for users: no process works on the execution, and this command continues it."""
    row = store.execution(row.id) or row
    mend = f"continue it: phaseline executions resume {row.id}"
    if row.number <= store.incarnations.held():
        mend = f"it has waited since the store was restored; continue it: {errors.GO_ON}"
    elif row.status is ExecutionStatus.ATTENTION:
        mend = f"it waits for a person; see: phaseline executions show {row.id}"
    return f"no process works on {row.id} of '{row.deployment_name}', which has not ended; {mend}"


class LineStream:
    """Live lines of one execution. ``row``: the execution as stored when the stream was created."""

    def __init__(self, store: TenantStore, tail: LogTail | EventTail) -> None:
        """Create a stream of the lines that ``tail`` reads from the store."""
        self._store = store
        self._tail = tail
        self.row = tail.row

    def new(self, limit: int | None = None) -> Iterator[list[Line]]:
        """Yield the lines that are new since the last call, in pages; with ``limit`` only the last ``limit`` lines."""
        return self._tail.new(limit)

    def news(self, pause: Callable[[float], object] = time.sleep) -> Generator[None, None, bool]:
        """Yield whenever there may be new lines. Return False if the execution is open and no process works on it."""
        return news(self._store, self.row.id, pause=pause)

    def left_alone(self) -> str:
        """Return a sentence for users: no process works on the execution, and this command continues it."""
        return left_alone(self._store, self.row)


def stream_logs(
    ctx: RequestContext,
    id: str | None = None,
    *,
    deployment: str | None = None,
    instance: str | None = None,
    wanted: LineFilter = ANY,
) -> LineStream:
    """Return a stream of new log lines that pass the filter ``wanted``. Raises: PL-C011, PL-C012, PL-C013, PL-C018."""
    return LineStream(ctx.store, LogTail(ctx, id, deployment=deployment, instance=instance, wanted=wanted))


def stream_events(
    ctx: RequestContext, id: str | None = None, *, deployment: str | None = None, wanted: LineFilter = ANY
) -> LineStream:
    """Return a stream of new events that pass the filter ``wanted``. Raises: PL-C011, PL-C012, PL-C013, PL-C018."""
    return LineStream(ctx.store, EventTail(ctx, id, deployment=deployment, wanted=wanted))
