"""New executions, requests and answers in the store in memory, and the register of threads that wait to own this store."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from phaseline.lang.fast_dataclasses import altered
from phaseline.model.blueprint.blueprint import Value
from phaseline.model.execution.pre_post import PrePost
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.rows.rows import (
    Actor,
    ConcurrencyRule,
    ExecutionRow,
    NewExecution,
    RequestAnswer,
    RequestKind,
    RequestRow,
)
from phaseline.store.codec import requests
from phaseline.store.codec.json_documents import to_text
from phaseline.store.memory.estate.causes import refuse_cause
from phaseline.store.memory.tables import HeldExecution, MemoryTables
from phaseline.store.memory.tenant_rows import MemoryTenantRows
from phaseline.store.sql import errors as failures
from phaseline.store.sql.requests import REOPENING, TAKEN_AT_ONCE, is_compatible, raise_if_incompatible


def add_execution(
    held: MemoryTables, new: NewExecution, deployment: int, *, asks: bool, beside: ConcurrencyRule | None
) -> ExecutionRow:
    """Store an execution with status queued, and if ``asks`` a request to start it; return its row.

    Raises: PL-C010 if the deployment was deleted, PL-C016 if another execution is open that ``beside`` does not allow.
    """
    known = held.deployments[deployment]
    if known.deleted_at:
        raise failures.deleted(known.row.name)
    raise_if_unavailable(held, deployment, new.request.workflow, beside)
    refuse_cause(new.cause, (each.cause for each in held.executions.values()))
    held.last_execution += 1
    number = held.last_execution
    row = ExecutionRow(
        number=number,
        id=f"{new.request.workflow}-{number}",
        deployment=deployment,
        deployment_name=known.row.name,
        request=requests.from_json(requests.to_json(altered(new.request, is_surrounded=new.around is not None))),
        status=ExecutionStatus.QUEUED,
        reason="",
        attempt=0,
        created_at=new.created_at,
        started_at=0,
        ended_at=0,
        created_by=new.actor.name,
        tenant=known.row.tenant,
    )
    held.executions[number] = HeldExecution(row, new.around or PrePost(), cause=new.cause)
    if asks:
        add_request(held, RequestKind.START, number, {}, Actor(new.actor.name, row.tenant), new.created_at)
    return row


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
    """Store a request and return its number.

    Raises: LookupError if the execution does not exist, PL-C016 if another execution is open that ``beside`` does not
    allow.
    """
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


def raise_if_unavailable(
    shelves: MemoryTables, deployment: int, workflow: str = "", beside: ConcurrencyRule | None = None
) -> None:
    """Raise PL-C016 if an execution of the deployment is open, or was requested to continue, and may not stay."""
    raise_if_open(shelves, deployment, workflow, beside)
    raise_if_reopening(shelves, deployment, workflow, beside)


def raise_if_open(
    shelves: MemoryTables, deployment: int, workflow: str = "", beside: ConcurrencyRule | None = None
) -> None:
    """Raise PL-C016 if an execution of the deployment is open and must not run beside one of ``workflow``.

    ``beside`` returns True for an open execution that may stay open. If it is None, an open execution may stay open only
    if it and the new one both bring resources to a target.
    """
    for known in shelves.executions.values():
        if known.row.deployment == deployment and not known.row.status.is_ended:
            raise_if_incompatible(known.row, workflow, beside)


def raise_if_reopening(
    shelves: MemoryTables, deployment: int, workflow: str = "", beside: ConcurrencyRule | None = None
) -> None:
    """Raise PL-C016 if an ended execution was requested to continue and ``beside`` does not allow it."""
    for request in shelves.requests.values():
        if request.answered_at or request.kind not in REOPENING:
            continue
        row = shelves.executions[request.execution].row
        if row.deployment == deployment and row.status.is_ended and not is_compatible(row, workflow, beside):
            raise failures.reopening(row)


def unanswered(shelves: MemoryTables, after: int, own: MemoryTenantRows) -> Sequence[RequestRow]:
    """Return the requests after number ``after`` that have no answer, oldest first, at most ``TAKEN_AT_ONCE``."""
    rows = [
        row
        for row in shelves.requests.values()
        if row.number > after and not row.answered_at and own.has(row.actor.tenant)
    ]
    return rows[:TAKEN_AT_ONCE]


def requests_of(shelves: MemoryTables, execution: int) -> Sequence[RequestRow]:
    """Return all requests about an execution, oldest first."""
    return [row for row in shelves.requests.values() if row.execution == execution]


def last_reload(shelves: MemoryTables) -> int:
    """Return the number of the latest request to reload plugins, answered or not; 0 if there is none."""
    return max((row.number for row in shelves.requests.values() if row.kind is RequestKind.RELOAD), default=0)


def answer_of(shelves: MemoryTables, request: int, own: MemoryTenantRows) -> Mapping[str, Value] | None:
    """Return the answer to a request, or None while it has none. Raises LookupError for a number never given."""
    row = shelves.requests.get(request)
    if row is None or not own.has(row.actor.tenant):
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
    """Register of threads that wait to own a store in memory, as processes wait to own a file."""

    def __init__(self) -> None:
        """Start without waiting threads."""
        self._threads: Counter[int] = Counter()

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Return a context in which this thread is registered as waiting."""
        thread = threading.get_ident()
        self._threads[thread] += 1
        try:
            yield
        finally:
            self._threads[thread] -= 1

    def somebody_else(self) -> bool:
        """Return True if another thread is registered as waiting."""
        own = threading.get_ident()
        return any(count and thread != own for thread, count in list(self._threads.items()))


def _copied(body: Mapping[str, Value]) -> dict[str, Value]:
    copied: dict[str, Value] = json.loads(to_text(dict(body)))
    return copied
