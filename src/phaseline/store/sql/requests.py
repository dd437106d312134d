"""Requests of processes to the owner and the owner's answers, in the caller's transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phaseline.model.blueprint.blueprint import Value
from phaseline.model.graph.status import ExecutionStatus
from phaseline.model.resources.resources import REACH_WORKFLOW
from phaseline.model.rows.rows import Actor, ConcurrencyRule, ExecutionRow, RequestAnswer, RequestKind, RequestRow
from phaseline.store.codec.json_documents import to_text
from phaseline.store.database import schema
from phaseline.store.database.tenant_rows import ALL, TenantRows
from phaseline.store.sql import errors as failures
from phaseline.store.sql import queries as reads

if TYPE_CHECKING:
    from phaseline.store.database.connection import Connection

REOPENING = (RequestKind.RETRY, RequestKind.COMPLETE, RequestKind.RERUN)
"""Kinds of requests that continue an ended execution."""
TAKEN_AT_ONCE = 1_000
"""Largest number of requests that one query returns; the next query returns the rest."""

UNANSWERED = "answered_at = 0 and number > ? and number > (select held_request from store)"
"""SQL condition for an unanswered request after a number."""
UNANSWERED_ORDER = " order by number limit ?"
"""End of a query for unanswered requests."""
_REOPENING = f"""select distinct execution.id from execution cross join request on request.execution = execution.number
    where execution.deployment = ? and not execution.{schema.IS_OPEN} and request.answered_at = 0
    and request.kind in ({", ".join(f"'{kind.value}'" for kind in REOPENING)})"""
REQUEST = "select number, at, actor, tenant, kind, execution, body, answered_at, answer from request"
REQUEST_KINDS = "iitttitit"
"""Kinds of the columns of ``REQUEST``, for ``read_model.one_statement``."""


def add_request(
    db: Connection,
    kind: RequestKind,
    execution: int,
    body: Mapping[str, Value],
    actor: Actor,
    at: int,
    beside: ConcurrencyRule | None = None,
) -> int:
    """Store a request and return its number. It belongs to the user's tenant.

    Until it is answered, a request to continue an ended execution makes that execution count as open.
    Raises: LookupError if the execution does not exist, PL-C016 if it has ended and cannot continue because another
    execution of its deployment is open that ``beside`` does not allow.
    """
    looked = "select deployment, status, request, number <= (select held from store) from execution where number = ?"
    found = db.execute(looked, (execution,)).fetchone()
    if execution and found is None:
        raise LookupError(f"no execution {execution}")
    if found is not None and found[3]:
        raise_if_held(db, next(row for row in reads.executions(db, deployment=found[0]) if row.number == execution))
    if kind in REOPENING and ExecutionStatus(found[1]).is_ended:
        workflow = json.loads(found[2])["workflow"]
        for row in reads.executions(db, deployment=found[0], only_open=True):
            raise_if_incompatible(row, workflow, beside)
    values = (at, actor.name, actor.tenant, kind.value, execution, to_text(dict(body)))
    added = "insert into request (at, actor, tenant, kind, execution, body) values (?, ?, ?, ?, ?, ?) returning number"
    return int(db.execute(added, values).fetchone()[0])


def next_schedule_at(db: Connection) -> int | None:
    """Return when the next enabled schedule is due, in ms; 0 if that was not computed yet, None if none is."""
    found = db.execute("select min(next_at) from schedule where is_enabled = 1 and next_at >= 0").fetchone()[0]
    return None if found is None else int(found)


def raise_if_held(db: Connection, row: ExecutionRow) -> None:
    """Raise PL-S013 if this execution is open and waits since a restore of the store."""
    if not row.status.is_ended and row.number <= db.execute("select held from store").fetchone()[0]:
        raise failures.held(row)


def raise_if_incompatible(row: ExecutionRow, workflow: str, beside: ConcurrencyRule | None) -> None:
    """Raise PL-C016 unless the rule ``beside`` lets the open execution ``row`` run beside an execution of ``workflow``.

    If ``beside`` is None, both must bring resources to a target.
    """
    if not is_compatible(row, workflow, beside):
        raise failures.busy(row)


def is_compatible(row: ExecutionRow, workflow: str, beside: ConcurrencyRule | None) -> bool:
    """Return ``beside(row)``: True if the open execution may run beside an execution of ``workflow``.

    If ``beside`` is None, return True if both bring resources to a target.
    """
    return row.request.workflow == workflow == REACH_WORKFLOW if beside is None else beside(row)


def raise_if_reopening(
    db: Connection, deployment: int, workflow: str = "", beside: ConcurrencyRule | None = None
) -> None:
    """Raise PL-C016 if an ended execution was requested to continue and ``beside`` does not allow it."""
    for (id,) in db.execute(_REOPENING, (deployment,)):
        row = reads.executions(db, id=id)[0]
        if not is_compatible(row, workflow, beside):
            raise failures.reopening(row)


def unanswered(db: Connection, after: int, own: TenantRows = ALL) -> list[RequestRow]:
    """Return the requests after number ``after`` that have no answer, oldest first, at most ``TAKEN_AT_ONCE``."""
    where, values = own.where(UNANSWERED, after)
    return _rows(db, f"where {where}{UNANSWERED_ORDER}", (*values, TAKEN_AT_ONCE))


def requests_of(db: Connection, execution: int) -> list[RequestRow]:
    """Return all requests about an execution, oldest first."""
    return _rows(db, "where execution = ? order by number", (execution,))


def last_reload(db: Connection) -> int:
    """Return the number of the latest request to reload plugins, answered or not; 0 if there is none."""
    (number,) = db.execute("select max(number) from request where execution = 0 and kind = 'reload'").fetchone()
    return number or 0


def answer_of(db: Connection, request: int, own: TenantRows = ALL) -> dict[str, Value] | None:
    """Return the answer to a request, or None while it has none. Raises LookupError for a number never given."""
    where, values = own.where("number = ?", request)
    found = db.execute(f"select answer from request where {where}", values).fetchone()
    if found is None:
        raise LookupError(f"no request {request}")
    return _answer(found[0])


def write_answers(db: Connection, answers: Sequence[RequestAnswer], at: int) -> None:
    """Answer requests that have no answer yet."""
    db.executemany(
        "update request set answered_at = ?, answer = ? where number = ? and answered_at = 0",
        [(max(1, at), to_text(dict(answer.body)), answer.request) for answer in answers],
    )


def _rows(db: Connection, where: str, values: tuple[object, ...]) -> list[RequestRow]:
    return [request_of(row) for row in db.execute(f"{REQUEST} {where}", values)]


def request_of(row: Sequence[Any]) -> RequestRow:
    """Return the request in a row that ``REQUEST`` selects."""
    return RequestRow(
        number=row[0],
        at=row[1],
        actor=Actor(row[2], row[3]),
        kind=RequestKind(row[4]),
        execution=row[5],
        body=json.loads(row[6]),
        answered_at=row[7],
        answer=_answer(row[8]),
    )


def _answer(text: str) -> dict[str, Value] | None:
    if not text:
        return None
    told: dict[str, Value] = json.loads(text)
    return told
