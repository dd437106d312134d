"""Requests and answers of the store in memory, and the threads that wait for it."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.rows.rows import Actor, ConcurrencyRule, RequestAnswer, RequestKind, RequestRow
from phaseline.store.codec.json_documents import to_text
from phaseline.store.memory.tables import MemoryTables
from phaseline.store.sql import errors as failures
from phaseline.store.sql.requests import REOPENING, TAKEN_AT_ONCE, is_compatible, raise_if_incompatible


def add_request(
    shelves: MemoryTables,
    kind: RequestKind,
    execution: int,
    body: Mapping[str, Value],
    actor: Actor,
    at: int,
    beside: ConcurrencyRule | None = None,
    answer: Mapping[str, Value] | None = None,
) -> int:
    """The number of the request. Raises LookupError if there is no such execution, PL-C016 as in ``asking``."""
    if execution and execution not in shelves.executions:
        raise LookupError(f"no execution {execution}")
    if kind in REOPENING and shelves.executions[execution].row.status.is_ended:
        row = shelves.executions[execution].row
        raise_if_open(shelves, row.deployment, row.request.workflow, beside)
    shelves.last_request += 1
    number = shelves.last_request
    shelves.requests[number] = RequestRow(number, at, actor, kind, execution, _copied(body))
    if answer is not None:
        write_answers(shelves, [RequestAnswer(number, answer)], at)
    return number


def raise_if_open(
    shelves: MemoryTables, deployment: int, workflow: str = "", beside: ConcurrencyRule | None = None
) -> None:
    """Raise PL-C016 if an execution of the deployment has not ended; as in ``asking``."""
    for known in shelves.executions.values():
        if known.row.deployment == deployment and not known.row.status.is_ended:
            raise_if_incompatible(known.row, workflow, beside)


def raise_if_reopening(
    shelves: MemoryTables, deployment: int, workflow: str = "", beside: ConcurrencyRule | None = None
) -> None:
    """Raise PL-C016 if an ended execution of the deployment was requested to continue."""
    for request in shelves.requests.values():
        if request.answered_at or request.kind not in REOPENING:
            continue
        row = shelves.executions[request.execution].row
        if row.deployment == deployment and row.status.is_ended and not is_compatible(row, workflow, beside):
            raise failures.reopening(row)


def unanswered(shelves: MemoryTables, after: int) -> Sequence[RequestRow]:
    """Requests without an answer, oldest first, at most ``TAKEN_AT_ONCE``."""
    rows = [row for row in shelves.requests.values() if row.number > after and not row.answered_at]
    return rows[:TAKEN_AT_ONCE]


def requests_of(shelves: MemoryTables, execution: int) -> Sequence[RequestRow]:
    """All requests about an execution, oldest first."""
    return [row for row in shelves.requests.values() if row.execution == execution]


def last_reload(shelves: MemoryTables) -> int:
    """The number of the latest request to reload plugins, answered or not; 0: there is none."""
    return max((row.number for row in shelves.requests.values() if row.kind is RequestKind.RELOAD), default=0)


def answer_of(shelves: MemoryTables, request: int) -> Mapping[str, Value] | None:
    """The answer, None while there is none. Raises LookupError for a number never given."""
    row = shelves.requests.get(request)
    if row is None:
        raise LookupError(f"no request {request}")
    return row.answer


def write_answers(shelves: MemoryTables, answers: Sequence[RequestAnswer], at: int) -> None:
    """Answer requests that have no answer yet."""
    for answer in answers:
        row = shelves.requests.get(answer.request)
        if row is not None and not row.answered_at:
            told = altered(row, answered_at=max(1, at), answer=_copied(answer.body))
            shelves.requests[answer.request] = told


class ThreadsWaiting:
    """Threads that wait for a store in memory, as processes wait for a file."""

    def __init__(self) -> None:
        """Start without waiters."""
        self._threads: Counter[int] = Counter()

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Wait."""
        thread = threading.get_ident()
        self._threads[thread] += 1
        try:
            yield
        finally:
            self._threads[thread] -= 1

    def somebody_else(self) -> bool:
        """Whether another thread waits."""
        own = threading.get_ident()
        return any(count and thread != own for thread, count in list(self._threads.items()))


def _copied(body: Mapping[str, Value]) -> dict[str, Value]:
    copied: dict[str, Value] = json.loads(to_text(dict(body)))
    return copied
